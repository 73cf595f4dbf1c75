-- $1 log
SELECT forgotten FROM archived WHERE log = $1 AND forgotten IS NOT NULL

-- $1 log
SELECT size, tree FROM archived WHERE log = $1

-- $1 log, $2 keys
SELECT key, digest, first, answer
FROM requests WHERE log = $1 AND key = ANY ($2)

-- $1 log, $2 a key that is greater than all, or NULL, $3 limit
SELECT key, digest, first, answer
FROM requests WHERE log = $1 AND ($2::uuid IS NULL OR key < $2)
ORDER BY key DESC LIMIT $3

-- $1 log, $2 an id that is greater than all, or NULL, $3 limit
SELECT request_id, digest, first, answer
FROM requests WHERE log = $1 AND ($2::uuid IS NULL OR request_id < $2)
ORDER BY request_id DESC LIMIT $3

-- $1 log, $2 ids
SELECT request_id, digest, first, answer
FROM requests WHERE log = $1 AND request_id = ANY ($2)

-- $1 log
SELECT number, size, note FROM checkpoints WHERE log = $1 ORDER BY number DESC LIMIT 1

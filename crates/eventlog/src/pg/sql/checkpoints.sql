-- $1 log, $2 first number, $3 limit
SELECT number, size, note, recorded_at FROM checkpoints
WHERE log = $1 AND number >= $2 ORDER BY number LIMIT $3

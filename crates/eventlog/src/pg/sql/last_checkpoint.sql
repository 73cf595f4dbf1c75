-- $1 log
SELECT number, size, note, recorded_at FROM checkpoints WHERE log = $1 ORDER BY number DESC LIMIT 1

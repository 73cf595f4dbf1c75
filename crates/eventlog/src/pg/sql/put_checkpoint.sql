-- $1 log, $2 number, $3 size, $4 note, $5 when its last record was recorded; nothing is written where the
-- number is not the next. A number is never given again, although old checkpoints are removed.
INSERT INTO checkpoints (log, number, size, note, recorded_at)
SELECT $1, $2, $3, $4, $5
WHERE ($2 = 1 OR EXISTS (SELECT FROM checkpoints WHERE log = $1 AND number = $2 - 1))
    AND NOT EXISTS (SELECT FROM checkpoints WHERE log = $1 AND number >= $2)
ON CONFLICT (log, number) DO NOTHING

-- $1 log, $2 number, $3 size, $4 note; nothing is written where the number is not the next
INSERT INTO checkpoints (log, number, size, note)
SELECT $1, $2, $3, $4
WHERE $2 = 1 OR EXISTS (SELECT FROM checkpoints WHERE log = $1 AND number = $2 - 1)
ON CONFLICT (log, number) DO NOTHING

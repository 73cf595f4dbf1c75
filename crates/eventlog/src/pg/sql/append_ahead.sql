-- As append.sql, for a batch that is sent while the previous one is being written. Its rows are inserted
-- first. Then it waits for the end of the previous batch, and the fence moves only if the log is where
-- that batch should have left it. The statement sees the fence as it was when it began: if the log is
-- past this batch already, no row is inserted. The fence moves by INSERT ... ON CONFLICT, which sees the
-- row as it is now; for an UPDATE the server would set up the whole statement once more, which costs as
-- much as many rows. If the fence is another one or missing, or a clock is off, a division by zero rolls
-- everything back.
WITH /* clock */, ticket AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock($21) FROM clock
    WHERE fits AND $7 <= now + ($5::bigint[])[2]
), fence AS MATERIALIZED (
    SELECT log, $3 + $8 AS size
    FROM ticket, owners
    WHERE log = $1 AND epoch = $2 AND owners.size <= $3
)
/* rows */
/* projection */
, turn AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared($22)
    FROM (SELECT count(*) FROM written) AS rows, beside
), passed AS (
    INSERT INTO owners (log, epoch, size, owner, address, leased_at, lease_ends)
    SELECT $1, $2, 0, '', '', clock_timestamp(), clock_timestamp() FROM turn, ticket
    ON CONFLICT (log) DO UPDATE
    /* move fence */
    WHERE owners.epoch = $2 AND owners.size = $3
    RETURNING log, size
)
/* turn */
SELECT received, now, 1 / (
    SELECT count(*) FROM passed WHERE size = $3 + $8
) AS done FROM clock

-- append ahead
-- As append.sql, for a batch that is sent while the previous one is being written. Its rows are inserted
-- first. Then it waits for the end of the previous batch, locks the owner's row, and looks whether the log
-- below it ends where it begins. The statement sees the log as it was when it began: if that is past this
-- batch already, no row is inserted. If the epoch is another one or missing, the log ends elsewhere, or a
-- clock is off, a division by zero rolls everything back.
WITH /* clock */, ticket AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock($19) FROM clock
    WHERE fits AND $5 <= now + ($4::bigint[])[2]
), fence AS MATERIALIZED (
    SELECT owners.log, $3 + $6 AS size
    FROM ticket, owners
    WHERE owners.log = $1 AND owners.epoch = $2 AND NOT EXISTS (
        SELECT FROM event_groups
        WHERE log = (SELECT number FROM logs WHERE name = $1) AND position >= $3
    )
)
/* rows */
/* projection */
, turn AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared($20)
    FROM (SELECT count(*) AS inserted FROM written) AS rows, beside
    WHERE rows.inserted > 0
), locked AS MATERIALIZED (
    SELECT owners.log FROM turn, ticket, owners
    WHERE owners.log = $1 AND owners.epoch = $2
    FOR NO KEY UPDATE OF owners
)
SELECT received, now, 1 / (
    SELECT count(*) FROM locked WHERE log_end(log, $3) = $3
) AS done FROM clock

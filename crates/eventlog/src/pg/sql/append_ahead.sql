-- The same for a batch that is sent while the one before is being written. Its rows go in first; then the
-- end of the one before is waited for, and only where that left the log as it should the fence moves. The
-- statement sees the fence as it was when it began: where that is past this already, no row goes in. To
-- move it by UPDATE from there, the server would set the whole statement up once more to look at what it
-- has become, which costs as much as many rows; what an insert finds in its way is looked at as it is.
-- Where that is another, or none is there, or a clock is off, a division by zero undoes everything.
WITH /* clock */, ticket AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock($22) FROM clock
    WHERE fits AND $7 <= now + ($5::bigint[])[2]
), fence AS MATERIALIZED (
    SELECT log, $3 + cardinality($8::uuid[]) AS size
    FROM ticket, owners
    WHERE log = $1 AND epoch = $2 AND owners.size <= $3
)
/* rows */
/* projection */
, turn AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared($23)
    FROM (SELECT count(*) FROM written) AS events, (SELECT count(*) FROM answered) AS requests,
        beside
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
    SELECT count(*) FROM passed WHERE size = $3 + cardinality($8::uuid[])
) AS done FROM clock

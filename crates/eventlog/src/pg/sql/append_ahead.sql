-- The same for a batch that is sent while the one before is being written. Its rows go in first; then the
-- end of the one before is waited for, and only where that left the log as it should the fence moves. The
-- statement sees the fence as it was when it began, so what size it has become is looked at afterwards:
-- where it is another, a division by zero undoes everything.
WITH ticket AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock($22)
), fence AS MATERIALIZED (
    SELECT $1 AS log, $3 + cardinality($8::uuid[]) AS size FROM ticket
)
/* rows */
/* projection */
, turn AS MATERIALIZED (
    SELECT pg_advisory_xact_lock_shared($23)
    FROM (SELECT count(*) FROM written) AS events, (SELECT count(*) FROM answered) AS requests,
        beside
), passed AS (
    /* move fence */
    FROM turn
    WHERE log = $1 AND epoch = $2 AND size <= $3
    RETURNING log, size
)
/* turn */
SELECT 1 / count(*) FROM passed WHERE size = $3 + cardinality($8::uuid[])

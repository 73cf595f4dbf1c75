-- $1 log, $2 epoch, $3 first position, $4 lease in microseconds, $5 the owner's clock and how
-- far it may be off, in microseconds, $6 tree,
-- $7 recorded at, $8 number of events, then arrays of one length: $9 to $20 of rows; $21 the batch's
-- ticket, $22 that of the batch before; a service's own from $23 on. A ticket is not waited for: whoever may
-- connect may take such a lock, and must not stop the log by it. Where a clock is off nothing is written.
WITH /* clock */, ticket AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock($21) FROM clock
    WHERE fits AND $7 <= now + ($5::bigint[])[2]
), fence AS (
    UPDATE owners
    /* move fence */
    FROM ticket
    WHERE log = $1 AND epoch = $2 AND size = $3
    RETURNING log, size
), passed AS (
    SELECT log, size FROM fence
)
/* rows */
/* projection */
SELECT received, now, (SELECT count(*) FROM fence) AS done FROM clock

-- $1 log, $2 epoch, $3 first position, $4 lease in microseconds, $5 alive at, $6 tree,
-- $7 recorded at, then arrays of one length: $8 to $17 of events; and of one length: $18 to $21 of
-- requests; $22 the batch's ticket, $23 that of the batch before; a service's own from $24 on. A ticket
-- is not waited for: whoever may connect may take such a lock, and must not stop the log by it.
WITH ticket AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock($22)
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
SELECT count(*) FROM fence

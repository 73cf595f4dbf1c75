-- append
-- $1 log, $2 epoch, $3 first position, $4 the owner's clock and how far it may be off, in microseconds,
-- $5 recorded at, $6 number of events, then arrays of one length: $7 to $18 of rows; $19 the batch's ticket,
-- $20 that of the batch before; a service's own from $21 on. A ticket is not waited for: whoever may connect
-- may take such a lock, and must not stop the log by it. Where a clock is off nothing is written.
-- The owner's row is locked until the commit and stays as it is. Only then is it asked where the log ends:
-- the statement's own snapshot is older than the lock, and does not show what it has waited for.
WITH /* clock */, ticket AS MATERIALIZED (
    SELECT pg_try_advisory_xact_lock($19) FROM clock
    WHERE fits AND $5 <= now + ($4::bigint[])[2]
), locked AS MATERIALIZED (
    SELECT owners.log FROM ticket, owners
    WHERE owners.log = $1 AND owners.epoch = $2
    FOR NO KEY UPDATE OF owners
), fence AS MATERIALIZED (
    SELECT log, $3 + $6 AS size FROM locked
    WHERE log_end(log, 9223372036854775807) = $3
)
/* rows */
/* projection */
SELECT received, now, (SELECT count(*) FROM fence) AS done FROM clock

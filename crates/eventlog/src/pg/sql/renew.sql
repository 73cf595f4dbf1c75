-- renew
-- $1 log, $2 epoch, $3 lease in microseconds, $4 the owner's clock and how far it may be off, $5 whether
-- it serves, $6 events that are known to be committed, $7 peaks of the tree over them, or NULL.
-- The lease's row decides between this and a claim that is being made. The owner's row is not locked, so no
-- append waits.
WITH /* clock */, renewed AS (
    UPDATE leases
    SET leased_at = clock_timestamp(),
        lease_ends = clock_timestamp() + $3 * interval '1 microsecond',
        alive_at = CASE WHEN $5 THEN greatest(leases.alive_at, ($4::bigint[])[1]) ELSE leases.alive_at END,
        size = CASE WHEN $7::bytea IS NULL THEN leases.size ELSE $6 END,
        tree = coalesce($7, leases.tree)
    FROM clock, owners
    WHERE leases.log = $1 AND leases.epoch = $2 AND owners.log = $1 AND owners.epoch = $2 AND fits
        AND log_end(leases.log, 9223372036854775807) >= $6
    RETURNING 1
)
SELECT received, now, (SELECT count(*) FROM renewed) AS done FROM clock

-- renew
-- $1 log, $2 epoch, $3 lease in microseconds, $4 the owner's clock and how far it may be off, $5 whether
-- it serves, $6 events that are known to be committed
WITH /* clock */, renewed AS (
    UPDATE owners
    SET leased_at = clock_timestamp(),
        lease_ends = clock_timestamp() + $3 * interval '1 microsecond',
        alive_at = CASE WHEN $5 THEN greatest(alive_at, ($4::bigint[])[1]) ELSE alive_at END
    FROM clock
    WHERE log = $1 AND epoch = $2 AND size >= $6 AND fits
    RETURNING 1
)
SELECT received, now, (SELECT count(*) FROM renewed) AS done FROM clock

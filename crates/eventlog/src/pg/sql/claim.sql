-- claim
-- $1 log, $2 owner, $3 address, $4 lease in microseconds, $5 take over, $6 the claimant's clock and how far
-- it may be off. The epoch is random: a database that failed over to a copy that lags would count some
-- numbers twice, and an owner from before would take another's epoch for its own. A lease that begins in
-- the future was given by a clock that has been set back since: it holds nobody off.
-- The lease comes first, so that who only waits for its end locks nothing that an append needs. Then the
-- owner's row changes, which waits for an append that is being written. Only then is it asked where the log
-- ends.
WITH /* clock */, named AS (
    INSERT INTO logs (name) SELECT $1 FROM clock
    WHERE fits AND NOT EXISTS (SELECT FROM logs WHERE name = $1)
    ON CONFLICT DO NOTHING
), leased AS (
    INSERT INTO leases AS held (log, epoch, leased_at, lease_ends)
    SELECT $1, greatest(1, ('x' || left(id, 8) || right(id, 8))::bit(64)::bigint & 9223372036854775807),
        clock_timestamp(), clock_timestamp() + $4 * interval '1 microsecond'
    FROM clock, CAST(gen_random_uuid() AS text) AS id
    WHERE fits
    ON CONFLICT (log) DO UPDATE
    SET epoch = excluded.epoch, leased_at = clock_timestamp(),
        lease_ends = clock_timestamp() + $4 * interval '1 microsecond'
    WHERE held.lease_ends <= clock_timestamp() OR $5
        OR held.leased_at > clock_timestamp() + ($6::bigint[])[2] * interval '1 microsecond'
    RETURNING log, epoch, alive_at, size, tree
), claimed AS (
    INSERT INTO owners AS held (log, epoch, owner, address)
    SELECT log, epoch, $2, $3 FROM leased
    ON CONFLICT (log) DO UPDATE
    SET epoch = excluded.epoch, owner = $2, address = $3, claimed_at = clock_timestamp()
    RETURNING log, epoch, owner, address
)
SELECT received, now, claimed.epoch, claimed.owner, claimed.address, leased.alive_at,
    leased.size AS saved_size, leased.tree, log_end(claimed.log, 9223372036854775807) AS size
FROM clock LEFT JOIN (claimed JOIN leased USING (log)) ON true

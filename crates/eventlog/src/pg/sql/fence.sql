-- $1 log
SELECT owners.epoch, coalesce(log_sizes.size, 0) AS size, owners.owner, owners.address, leases.alive_at,
    coalesce(leases.size, 0) AS saved_size, leases.tree,
    coalesce(greatest(0, extract(epoch FROM leases.lease_ends - clock_timestamp()) * 1000000), 0)::bigint
        AS remaining
FROM owners LEFT JOIN leases USING (log) LEFT JOIN log_sizes USING (log)
WHERE owners.log = $1

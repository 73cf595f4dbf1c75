-- $1 log
SELECT epoch, size, owner, address, alive_at, tree,
    greatest(0, extract(epoch FROM lease_ends - clock_timestamp()) * 1000000)::bigint AS remaining
FROM owners WHERE log = $1

    SET size = owners.size + $8, tree = $6,
        leased_at = clock_timestamp(),
        lease_ends = clock_timestamp() + $4 * interval '1 microsecond',
        alive_at = greatest(owners.alive_at, ($5::bigint[])[1])

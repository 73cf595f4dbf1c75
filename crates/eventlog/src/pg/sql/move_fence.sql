    SET size = owners.size + cardinality($8::uuid[]), tree = $6,
        lease_ends = clock_timestamp() + $4 * interval '1 microsecond',
        alive_at = greatest(owners.alive_at, $5)

-- $1 log, $2 epoch, $3 lease in microseconds, $4 alive at
UPDATE owners
SET lease_ends = clock_timestamp() + $3 * interval '1 microsecond',
    alive_at = greatest(alive_at, $4)
WHERE log = $1 AND epoch = $2

-- $1 log, $2 owner, $3 address, $4 lease in microseconds, $5 take over
INSERT INTO owners AS held (log, epoch, size, owner, address, lease_ends)
VALUES ($1, 1, 0, $2, $3, clock_timestamp() + $4 * interval '1 microsecond')
ON CONFLICT (log) DO UPDATE
SET epoch = held.epoch + 1, owner = $2, address = $3,
    lease_ends = clock_timestamp() + $4 * interval '1 microsecond'
WHERE held.lease_ends <= clock_timestamp() OR $5
RETURNING epoch, size, owner, address, alive_at, tree

-- $1 log, $2 epoch, $3 first position, $4 lease in microseconds, $5 alive at, $6 tree,
-- $7 recorded at, then arrays of one length: $8 to $17 of events; and of one length: $18 to $21 of
-- requests; a service's own from $22 on
WITH fence AS (
    UPDATE owners
    SET size = size + cardinality($8::uuid[]), tree = $6,
        lease_ends = clock_timestamp() + $4 * interval '1 microsecond',
        alive_at = greatest(alive_at, $5)
    WHERE log = $1 AND epoch = $2 AND size = $3
    RETURNING log, size
), written AS (
    INSERT INTO events (log, position, recorded_at, stream, version, kind, schema, sealed, payload,
        previous, request_id, actor, trace)
    SELECT log, generate_series($3, size - 1), $7, UNNEST($8::uuid[]), UNNEST($9::bigint[]),
        UNNEST($10::integer[]), UNNEST($11::integer[]), UNNEST($12::boolean[]),
        UNNEST($13::bytea[]), UNNEST($14::bytea[]), UNNEST($15::uuid[]), UNNEST($16::text[]),
        UNNEST($17::bytea[])
    FROM fence
), answered AS (
    INSERT INTO requests (log, request_id, digest, first, answer)
    SELECT log, UNNEST($18::uuid[]), UNNEST($19::bytea[]), UNNEST($20::bigint[]),
        UNNEST($21::bytea[])
    FROM fence
)/* projection */
SELECT count(*) FROM fence

-- $1 log, $2 epoch, $3 first position, $4 lease in microseconds, $5 alive at, $6 tree,
-- then arrays: $7 to $17 of events, $18 to $21 of requests; a service's own from $22 on
WITH fence AS (
    UPDATE owners
    SET size = size + cardinality($7::uuid[]), tree = $6,
        lease_ends = clock_timestamp() + $4 * interval '1 microsecond',
        alive_at = greatest(alive_at, $5)
    WHERE log = $1 AND epoch = $2 AND size = $3
    RETURNING log, size
), written AS (
    INSERT INTO events (log, position, recorded_at, stream, version, kind, schema, sealed, payload,
        previous, request_id, actor, trace)
    SELECT fence.log, $3 + new.place - 1, new.recorded_at, new.stream, new.version, new.kind,
        new.schema, new.sealed, new.payload, new.previous, new.request_id, new.actor, new.trace
    FROM fence, UNNEST($7::uuid[], $8::bigint[], $9::bigint[], $10::integer[], $11::integer[],
            $12::boolean[], $13::bytea[], $14::bytea[], $15::uuid[], $16::text[], $17::bytea[])
        WITH ORDINALITY AS new (stream, version, recorded_at, kind, schema, sealed, payload,
            previous, request_id, actor, trace, place)
), answered AS (
    INSERT INTO requests (log, request_id, digest, first, answer)
    SELECT fence.log, new.request_id, new.digest, new.first, new.answer
    FROM fence, UNNEST($18::uuid[], $19::bytea[], $20::bigint[], $21::bytea[])
        AS new (request_id, digest, first, answer)
)/* projection */
SELECT count(*) FROM fence

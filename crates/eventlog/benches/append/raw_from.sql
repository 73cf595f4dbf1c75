-- As raw.sql, with the arrays in FROM.
WITH written AS (
    INSERT INTO events (log, position, recorded_at, stream, version, kind, schema, sealed, payload,
        previous, request_id, actor, trace, salt)
    SELECT 'dealer/0', $1 + place - 1, $2, stream, version + 1, kind, schema, sealed, payload,
        previous, request_id, actor, trace, trace
    FROM UNNEST($3::uuid[], $4::bigint[], $5::integer[], $6::integer[], $7::boolean[],
            $8::bytea[], $9::bytea[], $10::uuid[], $11::text[], $12::bytea[])
        WITH ORDINALITY AS new (stream, version, kind, schema, sealed, payload, previous,
            request_id, actor, trace, place)
)
INSERT INTO requests (log, key, digest, first, answer)
SELECT 'dealer/0', request_id, digest, first, answer
FROM UNNEST($10::uuid[], $13::bytea[], $4::bigint[], $14::bytea[])
    AS new (request_id, digest, first, answer)

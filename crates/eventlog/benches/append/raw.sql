-- $1 first position, $2 recorded at, then arrays
WITH written AS (
    INSERT INTO events (log, position, recorded_at, stream, version, kind, schema, sealed, payload,
        previous, request_id, actor, trace, salt)
    SELECT 'dealer/0', UNNEST($4::bigint[]), $2, UNNEST($3::uuid[]), UNNEST($4::bigint[]) + 1,
        UNNEST($5::integer[]), UNNEST($6::integer[]), UNNEST($7::boolean[]), UNNEST($8::bytea[]),
        UNNEST($9::bytea[]), UNNEST($10::uuid[]), UNNEST($11::text[]), UNNEST($12::bytea[]),
        UNNEST($12::bytea[])
    WHERE $1::bigint IS NOT NULL
)
INSERT INTO requests (log, key, digest, first, answer)
SELECT 'dealer/0', UNNEST($10::uuid[]), UNNEST($13::bytea[]), UNNEST($4::bigint[]),
    UNNEST($14::bytea[])

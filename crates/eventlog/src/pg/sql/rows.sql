, written AS (
    INSERT INTO events (log, position, recorded_at, stream, version, kind, schema, sealed, payload,
        previous, request_id, actor, trace, salt)
    SELECT log, generate_series($3, size - 1), $7, UNNEST($8::uuid[]), UNNEST($9::bigint[]),
        UNNEST($10::integer[]), UNNEST($11::integer[]), UNNEST($12::boolean[]),
        UNNEST($13::bytea[]), UNNEST($14::bytea[]), UNNEST($15::uuid[]), UNNEST($16::text[]),
        UNNEST($17::bytea[]), UNNEST($24::bytea[])
    FROM fence
    RETURNING 1
), answered AS (
    INSERT INTO requests (log, key, digest, first, answer)
    SELECT log, UNNEST($18::uuid[]), UNNEST($19::bytea[]), UNNEST($20::bigint[]),
        UNNEST($21::bytea[])
    FROM fence
    RETURNING 1
)

, written AS (
    INSERT INTO event_groups (log, recorded_at, position, count, stream, version, author, request_id,
        trace, previous, content, key, digest, answer)
    SELECT (SELECT number FROM logs WHERE name = $1), $7, UNNEST($9::bigint[]), UNNEST($10::smallint[]),
        UNNEST($11::uuid[]), UNNEST($12::bigint[]), UNNEST($13::integer[]), UNNEST($14::uuid[]),
        UNNEST($15::uuid[]), UNNEST($16::bytea[]), UNNEST($17::bytea[]), UNNEST($18::uuid[]),
        UNNEST($19::bytea[]), UNNEST($20::bytea[])
    FROM fence
    WHERE 0 = (
        SELECT count(refuse_repeat(key)) FROM archived_groups
        WHERE log = (SELECT number FROM logs WHERE name = $1) AND key = ANY ($18::uuid[])
    )
    RETURNING 1
)

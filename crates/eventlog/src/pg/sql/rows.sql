, written AS (
    INSERT INTO event_groups (log, recorded_at, position, count, stream, version, author, request_id,
        trace, previous, content, key, tag, answer)
    SELECT (SELECT number FROM logs WHERE name = $1), $5, UNNEST($7::bigint[]), UNNEST($8::smallint[]),
        UNNEST($9::uuid[]), UNNEST($10::bigint[]), UNNEST($11::integer[]), UNNEST($12::uuid[]),
        UNNEST($13::uuid[]), UNNEST($14::bytea[]), UNNEST($15::bytea[]), UNNEST($16::uuid[]),
        UNNEST($17::uuid[]), UNNEST($18::bytea[])
    FROM fence
    WHERE 0 = (
        SELECT count(refuse_repeat(key)) FROM archived_groups
        WHERE log = (SELECT number FROM logs WHERE name = $1) AND key = ANY ($16::uuid[])
    )
    RETURNING 1
)

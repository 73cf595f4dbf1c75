-- $1 log, $2 first position, then arrays; what is still there is skipped
INSERT INTO events (log, position, recorded_at, stream, version, kind, schema, sealed, payload,
    previous, request_id, actor, trace, salt)
SELECT $1, generate_series($2::bigint, $2::bigint + cardinality($3::bigint[]) - 1),
    UNNEST($3::bigint[]), UNNEST($4::uuid[]), UNNEST($5::bigint[]), UNNEST($6::integer[]),
    UNNEST($7::integer[]), UNNEST($8::boolean[]), UNNEST($9::bytea[]), UNNEST($10::bytea[]),
    UNNEST($11::uuid[]), UNNEST($12::text[]), UNNEST($13::bytea[]), UNNEST($14::bytea[])
ON CONFLICT (log, position) DO NOTHING

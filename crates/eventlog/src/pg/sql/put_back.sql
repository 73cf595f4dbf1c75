-- $1 log, then arrays. Requests are answered from archived_groups, or too old.
INSERT INTO event_groups (log, recorded_at, position, count, stream, version, author, request_id,
    trace, previous, content)
SELECT (SELECT number FROM logs WHERE name = $1), UNNEST($2::bigint[]), UNNEST($3::bigint[]),
    UNNEST($4::smallint[]), UNNEST($5::uuid[]), UNNEST($6::bigint[]), UNNEST($7::integer[]),
    UNNEST($8::uuid[]), UNNEST($9::uuid[]), UNNEST($10::bytea[]), UNNEST($11::bytea[])

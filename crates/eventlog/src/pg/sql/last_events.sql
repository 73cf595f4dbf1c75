-- $1 log, $2 streams
SELECT last.*
FROM UNNEST($2::uuid[]) AS wanted (stream) CROSS JOIN LATERAL (
    SELECT position, recorded_at, stream, version, kind, schema, sealed, payload, previous,
        request_id, actor, trace, salt
    FROM events WHERE log = $1 AND stream = wanted.stream ORDER BY version DESC LIMIT 1
) AS last

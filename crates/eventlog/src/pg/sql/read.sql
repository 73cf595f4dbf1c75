-- $1 log, $2 first position, $3 limit, $4 bytes of payloads that end a read
SELECT position, recorded_at, stream, version, kind, schema, sealed, payload, previous,
    request_id, actor, trace, salt
FROM (
    SELECT *, sum(octet_length(payload)) OVER (ORDER BY position ROWS UNBOUNDED PRECEDING)
        - octet_length(payload) AS bytes_before
    FROM (
        SELECT position, recorded_at, stream, version, kind, schema, sealed, payload, previous,
            request_id, actor, trace, salt
        FROM events WHERE log = $1 AND position >= $2 ORDER BY position LIMIT $3
    ) AS counted
) AS page
WHERE bytes_before < $4 ORDER BY position

-- $1 log, $2 stream, $3 first version, $4 limit, $5 bytes of payloads that end a read
SELECT position, recorded_at, stream, version, kind, schema, sealed, payload, previous,
    request_id, actor, trace, salt
FROM (
    SELECT *, sum(octet_length(payload)) OVER (ORDER BY version ROWS UNBOUNDED PRECEDING)
        - octet_length(payload) AS bytes_before
    FROM (
        SELECT position, recorded_at, stream, version, kind, schema, sealed, payload, previous,
            request_id, actor, trace, salt
        FROM events WHERE log = $1 AND stream = $2 AND version >= $3 ORDER BY version LIMIT $4
    ) AS counted
) AS page
WHERE bytes_before < $5 ORDER BY version

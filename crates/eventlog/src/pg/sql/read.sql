-- $1 log, $2 first position, $3 limit
SELECT position, recorded_at, stream, version, kind, schema, sealed, payload, previous,
    request_id, actor, trace, salt
FROM events WHERE log = $1 AND position >= $2 ORDER BY position LIMIT $3

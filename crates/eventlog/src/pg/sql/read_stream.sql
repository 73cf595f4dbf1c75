-- $1 log, $2 stream, $3 first version, $4 limit
SELECT position, recorded_at, stream, version, kind, schema, sealed, payload, previous,
    request_id, actor, trace, salt
FROM events WHERE log = $1 AND stream = $2 AND version >= $3 ORDER BY version LIMIT $4

-- $1 log, $2 streams, $3 leaf records. Bytes 37 to 44 of a record are the version.
INSERT INTO stream_ends (log, stream, record)
SELECT (SELECT number FROM logs WHERE name = $1), UNNEST($2::uuid[]), UNNEST($3::bytea[])
ON CONFLICT (stream, log) DO UPDATE SET record = excluded.record
WHERE substr(stream_ends.record, 37, 8) < substr(excluded.record, 37, 8)

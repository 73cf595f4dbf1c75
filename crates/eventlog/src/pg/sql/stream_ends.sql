-- $1 log, $2 streams. Of each its last stored event, and the leaf record of its last archived one with the leaf
-- hash that the log's tile has at that position.
SELECT wanted.stream AS wanted, last.position, last.recorded_at, last.stream, last.version, last.count, last.request_id,
    last.trace, last.previous, last.content, authors.actor, archived.record,
    substr(tiles.hashes, (archived.position % 256)::integer * 32 + 1, 32) AS leaf,
    EXISTS (SELECT FROM checkpoints WHERE log = $1) AS is_signed
FROM UNNEST($2::uuid[]) AS wanted (stream)
LEFT JOIN LATERAL (
    SELECT * FROM event_groups
    WHERE stream = wanted.stream AND log = (SELECT number FROM logs WHERE name = $1)
    ORDER BY version DESC LIMIT 1
) AS last ON true
LEFT JOIN authors ON authors.number = last.author
LEFT JOIN LATERAL (
    SELECT record, ('x' || encode(substr(record, 5, 8), 'hex'))::bit(64)::bigint AS position FROM stream_ends
    WHERE stream = wanted.stream AND log = (SELECT number FROM logs WHERE name = $1)
) AS archived ON true
LEFT JOIN tiles ON tiles.log = $1 AND tiles.level = 0 AND tiles.index = archived.position / 256
WHERE last.position IS NOT NULL OR archived.record IS NOT NULL

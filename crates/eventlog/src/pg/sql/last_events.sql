-- $1 log, $2 streams
SELECT last.position, last.recorded_at, last.stream, last.version, last.count, last.request_id,
    last.trace, last.previous, last.content, authors.actor
FROM UNNEST($2::uuid[]) AS wanted (stream)
CROSS JOIN LATERAL (
    SELECT * FROM event_groups
    WHERE stream = wanted.stream AND log = (SELECT number FROM logs WHERE name = $1)
    ORDER BY version DESC LIMIT 1
) AS last
JOIN authors ON authors.number = last.author

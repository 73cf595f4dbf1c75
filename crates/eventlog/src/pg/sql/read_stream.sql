-- $1 log, $2 stream, $3 first version, $4 limit, $5 bytes of payloads that end a read
SELECT page.position, page.recorded_at, page.stream, page.version, page.count, page.request_id,
    page.trace, page.previous, page.content, authors.actor
FROM (
    SELECT *, sum(CASE WHEN version < $3 THEN 0 ELSE octet_length(content) - 25 * count END)
            OVER (ORDER BY version ROWS UNBOUNDED PRECEDING)
        - octet_length(content) + 25 * count AS bytes_before
    FROM (
        SELECT * FROM event_groups
        WHERE stream = $2 AND log = (SELECT number FROM logs WHERE name = $1)
            AND version >= coalesce((
                SELECT version FROM event_groups
                WHERE stream = $2 AND log = (SELECT number FROM logs WHERE name = $1)
                    AND version <= $3
                ORDER BY version DESC LIMIT 1
            ), 0)
        ORDER BY version LIMIT $4
    ) AS counted
) AS page
JOIN authors ON authors.number = page.author
WHERE bytes_before < $5 ORDER BY page.version

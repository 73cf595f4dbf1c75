-- $1 log, $2 first position, $3 limit, $4 bytes of payloads that end a read
SELECT page.position, page.recorded_at, page.stream, page.version, page.count, page.request_id,
    page.trace, page.previous, page.content, authors.actor
FROM (
    SELECT *, sum(CASE WHEN position < $2 THEN 0 ELSE octet_length(content) - 25 * count END)
            OVER (ORDER BY position ROWS UNBOUNDED PRECEDING)
        - octet_length(content) + 25 * count AS bytes_before
    FROM (
        SELECT * FROM event_groups
        WHERE log = (SELECT number FROM logs WHERE name = $1)
            AND position >= coalesce((
                SELECT position FROM event_groups
                WHERE log = (SELECT number FROM logs WHERE name = $1) AND position <= $2
                ORDER BY position DESC LIMIT 1
            ), 0)
        ORDER BY position LIMIT $3
    ) AS counted
) AS page
JOIN authors ON authors.number = page.author
WHERE bytes_before < $4 ORDER BY page.position

-- $1 log, $2 the player's account, $3 the player, $4 the first position, $5 the position to end before, $6 limit.
-- The first rows come from the accounts whose next entries come first: of no account more is read than that.
WITH mine AS (
    SELECT number, table_id FROM accounts WHERE name = $2
    UNION ALL
    SELECT number, table_id FROM accounts WHERE player = $3::text::uuid AND table_id IS NOT NULL
), near AS (
    SELECT mine.number, mine.table_id
    FROM mine
    CROSS JOIN LATERAL (
        SELECT entries.position FROM entries
        WHERE entries.account = mine.number AND entries.position >= $4 AND entries.position < $5
        ORDER BY entries.position LIMIT 1
    ) AS next
    ORDER BY next.position LIMIT $6
), found AS (
    SELECT one.position, near.table_id, one.amount, one.kind, one.reason
    FROM near
    CROSS JOIN LATERAL (
        SELECT entries.position, entries.amount, entries.kind, entries.reason FROM entries
        WHERE entries.account = near.number AND entries.position >= $4 AND entries.position < $5
        ORDER BY entries.position LIMIT $6
    ) AS one
    ORDER BY one.position LIMIT $6
)
SELECT found.position, found.table_id::text, found.amount, found.kind, found.reason, events.recorded_at,
    events.request_id::text AS transfer
FROM found
LEFT JOIN LATERAL (
    SELECT one.position + one.count AS ends, one.recorded_at, one.request_id
    FROM group_heads AS one
    WHERE one.log = (SELECT number FROM logs WHERE name = $1) AND one.position <= found.position
    ORDER BY one.position DESC LIMIT 1
) AS events ON events.ends > found.position
ORDER BY found.position, found.table_id NULLS FIRST

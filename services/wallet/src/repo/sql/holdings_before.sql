-- $1 the player's account, $2 the player, $3 a position: what was on the account before it, and with what was
-- at tables
WITH mine AS (
    SELECT number, table_id FROM accounts WHERE name = $1
    UNION ALL
    SELECT number, table_id FROM accounts WHERE player = $2::text::uuid AND table_id IS NOT NULL
)
SELECT coalesce(sum(last.balance) FILTER (WHERE mine.table_id IS NULL), 0)::bigint AS balance,
    coalesce(sum(last.balance), 0)::bigint AS total
FROM mine
CROSS JOIN LATERAL (
    SELECT entries.balance FROM entries WHERE entries.account = mine.number AND entries.position < $3
    ORDER BY entries.position DESC LIMIT 1
) AS last

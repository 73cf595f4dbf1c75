-- $1 the player
SELECT accounts.name, last.balance
FROM accounts
CROSS JOIN LATERAL (
    SELECT entries.balance FROM entries WHERE entries.account = accounts.number
    ORDER BY entries.position DESC LIMIT 1
) AS last
WHERE accounts.player = $1::text::uuid AND accounts.table_id IS NOT NULL AND last.balance <> 0
ORDER BY accounts.name

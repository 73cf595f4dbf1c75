SELECT accounts.number, accounts.name, accounts.player::text, accounts.table_id::text, last.balance, states.held, states.frozen, states.closed,
    states.excluded_until
FROM accounts
LEFT JOIN states ON states.account = accounts.number
LEFT JOIN LATERAL (
    SELECT entries.balance FROM entries WHERE entries.account = accounts.number
    ORDER BY entries.position DESC LIMIT 1
) AS last ON true

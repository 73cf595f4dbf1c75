SELECT accounts.number, accounts.name, last.balance, states.held, states.frozen, states.closed,
    states.excluded_until, states.extra
FROM accounts
LEFT JOIN states ON states.account = accounts.number
LEFT JOIN LATERAL (
    SELECT entries.balance FROM entries WHERE entries.account = accounts.number
    ORDER BY entries.position DESC LIMIT 1
) AS last ON true

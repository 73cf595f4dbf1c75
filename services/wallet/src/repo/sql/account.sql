-- $1 the account's name
SELECT accounts.number, accounts.name, accounts.opened, covered.size, last.balance, states.held,
    states.frozen, states.closed, states.excluded_until
FROM accounts
CROSS JOIN covered
LEFT JOIN states ON states.account = accounts.number
LEFT JOIN LATERAL (
    SELECT entries.balance FROM entries WHERE entries.account = accounts.number
    ORDER BY entries.position DESC LIMIT 1
) AS last ON true
WHERE accounts.name = $1

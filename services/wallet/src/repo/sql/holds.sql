-- $1 an id; NULL for all that are pending
SELECT holds.id::text, accounts.name AS source, holds.destination, holds.amount, holds.remaining,
    holds.state, holds.expires_at, holds.account, holds.changed
FROM holds JOIN accounts ON accounts.number = holds.account
WHERE CASE WHEN $1::text IS NULL THEN holds.state = 1 ELSE holds.id = $1::uuid END

-- $1 the accounts' numbers, $2 positions, pair by pair
SELECT entries.position, entries.account, entries.amount, entries.balance, entries.other, entries.kind,
    entries.reason
FROM UNNEST($1::integer[], $2::bigint[]) AS wanted (account, position)
JOIN entries ON entries.account = wanted.account AND entries.position = wanted.position
ORDER BY entries.position, entries.account

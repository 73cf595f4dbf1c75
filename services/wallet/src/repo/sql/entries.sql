-- $1 log, $2 the account's number, $3 the first position, $4 the position to end before, $5 limit
SELECT entries.position, entries.amount, entries.balance, entries.kind, entries.reason,
    others.name AS other, events.recorded_at, events.request_id::text AS transfer
FROM entries
JOIN events ON events.log = $1 AND events.position = entries.position
LEFT JOIN accounts AS others ON others.number = entries.other
WHERE entries.account = $2 AND entries.position >= $3 AND entries.position < $4
ORDER BY entries.position LIMIT $5

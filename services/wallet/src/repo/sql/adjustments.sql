-- $1 log, $2 the position after which to begin, $3 limit
SELECT adjustments.id::text, adjustments.account, adjustments.amount, adjustments.reason,
    adjustments.proposed_by, adjustments.proposed, events.recorded_at
FROM adjustments
JOIN events ON events.log = $1 AND events.position = adjustments.proposed
WHERE adjustments.state = 1 AND adjustments.proposed > $2
ORDER BY adjustments.proposed LIMIT $3

-- Those that wait.
SELECT adjustments.id::text, adjustments.account, adjustments.amount, adjustments.reason,
    adjustments.proposed_by
FROM adjustments WHERE adjustments.state = 1

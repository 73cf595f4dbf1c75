-- $1 hands, $2 outcomes, $3 ends
UPDATE hand_seats SET outcome = ended.outcome, ended_at = ended.ended_at
FROM UNNEST($1::text[], $2::smallint[], $3::bigint[]) AS ended(hand_id, outcome, ended_at)
WHERE hand_seats.hand_id = ended.hand_id::uuid AND hand_seats.outcome = 1

-- $1 hands, $2 seats, $3 stacks, $4 ends: of hands that were played
UPDATE hand_seats SET net = ended.stack - hand_seats.stack, outcome = 2, ended_at = ended.ended_at
FROM UNNEST($1::text[], $2::integer[], $3::bigint[], $4::bigint[]) AS ended(hand_id, seat, stack, ended_at)
WHERE hand_seats.hand_id = ended.hand_id::uuid AND hand_seats.seat = ended.seat
    AND hand_seats.outcome = 1

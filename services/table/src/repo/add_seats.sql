-- $1 players, $2 starts, $3 positions, $4 tables, $5 hand numbers, $6 hands, $7 seats, $8 stacks
INSERT INTO hand_seats (player, started_at, position, table_id, hand_no, hand_id, seat, stack, net, outcome)
SELECT opened.player::uuid, opened.started_at, opened.position, opened.table_id::uuid, opened.hand_no,
    opened.hand_id::uuid, opened.seat, opened.stack, 0, 1
FROM UNNEST($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::integer[],
    $8::bigint[]) AS opened(player, started_at, position, table_id, hand_no, hand_id, seat, stack)
ON CONFLICT DO NOTHING

-- $1 tables, $2 the numbers before which all hands have ended
UPDATE hand_seats SET outcome = 6
FROM UNNEST($1::text[], $2::bigint[]) AS started(table_id, hand_no)
WHERE hand_seats.table_id = started.table_id::uuid AND hand_seats.hand_no < started.hand_no
    AND hand_seats.outcome = 1

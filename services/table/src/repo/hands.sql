-- $1 the player, $2 the earliest start, $3 the start to end before, $4 and $5 start and position that the page begins
-- behind, $6 hands to look at, $7 the table or null, $8 the game or null, $9 the sign of the net or null, $10 rows.
-- The last hand that was looked at is in every row, so that the next page goes on behind it.
WITH scanned AS MATERIALIZED (
    SELECT * FROM hand_seats
    WHERE player = $1::text::uuid AND started_at >= $2 AND started_at < $3
        AND (started_at, position) < ($4, $5)
    ORDER BY started_at DESC, position DESC LIMIT $6
), last AS (
    SELECT started_at AS last_started_at, position AS last_position,
        (SELECT count(*) FROM scanned) AS scanned
    FROM scanned ORDER BY started_at, position LIMIT 1
), found AS (
    SELECT scanned.*, hand_tables.name, hand_tables.variant
    FROM scanned JOIN hand_tables USING (table_id)
    WHERE ($7::text IS NULL OR scanned.table_id = $7::text::uuid)
        AND ($8::text IS NULL OR hand_tables.variant = $8)
        AND ($9::smallint IS NULL OR (scanned.outcome <> 1 AND sign(scanned.net) = $9))
    ORDER BY scanned.started_at DESC, scanned.position DESC LIMIT $10
)
SELECT last.*, found.started_at, found.position, found.table_id::text, found.name, found.variant,
    found.hand_no, found.hand_id::text, found.seat, found.net, found.outcome, found.ended_at
FROM last LEFT JOIN found ON true
ORDER BY found.started_at DESC, found.position DESC

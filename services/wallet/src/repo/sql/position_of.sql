-- $1 log, $2 a time in microseconds: how many events were recorded before it. Times never go back from
-- position to position, so the middle tells which half to look at. Of archived events those
-- that a request caused are known; the others count as recorded with the one before.
WITH RECURSIVE between AS (
    SELECT 0::bigint AS low, size AS high FROM covered WHERE log = $1
    UNION ALL
    SELECT CASE WHEN middle.recorded_at < $2 THEN middle.position + 1 ELSE low END,
        CASE WHEN middle.recorded_at < $2 THEN high ELSE middle.position END
    FROM between
    JOIN LATERAL (
        SELECT (between.low + between.high) / 2 AS position, coalesce((
            SELECT one.recorded_at FROM group_heads AS one
            WHERE one.log = (SELECT number FROM logs WHERE name = $1)
                AND one.position <= (between.low + between.high) / 2
            ORDER BY one.position DESC LIMIT 1
        ), 0) AS recorded_at
    ) AS middle ON true
    WHERE between.low < between.high
)
SELECT low FROM between WHERE low = high

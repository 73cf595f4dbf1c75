, projection AS (
    UPDATE projected
    SET size = CASE WHEN projected.size = $3 THEN passed.size ELSE projected.size END
    FROM passed
    WHERE projected.log = passed.log
)

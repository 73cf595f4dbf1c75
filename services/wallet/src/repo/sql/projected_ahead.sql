-- An UPDATE would find the row changed since the statement began, and check it again at great cost. A missing
-- row counts as one with size 0: the tables are rebuilt.
, projection AS (
    INSERT INTO projected (log, size)
    SELECT passed.log, 0 FROM passed
    ON CONFLICT (log) DO UPDATE SET size = CASE WHEN projected.size = $3
        THEN $3 + $8 ELSE projected.size END
)

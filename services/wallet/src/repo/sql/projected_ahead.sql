-- An UPDATE would find the row changed since the statement began, and look again at great cost. A row that is
-- missing is as good as one that says 0: the books are built anew.
, projection AS (
    INSERT INTO projected (log, size)
    SELECT passed.log, 0 FROM passed
    ON CONFLICT (log) DO UPDATE SET size = CASE WHEN projected.size = $3
        THEN $3 + cardinality($8::uuid[]) ELSE projected.size END
)

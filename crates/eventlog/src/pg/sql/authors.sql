-- $1 actors. Those that somebody else adds at the same moment are missing from the answer: ask again.
WITH wanted AS (
    SELECT DISTINCT UNNEST($1::text[]) AS actor
), known AS (
    SELECT authors.number, authors.actor FROM wanted JOIN authors USING (actor)
), added AS (
    INSERT INTO authors (actor)
    SELECT actor FROM wanted WHERE actor NOT IN (SELECT actor FROM known)
    ON CONFLICT DO NOTHING
    RETURNING number, actor
)
SELECT number, actor FROM known UNION ALL SELECT number, actor FROM added

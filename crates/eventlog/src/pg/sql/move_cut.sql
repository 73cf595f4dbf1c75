-- $1 log, $2 size, $3 tree, $4 first position of the events that go: the answers to their people's requests
-- with a time are forgotten, and the greatest of these keys is remembered for good.
INSERT INTO archived (log, size, tree, forgotten)
SELECT $1, $2, $3, (
    WITH keys AS MATERIALIZED (
        SELECT key FROM event_groups
        WHERE log = (SELECT number FROM logs WHERE name = $1) AND position >= $4 AND position < $2
            AND forgets_answer(key)
    )
    SELECT key FROM keys ORDER BY key DESC LIMIT 1
)
ON CONFLICT (log) DO UPDATE SET size = $2, tree = $3,
    forgotten = greatest(archived.forgotten, excluded.forgotten)

-- $1 log, $2 first position, $3 position after the last to begin at, $4 end of the archived range; a row
-- that ends behind it stays, the last one of a stream, and $5, streams that the service still reads. Who asked, when, and the answers to requests stay without their events.
WITH removed AS (
    DELETE FROM event_groups AS old
    WHERE old.log = (SELECT number FROM logs WHERE name = $1)
        AND old.position >= coalesce((
            SELECT position FROM event_groups
            WHERE log = (SELECT number FROM logs WHERE name = $1) AND position <= $2
            ORDER BY position DESC LIMIT 1
        ), 0)
        AND old.position < $3 AND old.position + old.count <= $4 AND old.stream <> ALL ($5::uuid[]) AND EXISTS (
            SELECT FROM event_groups AS newer
            WHERE newer.log = old.log AND newer.stream = old.stream AND newer.version > old.version
        )
    RETURNING old.*
), kept AS (
    INSERT INTO archived_groups (log, position, count, recorded_at, author, request_id, key, digest, answer)
    SELECT log, position, count, recorded_at, author, request_id, key, digest, answer
    FROM removed WHERE request_id IS NOT NULL
    -- It was removed before, and restored.
    ON CONFLICT (log, position) DO NOTHING
)
SELECT coalesce(sum(count), 0)::bigint FROM removed

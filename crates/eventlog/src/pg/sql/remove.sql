-- $1 log, $2 first position, $3 position after the last to begin at, $4 end of the archived range; a row
-- that ends behind it stays, the log's last, by which its size is known, and $5, streams that the service still
-- reads, as well as, of the streams $8, all from the versions $9 on. Without their events stay, of requests: $6 who asked and when, $7 those answers that are not forgotten.
WITH removed AS (
    DELETE FROM event_groups AS old
    WHERE old.log = (SELECT number FROM logs WHERE name = $1)
        AND old.position >= coalesce((
            SELECT position FROM event_groups
            WHERE log = (SELECT number FROM logs WHERE name = $1) AND position <= $2
            ORDER BY position DESC LIMIT 1
        ), 0)
        AND old.position < $3 AND old.position + old.count <= $4 AND old.stream <> ALL ($5::uuid[])
        AND NOT EXISTS (
            SELECT FROM unnest($8::uuid[], $9::bigint[]) AS tail (stream, version)
            WHERE tail.stream = old.stream AND old.version + old.count > tail.version
        )
        AND old.position < (
            SELECT position FROM event_groups
            WHERE log = (SELECT number FROM logs WHERE name = $1)
            ORDER BY position DESC LIMIT 1
        )
    RETURNING old.*
), kept AS (
    INSERT INTO archived_groups (log, position, count, recorded_at, author, request_id, key, tag, answer)
    SELECT log, position, count, recorded_at, author, request_id,
        CASE WHEN stays THEN key END, CASE WHEN stays THEN tag END, CASE WHEN stays THEN answer END
    FROM removed, LATERAL (
        SELECT $7 AND key IS NOT NULL AND NOT forgets_answer(key) AS stays
    ) AS answers
    WHERE request_id IS NOT NULL AND ($6 OR stays)
    -- It was removed before, and restored.
    ON CONFLICT (log, position) DO NOTHING
)
SELECT coalesce(sum(count), 0)::bigint FROM removed

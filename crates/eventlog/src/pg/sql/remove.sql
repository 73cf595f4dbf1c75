-- $1 log, $2 first position, $3 position after the last; the last event of a stream stays
DELETE FROM events AS old
WHERE log = $1 AND position >= $2 AND position < $3 AND EXISTS (
    SELECT FROM events AS newer
    WHERE newer.log = $1 AND newer.stream = old.stream AND newer.version > old.version
)

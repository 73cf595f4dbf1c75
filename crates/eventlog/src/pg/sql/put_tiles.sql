-- $1 log, $2 levels, $3 indexes, $4 hashes; counts those that are there and are others
WITH given AS (
    SELECT UNNEST($2::integer[]) AS level, UNNEST($3::bigint[]) AS index,
        UNNEST($4::bytea[]) AS hashes
), put AS (
    INSERT INTO tiles (log, level, index, hashes) SELECT $1, level, index, hashes FROM given
    ON CONFLICT (log, level, index) DO NOTHING
)
SELECT count(*) FROM tiles AS kept JOIN given USING (level, index)
WHERE kept.log = $1 AND kept.hashes <> given.hashes

-- $1 log, $2 levels, $3 indexes
SELECT kept.level, kept.index, kept.hashes
FROM (SELECT UNNEST($2::integer[]) AS level, UNNEST($3::bigint[]) AS index) AS wanted
JOIN tiles AS kept USING (level, index) WHERE kept.log = $1

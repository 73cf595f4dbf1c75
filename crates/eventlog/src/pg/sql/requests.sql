-- $1 log, $2 keys
SELECT key, tag, position AS first, answer FROM event_groups
WHERE log = (SELECT number FROM logs WHERE name = $1) AND key = ANY ($2)
UNION ALL
SELECT key, tag, position AS first, answer FROM archived_groups
WHERE log = (SELECT number FROM logs WHERE name = $1) AND key = ANY ($2)

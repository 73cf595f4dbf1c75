-- $1 log, $2 a key that is greater than all, or NULL, $3 limit
(
    SELECT key FROM event_groups
    WHERE log = (SELECT number FROM logs WHERE name = $1) AND key IS NOT NULL
        AND key < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    ORDER BY key DESC LIMIT $3
) UNION ALL (
    SELECT key FROM archived_groups
    WHERE log = (SELECT number FROM logs WHERE name = $1) AND key IS NOT NULL
        AND key < coalesce($2::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    ORDER BY key DESC LIMIT $3
)
ORDER BY key DESC LIMIT $3

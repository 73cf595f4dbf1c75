-- $1 ids, $2 names, $3 games
INSERT INTO hand_tables (table_id, name, variant)
SELECT UNNEST($1::text[])::uuid, UNNEST($2::text[]), UNNEST($3::text[])
ON CONFLICT DO NOTHING

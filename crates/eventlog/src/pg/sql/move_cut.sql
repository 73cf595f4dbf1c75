-- $1 log, $2 size, $3 tree
INSERT INTO archived (log, size, tree) VALUES ($1, $2, $3)
ON CONFLICT (log) DO UPDATE SET size = $2, tree = $3

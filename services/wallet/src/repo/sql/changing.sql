), changing AS (
    INSERT INTO states (account, held, frozen, closed, excluded_until)
    SELECT UNNEST($28::integer[]), UNNEST($29::bigint[]), UNNEST($30::boolean[]),
        UNNEST($31::boolean[]), UNNEST($32::bigint[])
    FROM fence
    ON CONFLICT (account) DO UPDATE SET held = excluded.held, frozen = excluded.frozen,
        closed = excluded.closed, excluded_until = excluded.excluded_until
)

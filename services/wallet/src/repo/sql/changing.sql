), changing AS (
    INSERT INTO states (account, held, frozen, closed, excluded_until, extra)
    SELECT UNNEST($29::integer[]), UNNEST($30::bigint[]), UNNEST($31::boolean[]),
        UNNEST($32::boolean[]), UNNEST($33::bigint[]), UNNEST($34::bytea[])
    FROM fence
    ON CONFLICT (account) DO UPDATE SET held = excluded.held, frozen = excluded.frozen,
        closed = excluded.closed, excluded_until = excluded.excluded_until, extra = excluded.extra
)

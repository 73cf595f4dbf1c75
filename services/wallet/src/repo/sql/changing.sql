), changing AS (
    INSERT INTO states (account, held, frozen, closed, excluded_until)
    SELECT UNNEST($30::integer[]), UNNEST($31::bigint[]), UNNEST($32::boolean[]),
        UNNEST($33::boolean[]), UNNEST($34::bigint[])
    FROM fence
    ON CONFLICT (account) DO UPDATE SET held = excluded.held, frozen = excluded.frozen,
        closed = excluded.closed, excluded_until = excluded.excluded_until
)

), changing AS (
    INSERT INTO states (account, held, frozen, closed, excluded_until)
    SELECT UNNEST($31::integer[]), UNNEST($32::bigint[]), UNNEST($33::boolean[]),
        UNNEST($34::boolean[]), UNNEST($35::bigint[])
    FROM fence
    ON CONFLICT (account) DO UPDATE SET held = excluded.held, frozen = excluded.frozen,
        closed = excluded.closed, excluded_until = excluded.excluded_until
)

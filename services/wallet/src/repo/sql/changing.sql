), changing AS (
    INSERT INTO states (account, held, frozen, closed, excluded_until)
    SELECT UNNEST($32::integer[]), UNNEST($33::bigint[]), UNNEST($34::boolean[]),
        UNNEST($35::boolean[]), UNNEST($36::bigint[])
    FROM fence
    ON CONFLICT (account) DO UPDATE SET held = excluded.held, frozen = excluded.frozen,
        closed = excluded.closed, excluded_until = excluded.excluded_until
)

-- What every group writes, and most nothing else: transfers between accounts that there are.
, posting AS (
    INSERT INTO entries (position, amount, balance, account, other, kind, reason)
    SELECT UNNEST($22::bigint[]), UNNEST($23::bigint[]), UNNEST($24::bigint[]),
        UNNEST($25::integer[]), UNNEST($26::integer[]), UNNEST($27::smallint[]),
        UNNEST($28::text[])
    FROM fence
    ON CONFLICT (account, position) DO UPDATE SET amount = excluded.amount,
        balance = excluded.balance, other = excluded.other, kind = excluded.kind,
        reason = excluded.reason
), changing AS (
    INSERT INTO states (account, held, frozen, closed, excluded_until, extra)
    SELECT UNNEST($29::integer[]), UNNEST($30::bigint[]), UNNEST($31::boolean[]),
        UNNEST($32::boolean[]), UNNEST($33::bigint[]), UNNEST($34::bytea[])
    FROM fence
    ON CONFLICT (account) DO UPDATE SET held = excluded.held, frozen = excluded.frozen,
        closed = excluded.closed, excluded_until = excluded.excluded_until, extra = excluded.extra
)

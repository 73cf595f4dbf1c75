, opening AS (
    INSERT INTO accounts (number, name, player, table_id, opened)
    SELECT UNNEST($22::integer[]), UNNEST($23::text[]), UNNEST($24::text[]::uuid[]),
        UNNEST($25::text[]::uuid[]), UNNEST($26::bigint[])
    FROM fence
    ON CONFLICT DO NOTHING
), posting AS (
    INSERT INTO entries (position, amount, balance, account, other, kind, reason)
    SELECT UNNEST($27::bigint[]), UNNEST($28::bigint[]), UNNEST($29::bigint[]),
        UNNEST($30::integer[]), UNNEST($31::integer[]), UNNEST($32::smallint[]),
        UNNEST($33::text[])
    FROM fence
    ON CONFLICT (account, position) DO UPDATE SET amount = excluded.amount,
        balance = excluded.balance, other = excluded.other, kind = excluded.kind,
        reason = excluded.reason
), changing AS (
    INSERT INTO states (account, held, frozen, closed, excluded_until, extra)
    SELECT UNNEST($34::integer[]), UNNEST($35::bigint[]), UNNEST($36::boolean[]),
        UNNEST($37::boolean[]), UNNEST($38::bigint[]), UNNEST($39::bytea[])
    FROM fence
    ON CONFLICT (account) DO UPDATE SET held = excluded.held, frozen = excluded.frozen,
        closed = excluded.closed, excluded_until = excluded.excluded_until, extra = excluded.extra
), holding AS (
    INSERT INTO holds (id, account, destination, amount, remaining, state, expires_at, changed)
    SELECT UNNEST($40::text[]::uuid[]), UNNEST($41::integer[]), UNNEST($42::text[]),
        UNNEST($43::bigint[]), UNNEST($44::bigint[]), UNNEST($45::smallint[]),
        UNNEST($46::bigint[]), UNNEST($47::bigint[])
    FROM fence
    ON CONFLICT (id) DO UPDATE SET remaining = excluded.remaining, state = excluded.state,
        changed = excluded.changed
), adjusting AS (
    INSERT INTO adjustments (id, account, amount, reason, proposed_by, proposed, state, changed)
    SELECT UNNEST($48::text[]::uuid[]), UNNEST($49::text[]), UNNEST($50::bigint[]),
        UNNEST($51::text[]), UNNEST($52::text[]), UNNEST($53::bigint[]),
        UNNEST($54::smallint[]), UNNEST($55::bigint[])
    FROM fence
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, changed = excluded.changed
)

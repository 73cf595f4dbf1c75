-- Rows of a group that does more than transfer.
, opening AS (
    INSERT INTO accounts (number, name, player, table_id, opened)
    SELECT UNNEST($33::integer[]), UNNEST($34::text[]), UNNEST($35::text[]::uuid[]),
        UNNEST($36::text[]::uuid[]), UNNEST($37::bigint[])
    FROM fence
    ON CONFLICT DO NOTHING
), holding AS (
    INSERT INTO holds (id, account, destination, amount, remaining, state, expires_at, changed)
    SELECT UNNEST($38::text[]::uuid[]), UNNEST($39::integer[]), UNNEST($40::text[]),
        UNNEST($41::bigint[]), UNNEST($42::bigint[]), UNNEST($43::smallint[]),
        UNNEST($44::bigint[]), UNNEST($45::bigint[])
    FROM fence
    ON CONFLICT (id) DO UPDATE SET remaining = excluded.remaining, state = excluded.state,
        changed = excluded.changed
), adjusting AS (
    INSERT INTO adjustments (id, account, amount, reason, proposed_by, proposed, state, changed)
    SELECT UNNEST($46::text[]::uuid[]), UNNEST($47::text[]), UNNEST($48::bigint[]),
        UNNEST($49::text[]), UNNEST($50::text[]), UNNEST($51::bigint[]),
        UNNEST($52::smallint[]), UNNEST($53::bigint[])
    FROM fence
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, changed = excluded.changed
)

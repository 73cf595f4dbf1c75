-- Rows of a group that does more than transfer.
, opening AS (
    INSERT INTO accounts (number, name, player, table_id, opened)
    SELECT UNNEST($37::integer[]), UNNEST($38::text[]), UNNEST($39::text[]::uuid[]),
        UNNEST($40::text[]::uuid[]), UNNEST($40::bigint[])
    FROM fence
    ON CONFLICT DO NOTHING
), holding AS (
    INSERT INTO holds (id, account, destination, amount, remaining, state, expires_at, changed)
    SELECT UNNEST($41::text[]::uuid[]), UNNEST($42::integer[]), UNNEST($43::text[]),
        UNNEST($44::bigint[]), UNNEST($45::bigint[]), UNNEST($46::smallint[]),
        UNNEST($47::bigint[]), UNNEST($48::bigint[])
    FROM fence
    ON CONFLICT (id) DO UPDATE SET remaining = excluded.remaining, state = excluded.state,
        changed = excluded.changed
), adjusting AS (
    INSERT INTO adjustments (id, account, amount, reason, proposed_by, proposed, state, changed)
    SELECT UNNEST($49::text[]::uuid[]), UNNEST($50::text[]), UNNEST($51::bigint[]),
        UNNEST($52::text[]), UNNEST($53::text[]), UNNEST($54::bigint[]),
        UNNEST($55::smallint[]), UNNEST($56::bigint[])
    FROM fence
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, changed = excluded.changed
)

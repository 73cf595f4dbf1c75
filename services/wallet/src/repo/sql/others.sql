-- Rows of a group that does more than transfer.
, opening AS (
    INSERT INTO accounts (number, name, player, table_id, opened)
    SELECT UNNEST($37::integer[]), UNNEST($38::text[]), UNNEST($39::text[]::uuid[]),
        UNNEST($40::text[]::uuid[]), UNNEST($41::bigint[])
    FROM fence
    ON CONFLICT DO NOTHING
), holding AS (
    INSERT INTO holds (id, account, destination, amount, remaining, state, expires_at, changed)
    SELECT UNNEST($42::text[]::uuid[]), UNNEST($43::integer[]), UNNEST($44::text[]),
        UNNEST($45::bigint[]), UNNEST($46::bigint[]), UNNEST($47::smallint[]),
        UNNEST($48::bigint[]), UNNEST($49::bigint[])
    FROM fence
    ON CONFLICT (id) DO UPDATE SET remaining = excluded.remaining, state = excluded.state,
        changed = excluded.changed
), adjusting AS (
    INSERT INTO adjustments (id, account, amount, reason, proposed_by, proposed, state, changed)
    SELECT UNNEST($50::text[]::uuid[]), UNNEST($51::text[]), UNNEST($52::bigint[]),
        UNNEST($53::text[]), UNNEST($54::text[]), UNNEST($55::bigint[]),
        UNNEST($56::smallint[]), UNNEST($57::bigint[])
    FROM fence
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, changed = excluded.changed
)

-- Rows of a group that does more than transfer.
, opening AS (
    INSERT INTO accounts (number, name, player, table_id, opened)
    SELECT UNNEST($35::integer[]), UNNEST($36::text[]), UNNEST($37::text[]::uuid[]),
        UNNEST($38::text[]::uuid[]), UNNEST($39::bigint[])
    FROM fence
    ON CONFLICT DO NOTHING
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

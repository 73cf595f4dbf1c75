, opening AS (
    INSERT INTO accounts (number, name, player, table_id, opened)
    SELECT new.* FROM fence, UNNEST($22::integer[], $23::text[], $24::text[]::uuid[],
        $25::text[]::uuid[], $26::bigint[]) AS new
    ON CONFLICT DO NOTHING
), posting AS (
    INSERT INTO entries (position, amount, balance, account, other, kind, reason)
    SELECT new.* FROM fence, UNNEST($27::bigint[], $28::bigint[], $29::bigint[], $30::integer[],
        $31::integer[], $32::smallint[], $33::text[]) AS new
    ON CONFLICT (account, position) DO UPDATE SET amount = excluded.amount,
        balance = excluded.balance, other = excluded.other, kind = excluded.kind,
        reason = excluded.reason
), changing AS (
    INSERT INTO states (account, held, frozen, closed, excluded_until, extra)
    SELECT new.* FROM fence, UNNEST($34::integer[], $35::bigint[], $36::boolean[], $37::boolean[],
        $38::bigint[], $39::bytea[]) AS new
    ON CONFLICT (account) DO UPDATE SET held = excluded.held, frozen = excluded.frozen,
        closed = excluded.closed, excluded_until = excluded.excluded_until, extra = excluded.extra
), holding AS (
    INSERT INTO holds (id, account, destination, amount, remaining, state, expires_at, changed)
    SELECT new.* FROM fence, UNNEST($40::text[]::uuid[], $41::integer[], $42::text[], $43::bigint[],
        $44::bigint[], $45::smallint[], $46::bigint[], $47::bigint[]) AS new
    ON CONFLICT (id) DO UPDATE SET remaining = excluded.remaining, state = excluded.state,
        changed = excluded.changed
), adjusting AS (
    INSERT INTO adjustments (id, account, amount, reason, proposed_by, proposed, state, changed)
    SELECT new.* FROM fence, UNNEST($48::text[]::uuid[], $49::text[], $50::bigint[], $51::text[],
        $52::text[], $53::bigint[], $54::smallint[], $55::bigint[]) AS new
    ON CONFLICT (id) DO UPDATE SET state = excluded.state, changed = excluded.changed
)

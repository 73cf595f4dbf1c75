-- What every group writes, and most nothing else: transfers between accounts that there are.
-- It is closed by whoever puts it in its place, by `changing.sql` where that follows.
, posting AS (
    INSERT INTO entries (position, amount, balance, account, other, kind, reason)
    SELECT UNNEST($24::bigint[]), UNNEST($25::bigint[]), UNNEST($26::bigint[]),
        UNNEST($27::integer[]), UNNEST($28::integer[]), UNNEST($29::smallint[]),
        UNNEST($30::text[])
    FROM fence

-- What every group writes, and most nothing else: transfers between accounts that there are.
-- `over.sql` may follow; then it is closed, by `changing.sql` where that follows.
, posting AS (
    INSERT INTO entries (position, amount, balance, account, other, kind, reason)
    SELECT UNNEST($22::bigint[]), UNNEST($23::bigint[]), UNNEST($24::bigint[]),
        UNNEST($25::integer[]), UNNEST($26::integer[]), UNNEST($27::smallint[]),
        UNNEST($28::text[])
    FROM fence

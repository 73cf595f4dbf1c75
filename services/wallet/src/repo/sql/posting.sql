-- Rows that every group writes, and most groups nothing else: transfers between existing accounts.
-- The last expression is left open: the statement that includes this text closes it, or `changing.sql` does.
, posting AS (
    INSERT INTO entries (position, amount, balance, account, other, kind, reason)
    SELECT UNNEST($23::bigint[]), UNNEST($24::bigint[]), UNNEST($25::bigint[]),
        UNNEST($26::integer[]), UNNEST($27::integer[]), UNNEST($28::smallint[]),
        UNNEST($29::text[])
    FROM fence

-- Rows that every group writes, and most groups nothing else: transfers between existing accounts.
-- The last expression is left open: the statement that includes this text closes it, or `changing.sql` does.
, posting AS (
    INSERT INTO entries (position, amount, balance, account, other, kind, reason)
    SELECT UNNEST($25::bigint[]), UNNEST($26::bigint[]), UNNEST($27::bigint[]),
        UNNEST($28::integer[]), UNNEST($29::integer[]), UNNEST($30::smallint[]),
        UNNEST($31::text[])
    FROM fence

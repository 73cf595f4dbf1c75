-- Rows that every group writes, and most groups nothing else: transfers between existing accounts.
-- The last expression is left open: the statement that includes this text closes it, or `changing.sql` does.
, posting AS (
    INSERT INTO entries (position, amount, balance, account, other, kind, reason)
    SELECT UNNEST($21::bigint[]), UNNEST($22::bigint[]), UNNEST($23::bigint[]),
        UNNEST($24::integer[]), UNNEST($25::integer[]), UNNEST($26::smallint[]),
        UNNEST($27::text[])
    FROM fence

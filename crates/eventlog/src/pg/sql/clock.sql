clock AS MATERIALIZED (
    SELECT received, now,
        ($CLOCK::bigint[])[1]
            BETWEEN received - ($CLOCK::bigint[])[2] AND now + ($CLOCK::bigint[])[2] AS fits
    FROM (
        SELECT (extract(epoch FROM statement_timestamp()) * 1000000)::bigint AS received,
            (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now
    ) AS here
)
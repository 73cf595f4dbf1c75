-- $1 log, $2 epoch, $3 size. The owner's row is locked: nobody else claims the log meanwhile.
WITH mine AS MATERIALIZED (
    SELECT log FROM owners WHERE log = $1 AND epoch = $2 FOR NO KEY UPDATE
)
UPDATE projected SET size = NULL FROM mine
WHERE projected.log = mine.log AND projected.size = $3 AND log_end(mine.log, 9223372036854775807) = $3

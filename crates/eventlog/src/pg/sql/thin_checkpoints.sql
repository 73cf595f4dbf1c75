-- $1 log, $2 first number, $3 a time in microseconds
SELECT thin_checkpoints($1, $2, $3)

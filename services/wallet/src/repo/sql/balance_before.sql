-- $1 the account's number, $2 a position
SELECT balance FROM entries WHERE account = $1 AND position < $2 ORDER BY position DESC LIMIT 1

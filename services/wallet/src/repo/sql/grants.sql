-- Rows of transfers and accounts are added and never changed, of the others what changes. What is made anew
-- from the log is emptied by functions that know whose the log is.
GRANT SELECT, INSERT ON accounts, entries, states, holds, adjustments TO sabacc_wallet;
REVOKE UPDATE ON projected, states, holds, adjustments FROM sabacc_wallet;
GRANT UPDATE (size) ON projected TO sabacc_wallet;
GRANT UPDATE (held, frozen, closed, excluded_until) ON states TO sabacc_wallet;
GRANT UPDATE (remaining, state, changed) ON holds TO sabacc_wallet;
GRANT UPDATE (state, changed) ON adjustments TO sabacc_wallet;
REVOKE ALL ON FUNCTION empty_tables(text, bigint), clear_entries_ahead(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION empty_tables(text, bigint), clear_entries_ahead(text) TO sabacc_wallet

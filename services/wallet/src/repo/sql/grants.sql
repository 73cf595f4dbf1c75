-- The books can be made again from the log: the service may empty them.
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE
    ON projected, accounts, entries, states, holds, adjustments TO sabacc_wallet

-- The dealer's seeds, sealed under a key that is not in the database. Run by an administrator, any
-- number of times, after the log's roles are there. They have a schema of their own because rights
-- on the logs' schemas are given by the schema, to auditors too.
SELECT pg_advisory_xact_lock(hashtext('dealer_vault'));
CREATE SCHEMA IF NOT EXISTS dealer_vault;
REVOKE ALL ON SCHEMA dealer_vault FROM PUBLIC, sabacc_auditor;
GRANT USAGE ON SCHEMA dealer_vault TO sabacc_dealer;
CREATE TABLE IF NOT EXISTS dealer_vault.seed (
    hand_id     bytea PRIMARY KEY CHECK (octet_length(hand_id) = 16),
    context     bytea NOT NULL CHECK (octet_length(context) = 32),
    commitment  bytea NOT NULL CHECK (octet_length(commitment) = 32),
    nonce       bytea NOT NULL CHECK (octet_length(nonce) = 24),
    sealed      bytea NOT NULL CHECK (octet_length(sealed) = 80)
);
COMMENT ON TABLE dealer_vault.seed IS 'one seed for each hand, ever: rows are added and never changed';

CREATE OR REPLACE FUNCTION dealer_vault.seeds_stay() RETURNS trigger LANGUAGE plpgsql AS $stay$
BEGIN
    RAISE EXCEPTION 'a seed that was committed to is neither changed nor lost: % is refused', TG_OP
        USING ERRCODE = 'restrict_violation';
END
$stay$;
CREATE OR REPLACE TRIGGER seeds_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON dealer_vault.seed
    FOR EACH STATEMENT EXECUTE FUNCTION dealer_vault.seeds_stay();
ALTER TABLE dealer_vault.seed ENABLE ALWAYS TRIGGER seeds_stay;

REVOKE ALL ON dealer_vault.seed FROM PUBLIC, sabacc_auditor, sabacc_dealer;
GRANT SELECT, INSERT ON dealer_vault.seed TO sabacc_dealer;

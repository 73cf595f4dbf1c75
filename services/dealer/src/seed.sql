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
-- Rows without a key id are older than key ids: each key is tried for them.
ALTER TABLE dealer_vault.seed
    ADD COLUMN IF NOT EXISTS key_id bytea CHECK (octet_length(key_id) = 8);
COMMENT ON TABLE dealer_vault.seed IS
    'one seed for each hand, ever: rows are added, and sealed again under another key, no more';

CREATE OR REPLACE FUNCTION dealer_vault.seeds_stay() RETURNS trigger LANGUAGE plpgsql AS $stay$
BEGIN
    RAISE EXCEPTION 'a seed that was committed to is neither changed nor lost: % is refused', TG_OP
        USING ERRCODE = 'restrict_violation';
END
$stay$;
CREATE OR REPLACE TRIGGER seeds_stay BEFORE DELETE OR TRUNCATE ON dealer_vault.seed
    FOR EACH STATEMENT EXECUTE FUNCTION dealer_vault.seeds_stay();
ALTER TABLE dealer_vault.seed ENABLE ALWAYS TRIGGER seeds_stay;
-- A resealed row has another key and another nonce, and the same hand and commitment.
CREATE OR REPLACE TRIGGER seeds_are_resealed BEFORE UPDATE ON dealer_vault.seed
    FOR EACH ROW WHEN (
        NEW.hand_id <> OLD.hand_id OR NEW.context <> OLD.context
        OR NEW.commitment <> OLD.commitment OR NEW.nonce = OLD.nonce
        OR NEW.key_id IS NULL OR NEW.key_id IS NOT DISTINCT FROM OLD.key_id
    ) EXECUTE FUNCTION dealer_vault.seeds_stay();
ALTER TABLE dealer_vault.seed ENABLE ALWAYS TRIGGER seeds_are_resealed;

REVOKE ALL ON dealer_vault.seed FROM PUBLIC, sabacc_auditor, sabacc_dealer;
GRANT SELECT, INSERT, UPDATE (key_id, nonce, sealed) ON dealer_vault.seed TO sabacc_dealer;

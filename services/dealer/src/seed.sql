-- The dealer's seeds, sealed under a key that is not in the database. Run by an administrator, any
-- number of times, after the log's roles are there. They have a schema of their own because rights
-- on the logs' schemas are given by the schema, to auditors too.
SELECT pg_advisory_xact_lock(hashtext('dealer_vault'));
CREATE SCHEMA IF NOT EXISTS dealer_vault;
REVOKE ALL ON SCHEMA dealer_vault FROM PUBLIC, sabacc_auditor;
GRANT USAGE ON SCHEMA dealer_vault TO sabacc_dealer;
-- The id is the hand's, the label its context and commitment.
CREATE TABLE IF NOT EXISTS dealer_vault.secret (
    id      bytea PRIMARY KEY CHECK (octet_length(id) = 16),
    label   bytea NOT NULL CHECK (octet_length(label) = 64),
    key_id  bytea NOT NULL CHECK (octet_length(key_id) = 8),
    nonce   bytea NOT NULL CHECK (octet_length(nonce) = 24),
    sealed  bytea NOT NULL CHECK (octet_length(sealed) = 80)
);
COMMENT ON TABLE dealer_vault.secret IS
    'one seed for each hand, ever: rows are added, and sealed again under another key, no more';

CREATE OR REPLACE FUNCTION dealer_vault.seeds_stay() RETURNS trigger LANGUAGE plpgsql AS $stay$
BEGIN
    RAISE EXCEPTION 'a seed that was committed to is neither changed nor lost: % is refused', TG_OP
        USING ERRCODE = 'restrict_violation';
END
$stay$;
CREATE OR REPLACE TRIGGER seeds_stay BEFORE DELETE OR TRUNCATE ON dealer_vault.secret
    FOR EACH STATEMENT EXECUTE FUNCTION dealer_vault.seeds_stay();
ALTER TABLE dealer_vault.secret ENABLE ALWAYS TRIGGER seeds_stay;
-- A resealed row has another key and another nonce, and the same hand and commitment.
CREATE OR REPLACE TRIGGER seeds_are_resealed BEFORE UPDATE ON dealer_vault.secret
    FOR EACH ROW WHEN (
        NEW.id <> OLD.id OR NEW.label <> OLD.label
        OR NEW.nonce = OLD.nonce OR NEW.key_id = OLD.key_id
    ) EXECUTE FUNCTION dealer_vault.seeds_stay();
ALTER TABLE dealer_vault.secret ENABLE ALWAYS TRIGGER seeds_are_resealed;

REVOKE ALL ON dealer_vault.secret FROM PUBLIC, sabacc_auditor, sabacc_dealer;
GRANT SELECT, INSERT, UPDATE (key_id, nonce, sealed) ON dealer_vault.secret TO sabacc_dealer;

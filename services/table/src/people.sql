-- The players' keys, sealed under a key that is not in the database. Run by an administrator, any
-- number of times, after the log's roles are there. They have a schema of their own because rights
-- on the logs' schemas are given by the schema, to auditors too.
SELECT pg_advisory_xact_lock(hashtext('table_people'));
CREATE SCHEMA IF NOT EXISTS table_people;
REVOKE ALL ON SCHEMA table_people FROM PUBLIC, sabacc_auditor;
GRANT USAGE ON SCHEMA table_people TO sabacc_table;
-- The id is the player's, the label empty.
CREATE TABLE IF NOT EXISTS table_people.secret (
    id      bytea PRIMARY KEY CHECK (octet_length(id) = 16),
    label   bytea NOT NULL CHECK (octet_length(label) = 0),
    key_id  bytea NOT NULL CHECK (octet_length(key_id) = 8),
    nonce   bytea NOT NULL CHECK (octet_length(nonce) = 24),
    sealed  bytea NOT NULL CHECK (octet_length(sealed) = 48)
);
COMMENT ON TABLE table_people.secret IS
    'one key for each player: made once, sealed again under another key, deleted at their erasure';
-- Vacuums soon after a deletion, not when a fifth of the table is deleted.
ALTER TABLE table_people.secret SET (
    autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 0
);

CREATE OR REPLACE FUNCTION table_people.keys_stay() RETURNS trigger LANGUAGE plpgsql AS $stay$
BEGIN
    RAISE EXCEPTION 'keys are destroyed one by one, and nobody gets another''s: % is refused', TG_OP
        USING ERRCODE = 'restrict_violation';
END
$stay$;
CREATE OR REPLACE TRIGGER keys_stay BEFORE UPDATE OF id OR TRUNCATE ON table_people.secret
    FOR EACH STATEMENT EXECUTE FUNCTION table_people.keys_stay();
ALTER TABLE table_people.secret ENABLE ALWAYS TRIGGER keys_stay;

REVOKE ALL ON table_people.secret FROM PUBLIC, sabacc_auditor, sabacc_table;
GRANT SELECT, INSERT, DELETE, UPDATE (key_id, nonce, sealed) ON table_people.secret TO sabacc_table;

-- Exactly what each role may do, said anew each time: whatever else was granted is taken back.
DO $grant$
DECLARE
    service text := current_setting('sabacc.service');
    owner text := 'sabacc_' || service;
    roles text := format('%I, sabacc_auditor', owner);
BEGIN
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO %s', current_database(), roles);
    EXECUTE format('REVOKE ALL ON SCHEMA %I FROM PUBLIC, %s', service, roles);
    EXECUTE format('REVOKE ALL ON ALL TABLES IN SCHEMA %I FROM PUBLIC, %s', service, roles);
    EXECUTE format('REVOKE ALL ON ALL FUNCTIONS IN SCHEMA %I FROM PUBLIC, %s', service, roles);
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO %s', service, roles);
    EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO %s', service, roles);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %I.unpack_events(bytea) TO %s', service, roles);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %I.refuse_repeat(uuid) TO %I', service, owner);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %I.log_end(text, bigint) TO %I', service, owner);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %I.thin_checkpoints(text, bigint, bigint) TO %I',
        service, owner);
    EXECUTE format('GRANT INSERT ON %I.logs, %I.authors, %I.event_groups TO %I',
        service, service, service, owner);
    EXECUTE format('GRANT INSERT ON %I.tiles, %I.checkpoints TO %I', service, service, owner);
    EXECUTE format('GRANT INSERT, DELETE ON %I.snapshots TO %I', service, owner);
    EXECUTE format('GRANT INSERT, UPDATE ON %I.owners, %I.leases TO %I', service, service, owner);
END
$grant$

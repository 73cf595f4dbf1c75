-- The schema, the service's role and the auditors' role. Run by an administrator, any number of
-- times. Roles belong to the whole cluster: somebody else may make them at the same moment.
DO $prepare$
DECLARE
    service text := current_setting('sabacc.service');
    password text := current_setting('sabacc.password');
    login text;
BEGIN
    EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', service);
    FOREACH login IN ARRAY ARRAY['sabacc_' || service, 'sabacc_auditor'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = login) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I LOGIN', login);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL;
            END;
        END IF;
    END LOOP;
    IF password <> '' THEN
        FOR attempt IN 1..50 LOOP
            BEGIN
                EXECUTE format('ALTER ROLE %I PASSWORD %L', 'sabacc_' || service, password);
                EXIT;
            EXCEPTION WHEN internal_error THEN
                -- "tuple concurrently updated": from another database of the cluster.
                IF attempt = 50 THEN RAISE; END IF;
                PERFORM pg_sleep(0.02);
            END;
        END LOOP;
    END IF;
END
$prepare$

-- One service's logs. The names are unqualified: the connection's search_path is the service's
-- schema and nothing else.

-- One row a log: who may write, and where. Every append moves size, and only under its epoch.
CREATE TABLE owners (
    log         text PRIMARY KEY,
    epoch       bigint NOT NULL CHECK (epoch > 0),
    size        bigint NOT NULL CHECK (size >= 0),
    owner       text NOT NULL,
    address     text NOT NULL,
    claimed_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    leased_at   timestamptz NOT NULL,
    lease_ends  timestamptz NOT NULL,
    alive_at    bigint CHECK (alive_at >= 0),
    tree        bytea CHECK (octet_length(tree) % 32 = 0)
) WITH (fillfactor = 50);
COMMENT ON COLUMN owners.epoch IS 'random for each ownership';
COMMENT ON COLUMN owners.claimed_at IS 'since when it is its owner''s, by the database''s clock';
COMMENT ON COLUMN owners.leased_at IS 'by the database''s clock: when the lease began';
COMMENT ON COLUMN owners.lease_ends IS 'by the database''s clock';
COMMENT ON COLUMN owners.alive_at IS 'Unix microseconds, by the owner''s clock';
COMMENT ON COLUMN owners.tree IS 'peaks of the Merkle tree at size; NULL is harmless: it is built from the events';

CREATE TABLE events (
    log         text NOT NULL,
    position    bigint NOT NULL CHECK (position >= 0),
    recorded_at bigint NOT NULL CHECK (recorded_at >= 0),
    stream      uuid NOT NULL,
    version     bigint NOT NULL CHECK (version > 0),
    kind        integer NOT NULL CHECK (kind BETWEEN 0 AND 65535),
    schema      integer NOT NULL CHECK (schema BETWEEN 0 AND 65535),
    sealed      boolean NOT NULL,
    payload     bytea NOT NULL,
    previous    bytea NOT NULL CHECK (octet_length(previous) = 32),
    request_id  uuid,
    actor       text NOT NULL,
    trace       bytea NOT NULL CHECK (octet_length(trace) = 16),
    salt        bytea NOT NULL CHECK (octet_length(salt) = 16),
    CONSTRAINT events_position PRIMARY KEY (log, position),
    CONSTRAINT events_version UNIQUE (log, stream, version)
);
COMMENT ON COLUMN events.recorded_at IS 'Unix microseconds';
COMMENT ON COLUMN events.salt IS 'stands before the payload where the leaf record hashes it';
COMMENT ON COLUMN events.previous IS 'SHA-256 of the leaf record before it in its stream; zeros for the first';

-- Answered requests, each caller's own, unique for ever. The key of a UUIDv7 begins with its 48 bits of
-- Unix milliseconds, so ranges of keys are ranges of time: a partition a year. Ids without time share
-- prefixes below all of these and are in the default partition.
CREATE TABLE requests (
    log         text NOT NULL,
    key         uuid NOT NULL,
    digest      bytea NOT NULL CHECK (octet_length(digest) = 32),
    first       bigint NOT NULL CHECK (first >= 0),
    answer      bytea NOT NULL,
    CONSTRAINT requests_id PRIMARY KEY (log, key)
) PARTITION BY RANGE (key);
COMMENT ON COLUMN requests.key IS 'of the caller and the request''s id: crates/eventlog/src/key.rs';

-- Where a log was cut: the events before are in files, but for the last of each stream.
CREATE TABLE archived (
    log         text PRIMARY KEY,
    size        bigint NOT NULL CHECK (size >= 0),
    tree        bytea NOT NULL CHECK (octet_length(tree) % 32 = 0)
);
COMMENT ON COLUMN archived.tree IS 'peaks of the Merkle tree at size: the tree is built from here';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $refuse$
BEGIN
    -- Whoever removes what is archived says so, and needs the right as well.
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'events'
        AND current_setting('sabacc.removes_from', true) = TG_TABLE_SCHEMA THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION 'the log is append-only: % on %.% is refused',
        TG_OP, TG_TABLE_SCHEMA, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$refuse$;

CREATE FUNCTION make_append_only(name regclass) RETURNS void LANGUAGE plpgsql AS $append_only$
BEGIN
    EXECUTE format(
        'CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON %s '
        'FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()', name);
    -- Also where triggers are put off for replication.
    EXECUTE format('ALTER TABLE %s ENABLE ALWAYS TRIGGER append_only', name);
END
$append_only$;

DO $partitions$
DECLARE
    part text;
    ends text;
    begins text := NULL;
BEGIN
    FOR year IN 2026..2045 LOOP
        part := format('requests_%s', year);
        ends := rpad(lpad(to_hex(
            (extract(epoch FROM make_timestamptz(year + 1, 1, 1, 0, 0, 0, 'UTC')) * 1000)::bigint
        ), 12, '0'), 32, '0');
        begins := coalesce(begins, rpad(lpad(to_hex(
            (extract(epoch FROM make_timestamptz(year, 1, 1, 0, 0, 0, 'UTC')) * 1000)::bigint
        ), 12, '0'), 32, '0'));
        EXECUTE format('CREATE TABLE %I PARTITION OF requests FOR VALUES FROM (%L) TO (%L)',
            part, begins::uuid, ends::uuid);
        PERFORM make_append_only(part::regclass);
        begins := ends;
    END LOOP;
    CREATE TABLE requests_other PARTITION OF requests DEFAULT;
END
$partitions$;

SELECT make_append_only(name::regclass)
FROM unnest(ARRAY['events', 'requests', 'requests_other']) AS name;

-- One service's logs. The names are unqualified: the connection's search_path is the service's
-- schema and nothing else.

-- One row a log: who may write. Only a claim changes it. An append locks it until its commit and writes
-- nothing here: a row that each append changed would leave a version for each, and while somebody keeps an
-- old snapshot open, such as a backup, every change would walk past all of them.
CREATE TABLE owners (
    log         text PRIMARY KEY,
    epoch       bigint NOT NULL CHECK (epoch > 0),
    owner       text NOT NULL,
    address     text NOT NULL,
    claimed_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON COLUMN owners.epoch IS 'random for each ownership';
COMMENT ON COLUMN owners.claimed_at IS 'since when it is its owner''s, by the database''s clock';

-- One row a log: how long its owner keeps it without a sign of life. Claims and renewals change it, no append.
CREATE TABLE leases (
    log         text PRIMARY KEY,
    epoch       bigint NOT NULL CHECK (epoch > 0),
    leased_at   timestamptz NOT NULL,
    lease_ends  timestamptz NOT NULL,
    alive_at    bigint CHECK (alive_at >= 0),
    size        bigint NOT NULL DEFAULT 0 CHECK (size >= 0),
    tree        bytea CHECK (octet_length(tree) % 32 = 0)
) WITH (fillfactor = 50);
COMMENT ON COLUMN leases.epoch IS 'owners.epoch: who may renew it';
COMMENT ON COLUMN leases.leased_at IS 'by the database''s clock: when the lease began';
COMMENT ON COLUMN leases.lease_ends IS 'by the database''s clock';
COMMENT ON COLUMN leases.alive_at IS 'Unix microseconds, by the owner''s clock';
COMMENT ON COLUMN leases.size IS 'number of events at the last renewal: the log never has fewer';
COMMENT ON COLUMN leases.tree IS 'peaks of the Merkle tree at size; NULL is harmless: it is built from the events';

-- Names of logs, which rows refer to by number.
CREATE TABLE logs (
    number      smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name        text NOT NULL CONSTRAINT logs_name UNIQUE
);

-- Authors of events, which rows refer to by number.
CREATE TABLE authors (
    number      integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    actor       text NOT NULL CONSTRAINT authors_actor UNIQUE
);
COMMENT ON COLUMN authors.actor IS 'class and subject, such as player:...';

-- A row for the adjacent events of one stream that one command caused: what they have in common stands
-- here once. Read them through the view events. The columns stand in the order that wastes no padding.
CREATE TABLE event_groups (
    position    bigint NOT NULL CHECK (position >= 0),
    recorded_at bigint NOT NULL CHECK (recorded_at >= 0),
    version     bigint NOT NULL CHECK (version > 0),
    author      integer NOT NULL,
    log         smallint NOT NULL,
    count       smallint NOT NULL CHECK (count > 0),
    stream      uuid NOT NULL,
    request_id  uuid,
    trace       uuid,
    key         uuid,
    tag         uuid,
    previous    bytea NOT NULL CHECK (octet_length(previous) = 32),
    content     bytea NOT NULL,
    answer      bytea,
    CONSTRAINT event_groups_position PRIMARY KEY (log, position),
    CONSTRAINT event_groups_version UNIQUE (stream, version, log),
    CONSTRAINT event_groups_answer CHECK ((key IS NULL) = (tag IS NULL) AND (key IS NULL) = (answer IS NULL))
);
-- Answered requests, each caller's own. The key of an id with a time begins with its 48 bits of Unix
-- milliseconds, so the index grows at its end.
CREATE UNIQUE INDEX event_groups_key ON event_groups (key, log) WHERE key IS NOT NULL;
COMMENT ON COLUMN event_groups.position IS 'of the first event';
COMMENT ON COLUMN event_groups.recorded_at IS 'Unix microseconds';
COMMENT ON COLUMN event_groups.version IS 'of the first event, in its stream';
COMMENT ON COLUMN event_groups.author IS 'authors.number';
COMMENT ON COLUMN event_groups.log IS 'logs.number';
COMMENT ON COLUMN event_groups.count IS 'number of events';
COMMENT ON COLUMN event_groups.trace IS 'NULL for a trace id of zeros';
COMMENT ON COLUMN event_groups.key IS 'of the caller and the request''s id (crates/eventlog/src/key.rs), on the first row that a request caused';
COMMENT ON COLUMN event_groups.tag IS 'code over request, content and answer, under a key that is not in the database (crates/eventlog/src/authenticator.rs)';
COMMENT ON COLUMN event_groups.previous IS 'SHA-256 of the leaf record before the first event in its stream; zeros for the first of all';
COMMENT ON COLUMN event_groups.content IS 'for each event: kind u16, schema u16, sealed u8, length of the payload u32, all big-endian, salt of 16 bytes, payload';
COMMENT ON COLUMN event_groups.answer IS 'the request''s first answer';

-- What stays of rows that were archived and removed, where a request caused them: when, who, and its answer
-- unless that is forgotten.
CREATE TABLE archived_groups (
    position    bigint NOT NULL CHECK (position >= 0),
    recorded_at bigint NOT NULL CHECK (recorded_at >= 0),
    author      integer NOT NULL,
    log         smallint NOT NULL,
    count       smallint NOT NULL CHECK (count > 0),
    request_id  uuid NOT NULL,
    key         uuid,
    tag         uuid,
    answer      bytea,
    CONSTRAINT archived_groups_position PRIMARY KEY (log, position),
    CONSTRAINT archived_groups_answer CHECK ((key IS NULL) = (tag IS NULL) AND (key IS NULL) = (answer IS NULL))
);
CREATE UNIQUE INDEX archived_groups_key ON archived_groups (key, log) WHERE key IS NOT NULL;

-- Last archived event of each stream, as its leaf record. Its versions go on from there, and a stream whose
-- events are all archived is not taken for one that never was.
CREATE TABLE stream_ends (
    log         smallint NOT NULL,
    stream      uuid NOT NULL,
    record      bytea NOT NULL CHECK (octet_length(record) = 149),
    CONSTRAINT stream_ends_stream PRIMARY KEY (stream, log)
);
COMMENT ON COLUMN stream_ends.log IS 'logs.number';
COMMENT ON COLUMN stream_ends.record IS 'leaf record; its hash stands in the full tile of its position';

-- Whether the answer goes with its event: a person's id with a time, which tells by itself that it is too old
-- (crates/eventlog/src/key.rs).
CREATE FUNCTION forgets_answer(key uuid) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $forgets$
    SELECT key >= '01000000-0000-0000-0000-000000000000' AND get_byte(uuid_send(key), 6) < 128
$forgets$;

-- Rows of events without them, also of those that were removed. A restored row is here twice.
CREATE VIEW group_heads AS
SELECT log, position, count, recorded_at, request_id, author FROM event_groups
UNION ALL
SELECT log, position, count, recorded_at, request_id, author FROM archived_groups;

-- Number of events of each log: it ends where its last row ends, which is never removed.
CREATE VIEW log_sizes AS
SELECT logs.name AS log, coalesce((
    SELECT position + count FROM event_groups WHERE event_groups.log = logs.number
    ORDER BY position DESC LIMIT 1
), 0) AS size
FROM logs;
COMMENT ON COLUMN log_sizes.size IS 'number of events';

-- Where a log ends, by its rows below a position. The query has a snapshot of its own: it sees what was
-- committed while the statement that calls this waited for a lock, and the rows of that statement itself.
CREATE FUNCTION log_end(of_log text, below bigint) RETURNS bigint LANGUAGE plpgsql VOLATILE STRICT AS $end$
DECLARE
    ends bigint;
BEGIN
    SELECT position + count INTO ends FROM event_groups
    WHERE log = (SELECT number FROM logs WHERE name = of_log) AND position < below
    ORDER BY position DESC LIMIT 1;
    RETURN coalesce(ends, 0);
END
$end$;

-- Refuses a request that is in archived_groups as the index of event_groups refuses others.
CREATE FUNCTION refuse_repeat(key uuid) RETURNS boolean LANGUAGE plpgsql AS $repeat$
BEGIN
    RAISE EXCEPTION 'request % was answered before', key
        USING ERRCODE = 'unique_violation', TABLE = 'event_groups', CONSTRAINT = 'event_groups_key';
END
$repeat$;

-- Events of a row's content, in their order from 0.
CREATE FUNCTION unpack_events(content bytea)
RETURNS TABLE (ordinal integer, kind integer, schema integer, sealed boolean, salt bytea, payload bytea)
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $unpack$
DECLARE
    at integer := 0;
    length integer;
BEGIN
    ordinal := 0;
    WHILE at < octet_length(content) LOOP
        kind := get_byte(content, at) << 8 | get_byte(content, at + 1);
        schema := get_byte(content, at + 2) << 8 | get_byte(content, at + 3);
        sealed := get_byte(content, at + 4) = 1;
        length := get_byte(content, at + 5) << 24 | get_byte(content, at + 6) << 16
            | get_byte(content, at + 7) << 8 | get_byte(content, at + 8);
        salt := substr(content, at + 10, 16);
        payload := substr(content, at + 26, length);
        RETURN NEXT;
        at := at + 25 + length;
        ordinal := ordinal + 1;
    END LOOP;
END
$unpack$;

CREATE VIEW events AS
SELECT logs.name AS log, rows.position + one.ordinal AS position, rows.recorded_at, rows.stream,
    rows.version + one.ordinal AS version, one.kind, one.schema, one.sealed, one.payload,
    CASE WHEN one.ordinal = 0 THEN rows.previous END AS previous, rows.request_id, authors.actor,
    coalesce(rows.trace, '00000000-0000-0000-0000-000000000000') AS trace, one.salt,
    rows.position AS first
FROM event_groups AS rows
JOIN logs ON logs.number = rows.log
JOIN authors ON authors.number = rows.author
CROSS JOIN LATERAL unpack_events(rows.content) AS one;
COMMENT ON VIEW events IS 'Every event, a row each. Ask by stream, or by log and first: a row of the table holds events from position first on.';
COMMENT ON COLUMN events.recorded_at IS 'Unix microseconds';
COMMENT ON COLUMN events.salt IS 'stands before the payload where the leaf record hashes it: half random, half a code by which the owner knows its own events';
COMMENT ON COLUMN events.previous IS 'SHA-256 of the leaf record before it in its stream, zeros for the first of all; NULL where the event before it stands in the same row';
COMMENT ON COLUMN events.first IS 'position of the first event of its row: an index finds it together with log';

-- Where a log was cut: the events before are in files.
CREATE TABLE archived (
    log         text PRIMARY KEY,
    size        bigint NOT NULL CHECK (size >= 0),
    tree        bytea NOT NULL CHECK (octet_length(tree) % 32 = 0),
    forgotten   uuid
);
COMMENT ON COLUMN archived.tree IS 'peaks of the Merkle tree at size: the tree is built from here';
COMMENT ON COLUMN archived.forgotten IS 'greatest key of a request whose answer went with its event; never becomes smaller';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $refuse$
BEGIN
    -- Whoever removes what is archived, or checkpoints by their function, says so, and needs the right as well.
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('event_groups', 'checkpoints')
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

SELECT make_append_only(name::regclass)
FROM unnest(ARRAY['logs', 'authors', 'event_groups', 'archived_groups']) AS name;

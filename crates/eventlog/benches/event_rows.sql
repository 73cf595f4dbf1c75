-- The yardstick of measurements: a row for each event and one for each request, with the columns, checks and
-- keys that the log had before rows of several events. The connection's search_path says where.
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
    PRIMARY KEY (log, position),
    UNIQUE (log, stream, version)
);
CREATE TABLE requests (
    log         text NOT NULL,
    key         uuid NOT NULL,
    digest      bytea NOT NULL CHECK (octet_length(digest) = 32),
    first       bigint NOT NULL CHECK (first >= 0),
    answer      bytea NOT NULL,
    PRIMARY KEY (log, key)
);

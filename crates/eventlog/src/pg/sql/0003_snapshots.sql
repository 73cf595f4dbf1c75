-- State of a service as of some sizes of its log, so that it starts without reading all of it. Believed only
-- where an event of the log has its SHA-256. Without snapshots a start takes longer, and nothing else.
CREATE TABLE snapshots (
    log         text NOT NULL,
    size        bigint NOT NULL CHECK (size > 0),
    named_at    bigint NOT NULL CHECK (named_at >= 0),
    piece       integer NOT NULL CHECK (piece >= 0),
    bytes       bytea NOT NULL,
    CONSTRAINT snapshots_piece PRIMARY KEY (log, size, piece)
);
-- Stored as it is given: it is read whole, at start.
ALTER TABLE snapshots ALTER COLUMN bytes SET STORAGE EXTERNAL;
COMMENT ON COLUMN snapshots.size IS 'number of events that it is of';
COMMENT ON COLUMN snapshots.named_at IS 'position of the event that has its SHA-256';
COMMENT ON COLUMN snapshots.piece IS 'pieces in their order are the snapshot';

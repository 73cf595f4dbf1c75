-- What a log shows of itself: full tiles of its Merkle tree, and the checkpoints that were signed.

CREATE TABLE tiles (
    log         text NOT NULL,
    level       integer NOT NULL CHECK (level BETWEEN 0 AND 63),
    index       bigint NOT NULL CHECK (index >= 0),
    hashes      bytea NOT NULL CHECK (octet_length(hashes) = 8192),
    CONSTRAINT tiles_place PRIMARY KEY (log, level, index)
);
COMMENT ON COLUMN tiles.hashes IS '256 of 32 bytes: C2SP tlog-tiles';

CREATE TABLE checkpoints (
    log         text NOT NULL,
    number      bigint NOT NULL CHECK (number > 0),
    size        bigint NOT NULL CHECK (size >= 0),
    note        text NOT NULL,
    CONSTRAINT checkpoints_number PRIMARY KEY (log, number)
);
COMMENT ON COLUMN checkpoints.number IS 'without gaps: who signs after the same checkpoint as another is refused';

SELECT make_append_only(name::regclass) FROM unnest(ARRAY['tiles', 'checkpoints']) AS name;

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
    recorded_at bigint NOT NULL CHECK (recorded_at >= 0),
    note        text NOT NULL,
    CONSTRAINT checkpoints_number PRIMARY KEY (log, number)
);
COMMENT ON COLUMN checkpoints.number IS 'given in order, each once: who signs after the same checkpoint as another is refused';
COMMENT ON COLUMN checkpoints.recorded_at IS 'when the last record under it was recorded, in Unix microseconds';

-- Removes the checkpoints from a number on, up to a time, but for the last of each minute, and none of the
-- last hour, whoever asks. Returns the number of the last one up to that time, or the number before the first
-- that was asked for.
CREATE FUNCTION thin_checkpoints(of_log text, first bigint, until bigint) RETURNS bigint LANGUAGE plpgsql
    SECURITY DEFINER AS $thin$
DECLARE
    old_before bigint := least(until, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - 3600000000);
    last bigint;
BEGIN
    SELECT number INTO last FROM checkpoints
    WHERE log = of_log AND number >= first AND recorded_at < old_before ORDER BY number DESC LIMIT 1;
    IF last IS NULL THEN
        RETURN first - 1;
    END IF;
    PERFORM set_config('sabacc.removes_from', current_schema(), true);
    DELETE FROM checkpoints AS old USING (
        SELECT number, recorded_at / 60000000
            = lead(recorded_at / 60000000) OVER (ORDER BY number) AS is_followed
        FROM checkpoints WHERE log = of_log AND number BETWEEN first AND last AND recorded_at < old_before
    ) AS minutes
    WHERE old.log = of_log AND old.number = minutes.number AND minutes.is_followed;
    PERFORM set_config('sabacc.removes_from', '', true);
    RETURN last;
END
$thin$;

-- It has its maker's rights, so it must not find another's tables first.
DO $path$
BEGIN
    EXECUTE format('ALTER FUNCTION thin_checkpoints(text, bigint, bigint) SET search_path = %I, pg_temp',
        current_schema());
END
$path$;

SELECT make_append_only(name::regclass) FROM unnest(ARRAY['tiles', 'checkpoints']) AS name;

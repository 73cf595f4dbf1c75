-- Hands of each player, for lists of their own: a fold of the table's log, written by a task that
-- follows it. They can be made anew at any time (`sabacc migrate --rebuild`), and are where they do not
-- fit the log's size. Nothing starts from them and nothing is decided by them.

CREATE TABLE followed (
    log     text PRIMARY KEY,
    size    bigint NOT NULL CHECK (size >= 0)
);
COMMENT ON TABLE followed IS 'How far the tables of hands go.';
COMMENT ON COLUMN followed.log IS 'The log they follow from.';
COMMENT ON COLUMN followed.size IS 'The number of its events that are in them.';

CREATE TABLE hand_tables (
    table_id    uuid PRIMARY KEY,
    name        text NOT NULL,
    variant     text NOT NULL
);
COMMENT ON TABLE hand_tables IS 'Every table that was ever opened.';
COMMENT ON COLUMN hand_tables.table_id IS 'The table''s id.';
COMMENT ON COLUMN hand_tables.name IS 'Its name.';
COMMENT ON COLUMN hand_tables.variant IS 'The game.';

CREATE TABLE hand_seats (
    player      uuid NOT NULL,
    started_at  bigint NOT NULL,
    position    bigint NOT NULL,
    table_id    uuid NOT NULL,
    hand_no     bigint NOT NULL,
    hand_id     uuid NOT NULL,
    seat        integer NOT NULL,
    stack       bigint NOT NULL,
    net         bigint NOT NULL,
    outcome     smallint NOT NULL,
    ended_at    bigint,
    CONSTRAINT hand_seats_key PRIMARY KEY (player, started_at, position)
);
CREATE INDEX hand_seats_hand ON hand_seats (hand_id);
CREATE INDEX hand_seats_open ON hand_seats (table_id) WHERE outcome = 1;
COMMENT ON TABLE hand_seats IS 'Every hand of every player who was dealt into it.';
COMMENT ON COLUMN hand_seats.player IS 'The player.';
COMMENT ON COLUMN hand_seats.started_at IS 'When the hand was opened: Unix microseconds.';
COMMENT ON COLUMN hand_seats.position IS 'Position of its HandOpened in the log.';
COMMENT ON COLUMN hand_seats.table_id IS 'The table.';
COMMENT ON COLUMN hand_seats.hand_no IS 'The hand''s number.';
COMMENT ON COLUMN hand_seats.hand_id IS 'The hand''s id.';
COMMENT ON COLUMN hand_seats.seat IS 'The player''s seat.';
COMMENT ON COLUMN hand_seats.stack IS 'The player''s credits at the table before the hand.';
COMMENT ON COLUMN hand_seats.net IS 'Credits that the hand moved for the player; 0 while it is in play.';
COMMENT ON COLUMN hand_seats.outcome IS '1 in play, 2 played, 3 burnt, 4 agreed, 5 suspended too long, 6 missing.';
COMMENT ON COLUMN hand_seats.ended_at IS 'When its end was recorded: Unix microseconds.';

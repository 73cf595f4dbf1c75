-- The wallet's books in SQL: a fold of its log, written in the statement that appends to it. They can
-- be emptied at any time: the wallet builds them anew when it starts.

CREATE TABLE projected (
    log     text PRIMARY KEY,
    size    bigint NOT NULL CHECK (size >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE projected IS 'How far these tables go: where size is not the log''s, or the row is missing, they are built anew when the wallet starts.';
COMMENT ON COLUMN projected.log IS 'The log they are built from.';
COMMENT ON COLUMN projected.size IS 'The number of its events that are in them.';

CREATE TABLE accounts (
    number      integer NOT NULL CONSTRAINT accounts_number PRIMARY KEY,
    name        text NOT NULL CONSTRAINT accounts_name UNIQUE,
    player      uuid,
    table_id    uuid,
    opened      bigint NOT NULL
);
CREATE INDEX accounts_seats ON accounts (player) WHERE table_id IS NOT NULL;
COMMENT ON TABLE accounts IS 'Every account that was ever opened. A row never changes.';
COMMENT ON COLUMN accounts.number IS '0 house/issuance, 1 house/rake, then in the order of opening.';
COMMENT ON COLUMN accounts.name IS 'player/ID, seat/TABLE/PLAYER, pot/TABLE/sabacc, pot/TABLE/carried, house/issuance or house/rake.';
COMMENT ON COLUMN accounts.player IS 'Whose credits these are, for players'' accounts and seats.';
COMMENT ON COLUMN accounts.table_id IS 'The table it belongs to, for seats and pots.';
COMMENT ON COLUMN accounts.opened IS 'Position of the event that opened it; 0 for the house''s, which were always there.';

CREATE TABLE entries (
    position    bigint NOT NULL,
    amount      bigint NOT NULL,
    balance     bigint NOT NULL,
    account     integer NOT NULL,
    other       integer,
    kind        smallint NOT NULL,
    reason      text,
    CONSTRAINT entries_position PRIMARY KEY (account, position)
);
COMMENT ON TABLE entries IS 'What every transfer did to every account: one row a leg. The last entry of an account holds its balance. When it was recorded, its transfer''s id and who asked are columns of events, at the same position.';
COMMENT ON COLUMN entries.position IS 'Position of the transfer in the log.';
COMMENT ON COLUMN entries.amount IS 'Credits: negative leaves the account.';
COMMENT ON COLUMN entries.balance IS 'The account''s credits after it.';
COMMENT ON COLUMN entries.account IS 'The account''s number.';
COMMENT ON COLUMN entries.other IS 'The number of the other account where the transfer has two legs.';
COMMENT ON COLUMN entries.kind IS '1 issue, 2 redeem, 3 buy-in, 4 cash-out, 5 settlement, 6 pot refund, 7 adjustment, 8 capture.';
COMMENT ON COLUMN entries.reason IS 'An operator''s reason.';

CREATE TABLE states (
    account         integer NOT NULL CONSTRAINT states_account PRIMARY KEY,
    held            bigint NOT NULL CHECK (held >= 0),
    frozen          boolean NOT NULL,
    closed          boolean NOT NULL,
    excluded_until  bigint,
    extra           bytea NOT NULL
) WITH (fillfactor = 70);
COMMENT ON TABLE states IS 'What accounts have beside a balance; those that never had anything have no row.';
COMMENT ON COLUMN states.account IS 'The account''s number.';
COMMENT ON COLUMN states.held IS 'Credits of its balance that are held.';
COMMENT ON COLUMN states.frozen IS 'Nothing leaves it.';
COMMENT ON COLUMN states.closed IS 'Closed for good.';
COMMENT ON COLUMN states.excluded_until IS 'The player keeps himself from play until then: Unix microseconds; 9223372036854775807: for good.';
COMMENT ON COLUMN states.extra IS 'Limits and the buy-ins that count against them, as the wallet reads them back.';

CREATE TABLE holds (
    id          uuid NOT NULL CONSTRAINT holds_id PRIMARY KEY,
    account     integer NOT NULL,
    destination text NOT NULL,
    amount      bigint NOT NULL,
    remaining   bigint NOT NULL,
    state       smallint NOT NULL,
    expires_at  bigint NOT NULL,
    changed     bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX holds_pending ON holds (expires_at) WHERE state = 1;
COMMENT ON TABLE holds IS 'Every hold, and what became of it.';
COMMENT ON COLUMN holds.id IS 'The request it was placed under.';
COMMENT ON COLUMN holds.account IS 'The number of the account that it holds credits of.';
COMMENT ON COLUMN holds.destination IS 'The name of the account that captures pay to.';
COMMENT ON COLUMN holds.amount IS 'Credits when it was placed.';
COMMENT ON COLUMN holds.remaining IS 'Credits that are still held.';
COMMENT ON COLUMN holds.state IS '1 pending, 2 captured, 3 released, 4 expired.';
COMMENT ON COLUMN holds.expires_at IS 'When it expires by itself: Unix microseconds.';
COMMENT ON COLUMN holds.changed IS 'Position of the last event about it.';

CREATE TABLE adjustments (
    id          uuid NOT NULL CONSTRAINT adjustments_id PRIMARY KEY,
    account     text NOT NULL,
    amount      bigint NOT NULL,
    reason      text NOT NULL,
    proposed_by text NOT NULL,
    proposed    bigint NOT NULL,
    state       smallint NOT NULL,
    changed     bigint NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX adjustments_waiting ON adjustments (proposed) WHERE state = 1;
COMMENT ON TABLE adjustments IS 'Every adjustment that was proposed, and what became of it.';
COMMENT ON COLUMN adjustments.id IS 'The request it was proposed under.';
COMMENT ON COLUMN adjustments.account IS 'The name of the account that is set right.';
COMMENT ON COLUMN adjustments.amount IS 'Credits: negative takes them from the account.';
COMMENT ON COLUMN adjustments.reason IS 'Why, in the words of who proposed it.';
COMMENT ON COLUMN adjustments.proposed_by IS 'Who proposed it.';
COMMENT ON COLUMN adjustments.proposed IS 'Position of the proposal in the log.';
COMMENT ON COLUMN adjustments.state IS '1 waits, 2 approved, 3 rejected.';
COMMENT ON COLUMN adjustments.changed IS 'Position of the last event about it.';

CREATE VIEW balances AS
SELECT accounts.name AS account, accounts.player, accounts.table_id,
    coalesce(last.balance, 0) AS balance, coalesce(states.held, 0) AS held,
    coalesce(last.balance, 0) - coalesce(states.held, 0) AS available,
    coalesce(states.frozen, false) AS frozen, coalesce(states.closed, false) AS closed,
    CASE WHEN states.excluded_until = 9223372036854775807 THEN 'infinity'::timestamptz
        ELSE to_timestamp(states.excluded_until / 1000000.0) END AS excluded_until
FROM accounts
LEFT JOIN states ON states.account = accounts.number
LEFT JOIN LATERAL (
    SELECT entries.balance FROM entries WHERE entries.account = accounts.number
    ORDER BY entries.position DESC LIMIT 1
) AS last ON true;
COMMENT ON VIEW balances IS 'What is on every account now. They sum to zero.';
COMMENT ON COLUMN balances.account IS 'The account''s name.';
COMMENT ON COLUMN balances.player IS 'Whose credits these are.';
COMMENT ON COLUMN balances.table_id IS 'The table it belongs to.';
COMMENT ON COLUMN balances.balance IS 'Credits on it; negative for house/issuance alone.';
COMMENT ON COLUMN balances.held IS 'Credits of it that are held.';
COMMENT ON COLUMN balances.available IS 'Credits that can be used.';
COMMENT ON COLUMN balances.frozen IS 'Nothing leaves it.';
COMMENT ON COLUMN balances.closed IS 'Closed for good.';
COMMENT ON COLUMN balances.excluded_until IS 'The player keeps himself from play until then; infinity: for good.';

CREATE VIEW statement AS
SELECT accounts.name AS account, entries.position,
    to_timestamp(events.recorded_at / 1000000.0) AS recorded_at,
    (ARRAY['issue', 'redeem', 'buy-in', 'cash-out', 'settlement', 'pot refund', 'adjustment', 'capture'])[entries.kind] AS kind,
    entries.amount, entries.balance, others.name AS other, events.request_id AS transfer_id,
    entries.reason, events.actor
FROM entries
JOIN accounts ON accounts.number = entries.account
JOIN projected ON true
JOIN events ON events.log = projected.log AND events.position = entries.position
LEFT JOIN accounts AS others ON others.number = entries.other;
COMMENT ON VIEW statement IS 'Every entry of every account, with what its transfer is known by. Ask for one account: WHERE account = ''player/...'' ORDER BY position.';
COMMENT ON COLUMN statement.account IS 'The account''s name.';
COMMENT ON COLUMN statement.position IS 'Position of the transfer in the log.';
COMMENT ON COLUMN statement.recorded_at IS 'When it was recorded.';
COMMENT ON COLUMN statement.kind IS 'What the transfer was for.';
COMMENT ON COLUMN statement.amount IS 'Credits: negative leaves the account.';
COMMENT ON COLUMN statement.balance IS 'The account''s credits after it.';
COMMENT ON COLUMN statement.other IS 'The other account where the transfer has two legs.';
COMMENT ON COLUMN statement.transfer_id IS 'The request the transfer was posted under; a settlement''s is its hand''s id.';
COMMENT ON COLUMN statement.reason IS 'An operator''s reason.';
COMMENT ON COLUMN statement.actor IS 'Who asked for it.';

CREATE VIEW pending_holds AS
SELECT holds.id, accounts.name AS account, holds.destination, holds.amount, holds.remaining,
    to_timestamp(holds.expires_at / 1000000.0) AS expires_at
FROM holds JOIN accounts ON accounts.number = holds.account WHERE holds.state = 1;
COMMENT ON VIEW pending_holds IS 'The holds that hold now.';
COMMENT ON COLUMN pending_holds.id IS 'The request it was placed under.';
COMMENT ON COLUMN pending_holds.account IS 'The name of the account that it holds credits of.';
COMMENT ON COLUMN pending_holds.destination IS 'The name of the account that captures pay to.';
COMMENT ON COLUMN pending_holds.amount IS 'Credits when it was placed.';
COMMENT ON COLUMN pending_holds.remaining IS 'Credits that are still held.';
COMMENT ON COLUMN pending_holds.expires_at IS 'When it expires by itself.';

CREATE VIEW pending_adjustments AS
SELECT adjustments.id, adjustments.account, adjustments.amount, adjustments.reason,
    adjustments.proposed_by, to_timestamp(events.recorded_at / 1000000.0) AS proposed_at
FROM adjustments
JOIN projected ON true
JOIN events ON events.log = projected.log AND events.position = adjustments.proposed
WHERE adjustments.state = 1;
COMMENT ON VIEW pending_adjustments IS 'The adjustments that wait for another operator.';
COMMENT ON COLUMN pending_adjustments.id IS 'The request it was proposed under.';
COMMENT ON COLUMN pending_adjustments.account IS 'The name of the account that is set right.';
COMMENT ON COLUMN pending_adjustments.amount IS 'Credits: negative takes them from the account.';
COMMENT ON COLUMN pending_adjustments.reason IS 'Why, in the words of who proposed it.';
COMMENT ON COLUMN pending_adjustments.proposed_by IS 'Who proposed it.';
COMMENT ON COLUMN pending_adjustments.proposed_at IS 'When.';

-- The wallet's books in SQL: a fold of its log, written in the statement that appends to it. They can
-- be made anew at any time: `sabacc migrate --rebuild`, and the wallet does it when it starts. It believes
-- none of them: it compares them with its log.

CREATE TABLE projected (
    log     text PRIMARY KEY,
    size    bigint CHECK (size >= 0)
) WITH (fillfactor = 50);
COMMENT ON TABLE projected IS 'How far these tables go: where size is a number, or the row is missing, they are built anew when the wallet starts.';
COMMENT ON COLUMN projected.log IS 'The log they are built from.';
COMMENT ON COLUMN projected.size IS 'NULL: they have all of its events, since the statement that writes an event writes its rows. A number while they are built: so many of its events are in them.';

CREATE VIEW covered AS
SELECT projected.log, coalesce(projected.size, log_sizes.size, 0) AS size
FROM projected LEFT JOIN log_sizes USING (log);
COMMENT ON VIEW covered IS 'How many events are in these tables now.';
COMMENT ON COLUMN covered.log IS 'The log they are built from.';
COMMENT ON COLUMN covered.size IS 'The number of its events that are in them.';

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
COMMENT ON COLUMN accounts.name IS 'player/ID, seat/TABLE/PLAYER, pot/TABLE/sabacc, pot/TABLE/carried, house/issuance, house/rake or house/suspense.';
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
COMMENT ON TABLE entries IS 'What every transfer did to every account: one row a leg. The last entry of an account holds its balance. When it was recorded, its transfer''s id and who asked stand in the view events, at the same position.';
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
    excluded_until  bigint
) WITH (fillfactor = 70);
COMMENT ON TABLE states IS 'What accounts have beside a balance; those that never had anything have no row.';
COMMENT ON COLUMN states.account IS 'The account''s number.';
COMMENT ON COLUMN states.held IS 'Credits of its balance that are held.';
COMMENT ON COLUMN states.frozen IS 'Nothing leaves it.';
COMMENT ON COLUMN states.closed IS 'Closed for good.';
COMMENT ON COLUMN states.excluded_until IS 'The player keeps himself from play until then: Unix microseconds; 9223372036854775807: for good.';

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

-- What was written of a transfer stays. Whoever makes the tables anew says so; the service's role can do
-- that by the functions below alone, since it has no right to change or remove such rows itself.
CREATE FUNCTION refuse_edit() RETURNS trigger LANGUAGE plpgsql AS $refuse$
BEGIN
    IF current_setting('sabacc.rebuilds', true) = TG_TABLE_SCHEMA THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION '%.% says what the log says: % is refused',
        TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$refuse$;

CREATE TRIGGER no_edit BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_edit();
ALTER TABLE entries ENABLE ALWAYS TRIGGER no_edit;
CREATE TRIGGER no_edit BEFORE UPDATE OR DELETE OR TRUNCATE ON accounts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_edit();
ALTER TABLE accounts ENABLE ALWAYS TRIGGER no_edit;

-- Empties the tables for the log's owner of this epoch, who builds them anew; false where that is
-- another's by now.
CREATE FUNCTION empty_tables(of_log text, of_epoch bigint) RETURNS boolean LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = wallet, pg_temp AS $empty$
BEGIN
    PERFORM FROM owners WHERE log = of_log AND epoch = of_epoch FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM set_config('sabacc.rebuilds', 'wallet', true);
    TRUNCATE projected, accounts, entries, states, holds, adjustments;
    INSERT INTO projected (log, size) VALUES (of_log, 0);
    PERFORM set_config('sabacc.rebuilds', '', true);
    RETURN true;
END
$empty$;

-- Removes what somebody put where entries of the log's next events go.
CREATE FUNCTION clear_entries_ahead(of_log text) RETURNS void LANGUAGE plpgsql
    SECURITY DEFINER SET search_path = wallet, pg_temp AS $clear$
BEGIN
    PERFORM set_config('sabacc.rebuilds', 'wallet', true);
    -- From account to account by the only index: the whole table would take longer than an append may.
    WITH RECURSIVE numbers AS (
        (SELECT account FROM entries ORDER BY account LIMIT 1)
        UNION ALL
        SELECT (SELECT e.account FROM entries AS e WHERE e.account > n.account
            ORDER BY e.account LIMIT 1)
        FROM numbers AS n WHERE n.account IS NOT NULL
    ), ahead AS MATERIALIZED (
        SELECT n.account, e.position FROM numbers AS n
        CROSS JOIN LATERAL (SELECT position FROM entries WHERE account = n.account
            AND position >= (SELECT size FROM log_sizes WHERE log = of_log)
            ORDER BY position) AS e
        WHERE n.account IS NOT NULL
    )
    DELETE FROM entries USING ahead
    WHERE entries.account = ahead.account AND entries.position = ahead.position;
    PERFORM set_config('sabacc.rebuilds', '', true);
END
$clear$;

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
    entries.reason, authors.actor
FROM entries
JOIN accounts ON accounts.number = entries.account
JOIN projected ON true
JOIN logs ON logs.name = projected.log
CROSS JOIN LATERAL (
    SELECT one.position + one.count AS ends, one.recorded_at, one.request_id, one.author
    FROM group_heads AS one WHERE one.log = logs.number AND one.position <= entries.position
    ORDER BY one.position DESC LIMIT 1
) AS events
JOIN authors ON authors.number = events.author
LEFT JOIN accounts AS others ON others.number = entries.other
WHERE events.ends > entries.position;
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
JOIN logs ON logs.name = projected.log
CROSS JOIN LATERAL (
    SELECT one.position + one.count AS ends, one.recorded_at
    FROM group_heads AS one WHERE one.log = logs.number AND one.position <= adjustments.proposed
    ORDER BY one.position DESC LIMIT 1
) AS events
WHERE adjustments.state = 1 AND events.ends > adjustments.proposed;
COMMENT ON VIEW pending_adjustments IS 'The adjustments that wait for another operator.';
COMMENT ON COLUMN pending_adjustments.id IS 'The request it was proposed under.';
COMMENT ON COLUMN pending_adjustments.account IS 'The name of the account that is set right.';
COMMENT ON COLUMN pending_adjustments.amount IS 'Credits: negative takes them from the account.';
COMMENT ON COLUMN pending_adjustments.reason IS 'Why, in the words of who proposed it.';
COMMENT ON COLUMN pending_adjustments.proposed_by IS 'Who proposed it.';
COMMENT ON COLUMN pending_adjustments.proposed_at IS 'When.';

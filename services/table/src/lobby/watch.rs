//! A watcher of the list: which messages come next.
//!
//! A round sends all changes between two numbers. Rounds begin [`ROUND_INTERVAL`] apart at least, and
//! a table has one change in each, its last. The number of the last change that was sent is in the
//! resume token, so another watcher with the same filter goes on behind it.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use primitives::TableId;
use proto::table::v1 as pb;
use proto::table::v1::watch_lobby_response::Message;
use tokio::sync::watch as latest;
use tokio::time::Instant;
use wire::BadField;

use super::index::{WatchedTable, WatcherChange};
use super::{Filter, Lobby};

/// Least time between the beginnings of two rounds of a watcher.
pub(super) const ROUND_INTERVAL: Duration = Duration::from_secs(1);
/// Messages that are made at one time.
const PAGE: usize = 64;
/// Changes of the first round that cost one unit of calls.
const CHANGES_PER_UNIT: usize = 128;
/// Bytes of a resume token: a form, the number of a change, the tag of the filter.
const TOKEN_BYTES: usize = 17;
/// Form of resume tokens.
const TOKEN_FORM: u8 = 1;

/// State of a watcher.
pub(crate) struct LobbyWatch {
    lobby: Lobby,
    filter: Filter,
    changed: latest::Receiver<u64>,
    /// Messages that are made and not taken, each with the number that its token has.
    ready: VecDeque<(u64, Message)>,
    /// Number up to which all changes are in the messages.
    queued_until: u64,
    /// Number in the token of the last message that was taken.
    taken_until: u64,
    /// Last change of this round.
    round_end: u64,
    next_round_at: Instant,
    round: Round,
    /// Tables that a watcher of their own tables was sent and not taken back; known after the first
    /// round.
    own_tables: BTreeSet<TableId>,
}

/// Round of a watcher.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    /// The first, of a list that begins: nothing was sent before.
    Listing,
    /// The first behind a resume token: what was sent before is not known.
    Resumed,
    Later,
}

impl LobbyWatch {
    /// Watches from a resume token on; an empty one begins anew.
    ///
    /// # Errors
    /// The token is not one of this list, or of another filter.
    pub(crate) fn new(lobby: Lobby, filter: Filter, token: &[u8]) -> Result<LobbyWatch, BadField> {
        let changed = lobby.0.changed.subscribe();
        let last = lobby.read(|index| index.last_change());
        let resumed = parse_token(token, &filter, last)?;
        let resumed = resumed.filter(|from| lobby.read(|index| index.goes_on_from(*from)));
        let own = |from| lobby.read(|index| index.unchanged_since(&filter, from));
        let own_tables = match (resumed, filter.player()) {
            (Some(from), Some(_)) => own(from).into_iter().collect(),
            (None, _) | (_, None) => BTreeSet::new(),
        };
        let mut watch = LobbyWatch {
            changed,
            ready: VecDeque::new(),
            queued_until: resumed.unwrap_or(0),
            taken_until: resumed.unwrap_or(0),
            round_end: last,
            next_round_at: Instant::now() + ROUND_INTERVAL,
            round: if resumed.is_some() { Round::Resumed } else { Round::Listing },
            own_tables,
            lobby,
            filter,
        };
        if resumed.is_none() {
            watch.ready.push_back((0, Message::Started(pb::LobbyStarted {})));
        }
        Ok(watch)
    }

    /// Units that the first round costs on top of the call's own.
    #[must_use]
    pub(crate) fn units(&self) -> u32 {
        let (from, until) = (self.queued_until, self.round_end);
        let changes = self.lobby.read(|index| index.count_changes(from, until));
        u32::try_from(changes / CHANGES_PER_UNIT).unwrap_or(u32::MAX)
    }

    /// The next message about the list. Cancel safe.
    pub(crate) async fn next(&mut self) -> pb::WatchLobbyResponse {
        loop {
            if let Some((number, message)) = self.ready.pop_front() {
                self.taken_until = number;
                return self.message_at(message, number);
            }
            if self.queued_until < self.round_end {
                self.make_page();
            } else if self.round != Round::Later {
                self.round = Round::Later;
                self.ready.push_back((self.queued_until, Message::CaughtUp(pb::CaughtUp {})));
            } else {
                self.start_round().await;
            }
        }
    }

    /// Message beside the list, from which a watcher goes on behind what was taken.
    pub(crate) fn message(&self, message: Message) -> pb::WatchLobbyResponse {
        let all_taken = self.ready.is_empty();
        self.message_at(message, if all_taken { self.queued_until } else { self.taken_until })
    }

    /// Waits for a change, and for the time of the next round.
    async fn start_round(&mut self) {
        let queued_until = self.queued_until;
        if self.changed.wait_for(|last| *last > queued_until).await.is_err() {
            return std::future::pending().await;
        }
        tokio::time::sleep_until(self.next_round_at).await;
        self.next_round_at = Instant::now() + ROUND_INTERVAL;
        self.round_end = *self.changed.borrow();
    }

    fn make_page(&mut self) {
        let (from, until) = (self.queued_until, self.round_end);
        let (changes, queued_until) =
            self.lobby.read(|index| index.changes(&self.filter, from, until, PAGE));
        for WatcherChange { number, table, what } in changes {
            if let Some(message) = self.message_of(table, what) {
                self.ready.push_back((number, message));
            }
        }
        self.queued_until = queued_until;
    }

    /// Message of a change; `None` where the watcher has nothing of it.
    fn message_of(&mut self, table: TableId, what: WatchedTable) -> Option<Message> {
        let reason = match what {
            WatchedTable::Listed(summary) => {
                if self.filter.player().is_some() {
                    self.own_tables.insert(table);
                }
                return Some(Message::Table(*summary));
            }
            WatchedTable::Filtered => pb::DelistReason::Filtered,
            WatchedTable::Closed => pb::DelistReason::Closed,
        };
        let was_listed = match (self.round, self.filter.player()) {
            (Round::Listing, _) => false,
            (Round::Later, Some(_)) => self.own_tables.contains(&table),
            (Round::Resumed, _) | (Round::Later, None) => true,
        };
        self.own_tables.remove(&table);
        let delisted = pb::TableDelisted { table_id: table.to_string(), reason: reason.into() };
        was_listed.then_some(Message::Delisted(delisted))
    }

    fn message_at(&self, message: Message, number: u64) -> pb::WatchLobbyResponse {
        let resume_token = token(number, &self.filter);
        pb::WatchLobbyResponse { message: Some(message), resume_token }
    }
}

fn token(number: u64, filter: &Filter) -> Vec<u8> {
    [&[TOKEN_FORM][..], &number.to_be_bytes(), &filter.tag].concat()
}

/// Number in a resume token; `None` for an empty one.
fn parse_token(token: &[u8], filter: &Filter, last: u64) -> Result<Option<u64>, BadField> {
    if token.is_empty() {
        return Ok(None);
    }
    let bad = |problem| BadField::new("resume_token", problem);
    let foreign = "not one of ours: send what the last message gave, or nothing";
    let token: &[u8; TOKEN_BYTES] = token.try_into().map_err(|_| bad(foreign))?;
    let [form, rest @ ..] = token;
    let (number, tag) = rest.split_at(8);
    if *form != TOKEN_FORM {
        return Err(bad(foreign));
    }
    if tag != filter.tag {
        return Err(bad("of another filter: send the same one, or no token"));
    }
    let number = number.try_into().map(u64::from_be_bytes).map_err(|_| bad(foreign))?;
    // It names a change that is not on record.
    if number > last {
        return Err(bad(foreign));
    }
    Ok(Some(number))
}

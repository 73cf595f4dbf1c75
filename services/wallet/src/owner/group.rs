//! A group: commands decided together in memory, without waiting.
//!
//! Specification: ARCHITECTURE.md §2.5.

use std::collections::BTreeMap;

use eventlog::{Entry, NewEvent, Position, Recall, Request as LogRequest, RequestKey};
use ledger::{
    Account, AllLimitTerms, Command, Event, Kind, Ledger, LimitSetter, Refusal, Undo, decide,
    evolve,
};
use primitives::{PlayerId, UnixMicros};

use sha2::{Digest as _, Sha256};

use super::lookups::{RequestInFlight, StoredRequests};
use super::quotas::Quotas;
use super::snapshots::Snapshot;
use crate::answer::{self, Answer, AnswerContent};
use crate::command::{Request, RequestContent};
use crate::rows::{Rows, StateRow};
use crate::wallet::{Author, KeyedRequest, Outcome, WalletError};

/// A group that is being decided.
pub(super) struct GroupBuilder<'a> {
    ledger: &'a mut Ledger,
    requests_in_flight: &'a mut BTreeMap<RequestKey, RequestInFlight>,
    next: Position,
    at: UnixMicros,
    entries: Vec<Entry>,
    keys: Vec<RequestKey>,
    rows: Rows,
    snapshot: Option<Snapshot>,
    quotas: &'a Quotas,
}

/// A group that is decided.
pub(super) struct DecidedGroup {
    pub(super) entries: Vec<Entry>,
    /// Keys of the requests that it answers.
    pub(super) keys: Vec<RequestKey>,
    pub(super) rows: Rows,
    pub(super) states: Vec<StateRow>,
    /// Position of the next group.
    pub(super) next: Position,
    /// Snapshot that its last event names.
    pub(super) snapshot: Option<Snapshot>,
}

/// Whether a request is new or was answered before.
enum RequestStatus {
    New,
    Answered(Outcome),
}

/// State before a linked group, to undo it.
struct GroupSavepoint {
    next: Position,
    entries: usize,
    keys: usize,
    rows: crate::rows::Savepoint,
    undos: Vec<Undo>,
}

impl<'a> GroupBuilder<'a> {
    pub(super) fn new(
        ledger: &'a mut Ledger,
        open: &'a mut BTreeMap<RequestKey, RequestInFlight>,
        next: Position,
        at: UnixMicros,
        quotas: &'a Quotas,
    ) -> GroupBuilder<'a> {
        let (entries, keys, rows) = (Vec::new(), Vec::new(), Rows::default());
        GroupBuilder {
            ledger,
            requests_in_flight: open,
            next,
            at,
            entries,
            keys,
            rows,
            snapshot: None,
            quotas,
        }
    }

    pub(super) fn finish(self) -> DecidedGroup {
        let GroupBuilder {
            ledger,
            requests_in_flight: _,
            next,
            at: _,
            entries,
            keys,
            rows,
            snapshot,
            quotas: _,
        } = self;
        let states = rows.states(ledger);
        DecidedGroup { entries, keys, rows, states, next, snapshot }
    }

    /// Writes a snapshot of the ledger and adds the event that names it.
    pub(super) fn add_snapshot(&mut self) {
        self.ledger.forget(self.at);
        let bytes = ledger::snapshot::write(self.ledger);
        let event = Event::SnapshotTaken { digest: Sha256::digest(&bytes).into() };
        let events = vec![self.apply(&event, None)];
        let actor = "service:wallet".into();
        self.entries.push(Entry { events, request: None, actor, trace: [0; 16] });
        self.snapshot = Some(Snapshot { size: self.next.0, bytes });
    }

    /// Ends at most `most` holds whose time is over. Returns whether there were any.
    pub(super) fn expire(&mut self, most: usize) -> bool {
        let mut over = self.ledger.expired(self.at);
        over.truncate(most);
        let events: Vec<NewEvent> = over.iter().map(|event| self.apply(event, None)).collect();
        let any = !events.is_empty();
        if any {
            let actor = "service:wallet".into();
            self.entries.push(Entry { events, request: None, actor, trace: [0; 16] });
        }
        any
    }

    /// Decides requests in their order, linked ones together.
    pub(super) fn decide_all(
        &mut self,
        requests: Vec<KeyedRequest>,
        by: &Author,
        before: &StoredRequests,
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(requests.len());
        let mut requests = requests.into_iter();
        while let Some(first) = requests.next() {
            if !first.request.linked {
                outcomes.push(self.decide_one(first, by, before));
                continue;
            }
            let mut linked = vec![first];
            while linked.last().is_some_and(|last| last.request.linked) {
                let Some(next) = requests.next() else { break };
                linked.push(next);
            }
            outcomes.extend(self.decide_linked(linked, by, before));
        }
        outcomes
    }

    fn decide_one(&mut self, named: KeyedRequest, by: &Author, before: &StoredRequests) -> Outcome {
        match self.request_status(&named, before) {
            RequestStatus::Answered(outcome) => outcome,
            RequestStatus::New => self.execute(named, by, None),
        }
    }

    /// Carries out all of the linked requests or none. Those that were posted before stay posted.
    fn decide_linked(
        &mut self,
        linked: Vec<KeyedRequest>,
        by: &Author,
        before: &StoredRequests,
    ) -> Vec<Outcome> {
        let mut start = GroupSavepoint {
            next: self.next,
            entries: self.entries.len(),
            keys: self.keys.len(),
            rows: self.rows.savepoint(),
            undos: Vec::new(),
        };
        let count = linked.len();
        let mut outcomes: Vec<(bool, Outcome)> = Vec::with_capacity(count);
        for named in linked {
            let (fresh, outcome) = match self.request_status(&named, before) {
                RequestStatus::Answered(outcome) => (false, outcome),
                RequestStatus::New => (true, self.execute(named, by, Some(&mut start.undos))),
            };
            let refused = outcome.is_err();
            outcomes.push((fresh, outcome));
            if refused {
                self.roll_back(start);
                return linked_outcomes(&outcomes, count);
            }
        }
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    fn roll_back(&mut self, start: GroupSavepoint) {
        let GroupSavepoint { next, entries, keys, rows, undos } = start;
        undos.into_iter().rev().for_each(|undo| self.ledger.undo(undo));
        self.next = next;
        self.entries.truncate(entries);
        for key in self.keys.drain(keys..) {
            self.requests_in_flight.remove(&key);
        }
        self.rows.roll_back_to(rows);
    }

    fn request_status(&self, named: &KeyedRequest, before: &StoredRequests) -> RequestStatus {
        let KeyedRequest { request: _, key, digest } = named;
        if let Some(open) = self.requests_in_flight.get(key) {
            let same = open.digest == *digest;
            return RequestStatus::Answered(if same {
                Ok(open.answer.clone())
            } else {
                Err(WalletError::RequestIdReused)
            });
        }
        match before.recall(key, digest) {
            Some(Recall::Repeated { answer, first }) => {
                RequestStatus::Answered(answer::decode(&answer, first).ok_or(WalletError::Corrupt))
            }
            Some(Recall::IdReused) => RequestStatus::Answered(Err(WalletError::RequestIdReused)),
            Some(Recall::TooOld) => RequestStatus::Answered(Err(WalletError::RequestIdTooOld)),
            Some(Recall::Fresh) | None => RequestStatus::New,
        }
    }

    fn execute(
        &mut self,
        named: KeyedRequest,
        by: &Author,
        undos: Option<&mut Vec<Undo>>,
    ) -> Outcome {
        let KeyedRequest { request: Request { id, content, linked: _ }, key, digest } = named;
        let counted = self.quotas.of(&content, by);
        if let Some((quota, player)) = counted {
            quota.check(player, self.at).map_err(WalletError::DailyQuotaSpent)?;
        }
        let (events, content) = self.decide_content(content, undos)?;
        let position = Position(self.next.0.saturating_sub(1));
        let done = Answer { position, content: content.clone() };
        if events.is_empty() {
            // The command changed nothing: nothing is stored, and a repeat is judged again.
            return Ok(done);
        }
        let last = u16::try_from(events.len() - 1).unwrap_or(u16::MAX);
        let request = LogRequest { id, digest, answer: answer::encode(last, &content) };
        let (actor, trace) = (by.actor.clone(), by.trace);
        self.entries.push(Entry { events, request: Some(request), actor, trace });
        if let Some((quota, player)) = counted {
            quota.count(player, self.at);
        }
        self.keys.push(key);
        self.requests_in_flight.insert(key, RequestInFlight { digest, answer: done.clone() });
        Ok(done)
    }

    /// Decides and applies the content of a request: its events for the log, and its answer.
    fn decide_content(
        &mut self,
        content: RequestContent,
        mut undos: Option<&mut Vec<Undo>>,
    ) -> Result<(Vec<NewEvent>, AnswerContent), WalletError> {
        Ok(match content {
            RequestContent::Command(command) => {
                let events = decide(self.ledger, self.at, command)?;
                let changes_nothing =
                    events.last().is_some_and(|last| self.ledger.is_unchanged_by(last, self.at));
                let new = if changes_nothing {
                    Vec::new()
                } else {
                    events.iter().map(|event| self.apply(event, undos.as_deref_mut())).collect()
                };
                let last = events.last();
                (new, last.map_or(AnswerContent::Empty, |last| self.answer_content(last)))
            }
            RequestContent::OpenAccounts(players) => {
                let mut new = Vec::with_capacity(players.len());
                for player in players {
                    match decide(self.ledger, self.at, Command::OpenAccount(player)) {
                        Ok(events) => {
                            new.extend(events.iter().map(|event| self.apply(event, None)))
                        }
                        Err(Refusal::AccountExists { .. }) => {}
                        Err(refusal) => return Err(refusal.into()),
                    }
                }
                let opened = u32::try_from(new.len()).unwrap_or(u32::MAX);
                (new, AnswerContent::AccountsOpened(opened))
            }
            RequestContent::SetLimits { player, by, limits } => {
                let mut new = Vec::with_capacity(limits.len());
                for limits in limits {
                    let set =
                        decide(self.ledger, self.at, Command::SetLimits { player, by, limits })?;
                    let set =
                        set.iter().filter(|event| !self.ledger.is_unchanged_by(event, self.at));
                    let set: Vec<Event> = set.cloned().collect();
                    new.extend(set.iter().map(|event| self.apply(event, None)));
                }
                (new, AnswerContent::LimitTerms(self.limit_terms(player, by)))
            }
            RequestContent::ClockStepped(step) => {
                self.next.0 += 1;
                (vec![wire::clock::new_event(&step)], AnswerContent::Empty)
            }
        })
    }

    /// Applies an event and encodes it for the log.
    fn apply(&mut self, event: &Event, undos: Option<&mut Vec<Undo>>) -> NewEvent {
        if let Some(undos) = undos {
            undos.push(self.ledger.undo_for(event));
        }
        let replaced = evolve(self.ledger, self.at, event);
        self.rows.add(self.ledger, self.next, event, replaced);
        self.next.0 += 1;
        wire::ledger::new_event(event)
    }

    /// Content of the answer to a command, from its last event.
    fn answer_content(&self, last: &Event) -> AnswerContent {
        match last {
            Event::TransferPosted(posted) => match posted.transfer.kind {
                Kind::Issue | Kind::Redeem => {
                    let player = posted.transfer.player().map(Account::Player);
                    let balance = player.and_then(|account| self.ledger.balance(&account));
                    balance.map_or(AnswerContent::Empty, AnswerContent::Balance)
                }
                Kind::BuyIn
                | Kind::CashOut
                | Kind::Settlement { .. }
                | Kind::PotRefund { .. }
                | Kind::Adjustment { .. }
                | Kind::Capture { .. } => AnswerContent::Empty,
            },
            Event::LimitsSet { player, by, terms: _ } => {
                AnswerContent::LimitTerms(self.limit_terms(*player, *by))
            }
            Event::PlayerExcluded { player: _, until } => AnswerContent::ExcludedUntil(*until),
            Event::AccountOpened(_)
            | Event::AccountFrozen { .. }
            | Event::AccountUnfrozen { .. }
            | Event::AccountClosed { .. }
            | Event::HoldPlaced(_)
            | Event::HoldReleased(_)
            | Event::HoldExpired(_)
            | Event::AdjustmentProposed(_)
            | Event::AdjustmentRejected { .. }
            | Event::SnapshotTaken { .. } => AnswerContent::Empty,
        }
    }

    fn limit_terms(&self, player: PlayerId, by: LimitSetter) -> Box<AllLimitTerms> {
        let state = self.ledger.account(&Account::Player(player));
        Box::new(state.map(|state| state.limit_terms(by, self.at)).unwrap_or_default())
    }
}

/// Outcomes of a linked group of `count` requests whose last element in `outcomes` was refused.
/// That one and those answered before keep their own outcome; the others get
/// [`Refusal::LinkedRefused`].
fn linked_outcomes(outcomes: &[(bool, Outcome)], count: usize) -> Vec<Outcome> {
    let linked = Err(WalletError::Refused(Refusal::LinkedRefused));
    let group = outcomes.iter().map(|(fresh, outcome)| match outcome {
        Ok(_) if *fresh => linked.clone(),
        Ok(_) | Err(_) => outcome.clone(),
    });
    let mut group: Vec<Outcome> = group.collect();
    group.resize(count, linked);
    group
}

//! A group: commands decided together in memory, without waiting.

use std::collections::BTreeMap;

use eventlog::{Entry, NewEvent, Position, Request as LogRequest, RequestKey, Stored};
use ledger::{Account, AllTerms, Command, Event, Kind, Ledger, Refusal, Setter, Undo, decide};
use primitives::{PlayerId, UnixMicros};

use sha2::{Digest as _, Sha256};

use super::Open;
use super::quotas::Quotas;
use super::snapshots::Snapshot;
use crate::answer::{self, Done, Told};
use crate::command::{Request, Wish};
use crate::rows::{Place, Rows, StateRow};
use crate::wallet::{By, Named, Outcome, Problem};

/// A group that is being decided.
pub(super) struct Deciding<'a> {
    ledger: &'a mut Ledger,
    open: &'a mut BTreeMap<RequestKey, Open>,
    next: Position,
    at: UnixMicros,
    entries: Vec<Entry>,
    keys: Vec<RequestKey>,
    rows: Rows,
    snapshot: Option<Snapshot>,
    quotas: &'a Quotas,
}

/// A group that is decided.
pub(super) struct Decided {
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
enum Seen {
    Fresh,
    Answered(Outcome),
}

/// State before a linked group, to undo it.
struct Start {
    next: Position,
    entries: usize,
    keys: usize,
    rows: crate::rows::Mark,
    undos: Vec<Undo>,
}

impl<'a> Deciding<'a> {
    pub(super) fn new(
        ledger: &'a mut Ledger,
        open: &'a mut BTreeMap<RequestKey, Open>,
        (next, at): (Position, UnixMicros),
        quotas: &'a Quotas,
    ) -> Deciding<'a> {
        let (entries, keys, rows) = (Vec::new(), Vec::new(), Rows::default());
        Deciding { ledger, open, next, at, entries, keys, rows, snapshot: None, quotas }
    }

    pub(super) fn finish(self) -> Decided {
        let Deciding { ledger, open: _, next, at: _, entries, keys, rows, snapshot, quotas: _ } =
            self;
        let states = rows.states(ledger);
        Decided { entries, keys, rows, states, next, snapshot }
    }

    /// Writes a snapshot of the ledger and adds the event that names it.
    pub(super) fn snapshot(&mut self) {
        self.ledger.forget(self.at);
        let bytes = ledger::snapshot::write(self.ledger);
        let event = Event::SnapshotTaken { digest: Sha256::digest(&bytes).into() };
        let events = vec![self.step(&event, None)];
        let actor = "service:wallet".into();
        self.entries.push(Entry { events, request: None, actor, trace: [0; 16] });
        self.snapshot = Some(Snapshot { size: self.next.0, bytes });
    }

    /// Ends at most `most` holds whose time is over. Returns whether there were any.
    pub(super) fn expire(&mut self, most: usize) -> bool {
        let mut over = self.ledger.expired(self.at);
        over.truncate(most);
        let events: Vec<NewEvent> = over.iter().map(|event| self.step(event, None)).collect();
        let any = !events.is_empty();
        if any {
            let actor = "service:wallet".into();
            self.entries.push(Entry { events, request: None, actor, trace: [0; 16] });
        }
        any
    }

    /// Decides requests in their order, linked ones together.
    pub(super) fn all(
        &mut self,
        requests: Vec<Named>,
        by: &By,
        before: &BTreeMap<RequestKey, Stored>,
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(requests.len());
        let mut requests = requests.into_iter();
        while let Some(first) = requests.next() {
            if !first.request.linked {
                outcomes.push(self.alone(first, by, before));
                continue;
            }
            let mut linked = vec![first];
            while linked.last().is_some_and(|last| last.request.linked) {
                let Some(next) = requests.next() else { break };
                linked.push(next);
            }
            outcomes.extend(self.together(linked, by, before));
        }
        outcomes
    }

    fn alone(&mut self, named: Named, by: &By, before: &BTreeMap<RequestKey, Stored>) -> Outcome {
        match self.seen(&named, before) {
            Seen::Answered(outcome) => outcome,
            Seen::Fresh => self.carry_out(named, by, None),
        }
    }

    /// Carries out all of the linked requests or none. Those that were posted before stay posted.
    fn together(
        &mut self,
        linked: Vec<Named>,
        by: &By,
        before: &BTreeMap<RequestKey, Stored>,
    ) -> Vec<Outcome> {
        let mut start = Start {
            next: self.next,
            entries: self.entries.len(),
            keys: self.keys.len(),
            rows: self.rows.mark(),
            undos: Vec::new(),
        };
        let count = linked.len();
        let mut outcomes: Vec<(bool, Outcome)> = Vec::with_capacity(count);
        for named in linked {
            let (fresh, outcome) = match self.seen(&named, before) {
                Seen::Answered(outcome) => (false, outcome),
                Seen::Fresh => (true, self.carry_out(named, by, Some(&mut start.undos))),
            };
            let refused = outcome.is_err();
            outcomes.push((fresh, outcome));
            if refused {
                self.take_back(start);
                return refused_together(&outcomes, count);
            }
        }
        outcomes.into_iter().map(|(_, outcome)| outcome).collect()
    }

    fn take_back(&mut self, start: Start) {
        let Start { next, entries, keys, rows, undos } = start;
        undos.into_iter().rev().for_each(|undo| self.ledger.undo(undo));
        self.next = next;
        self.entries.truncate(entries);
        for key in self.keys.drain(keys..) {
            self.open.remove(&key);
        }
        self.rows.back_to(rows);
    }

    fn seen(&self, named: &Named, before: &BTreeMap<RequestKey, Stored>) -> Seen {
        let Named { request: _, key, digest } = named;
        if let Some(open) = self.open.get(key) {
            let same = open.digest == *digest;
            return Seen::Answered(if same { Ok(open.done.clone()) } else { Err(Problem::Reused) });
        }
        match before.get(key) {
            Some(stored) if stored.digest != *digest => Seen::Answered(Err(Problem::Reused)),
            Some(stored) => Seen::Answered(answer::decode(stored).ok_or(Problem::Corrupt)),
            None => Seen::Fresh,
        }
    }

    fn carry_out(&mut self, named: Named, by: &By, mut undos: Option<&mut Vec<Undo>>) -> Outcome {
        let Named { request: Request { id, wish, linked: _ }, key, digest } = named;
        let counted = self.quotas.of(&wish, by);
        if let Some((quota, player)) = counted {
            quota.check(player, self.at).map_err(Problem::DaySpent)?;
        }
        let (events, told) = match wish {
            Wish::One(command) => {
                let mut events = decide(self.ledger, self.at, command)?;
                let told = events.last().filter(|last| self.ledger.has(last, self.at));
                if let Some(told) = told.map(|last| self.told(last)) {
                    events.clear();
                    (Vec::new(), told)
                } else {
                    let new = events.iter().map(|event| self.step(event, undos.as_deref_mut()));
                    let new: Vec<NewEvent> = new.collect();
                    (new, events.last().map_or(Told::Nothing, |last| self.told(last)))
                }
            }
            Wish::OpenAll(players) => {
                let mut new = Vec::with_capacity(players.len());
                for player in players {
                    match decide(self.ledger, self.at, Command::Open(player)) {
                        Ok(events) => new.extend(events.iter().map(|event| self.step(event, None))),
                        Err(Refusal::AccountExists { .. }) => {}
                        Err(refusal) => return Err(refusal.into()),
                    }
                }
                let opened = u32::try_from(new.len()).unwrap_or(u32::MAX);
                (new, Told::Opened(opened))
            }
            Wish::SetLimits { player, by, limits } => {
                let mut new = Vec::with_capacity(limits.len());
                for limits in limits {
                    let set =
                        decide(self.ledger, self.at, Command::SetLimits { player, by, limits })?;
                    let set = set.iter().filter(|event| !self.ledger.has(event, self.at));
                    let set: Vec<Event> = set.cloned().collect();
                    new.extend(set.iter().map(|event| self.step(event, None)));
                }
                (new, Told::Terms(self.terms(player, by)))
            }
            Wish::ClockStepped(step) => {
                self.next.0 += 1;
                (vec![wire::clock::new_event(&step)], Told::Nothing)
            }
        };
        let position = Position(self.next.0.saturating_sub(1));
        let done = Done { position, told: told.clone() };
        if events.is_empty() {
            // The command changed nothing: nothing is stored, and a repeat is judged again.
            return Ok(done);
        }
        let last = u16::try_from(events.len() - 1).unwrap_or(u16::MAX);
        let request = LogRequest { id, digest, answer: answer::encode(last, &told) };
        let (actor, trace) = (by.actor.clone(), by.trace);
        self.entries.push(Entry { events, request: Some(request), actor, trace });
        if let Some((quota, player)) = counted {
            quota.count(player, self.at);
        }
        self.keys.push(key);
        self.open.insert(key, Open { digest, done: done.clone() });
        Ok(done)
    }

    /// Applies an event and encodes it for the log.
    fn step(&mut self, event: &Event, undos: Option<&mut Vec<Undo>>) -> NewEvent {
        let place = Place { position: self.next, at: self.at };
        match undos {
            Some(undos) => undos.push(self.rows.step_undoable(self.ledger, place, event)),
            None => self.rows.step(self.ledger, place, event),
        }
        self.next.0 += 1;
        wire::ledger::new_event(event)
    }

    /// Content of the answer to a command, from its last event.
    fn told(&self, last: &Event) -> Told {
        match last {
            Event::Posted(posted) => match posted.transfer.kind {
                Kind::Issue | Kind::Redeem => {
                    let player = posted.transfer.player().map(Account::Player);
                    let balance = player.and_then(|account| self.ledger.balance(&account));
                    balance.map_or(Told::Nothing, Told::Balance)
                }
                Kind::BuyIn
                | Kind::CashOut
                | Kind::Settlement { .. }
                | Kind::PotRefund { .. }
                | Kind::Adjustment { .. }
                | Kind::Capture { .. } => Told::Nothing,
            },
            Event::LimitsSet { player, by, terms: _ } => Told::Terms(self.terms(*player, *by)),
            Event::Excluded { player: _, until } => Told::Until(*until),
            Event::Opened(_)
            | Event::Frozen { .. }
            | Event::Unfrozen { .. }
            | Event::Closed { .. }
            | Event::HoldPlaced(_)
            | Event::HoldReleased(_)
            | Event::HoldExpired(_)
            | Event::AdjustmentProposed(_)
            | Event::AdjustmentRejected { .. }
            | Event::SnapshotTaken { .. } => Told::Nothing,
        }
    }

    fn terms(&self, player: PlayerId, by: Setter) -> Box<AllTerms> {
        let state = self.ledger.account(&Account::Player(player));
        Box::new(state.map(|state| state.terms(by, self.at)).unwrap_or_default())
    }
}

/// Outcomes of a linked group of `count` requests whose last element in `outcomes` was refused.
/// That one and those answered before keep their own outcome; the others get
/// [`Refusal::LinkedRefused`].
fn refused_together(outcomes: &[(bool, Outcome)], count: usize) -> Vec<Outcome> {
    let linked = Err(Problem::Refused(Refusal::LinkedRefused));
    let told = outcomes.iter().map(|(fresh, outcome)| match outcome {
        Ok(_) if *fresh => linked.clone(),
        Ok(_) | Err(_) => outcome.clone(),
    });
    let mut told: Vec<Outcome> = told.collect();
    told.resize(count, linked);
    told
}

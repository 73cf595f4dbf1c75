//! Replay of the hand: dealt again from the seed and played again by the rules.
//!
//! The replay follows the hand's stream record by record. It keeps the clock and the turns in the
//! way a table must keep them, and collects what the checks and the story need. Card faces and
//! results of operations come from the seed alone; the recorded ones are only compared.
//!
//! Specification: fairness/SPEC.md §10.5.

mod cards;
mod clock;
mod decisions;
mod due_at_abort;

use std::collections::BTreeMap;

use eventlog_core::Event;
use fairness::{Handle, Keys, Shoe};
use primitives::{SeatNo, UnixMicros};
use proto::common::v1::CardRef;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{
    Chance, DecisionAuthor, Deck, Destination, Move, Outcome, Player, Pot, Settlement,
    SettlementItem,
};
use wire::HandReplay;
use wire::card_positions::handle_from_pb;
use wire::records::{PlayEvent, TableRecord, TableSubject};

use crate::hand::Check;
use crate::hand::decoded_records::{DecodedEvent, DecodedRecords};
use crate::hand::{chance, commitments, signatures, table_stream};
use crate::report::{CheckError, failed, missing};
use crate::work::WorkCounter;
use clock::Clock;
pub(super) use decisions::RecordedDecision;

/// Result of the replay: the first failure of each check, and data for the checks and the story.
pub(super) struct Replay {
    failures: BTreeMap<Check, String>,
    /// Reason why the replay could not go on, with the check that fails for it; no check if records
    /// are missing.
    stop: Option<(Option<Check>, String)>,
    /// Input of the rules in a record of the hand's stream, by position.
    pub(super) inputs: BTreeMap<u64, RuleInput>,
    pub(super) decisions: Vec<RecordedDecision>,
    pub(super) deals: Vec<DealtCards>,
    /// Operations, with their results, that were due when the hand came to nothing.
    pub(super) due_at_abort: Vec<(dealer::Operation, dealer::OperationResult)>,
    pub(super) end: Option<HandEnd>,
    pub(super) deck: Option<&'static Deck>,
    pub(super) seats: Vec<SeatNo>,
    pub(super) notes: Vec<String>,
    pub(super) work: WorkCounter,
}

/// An input of the rules.
pub(super) enum RuleInput {
    Chance(Chance, Outcome),
    Decision(Player, Move, DecisionAuthor),
}

/// Cards that were dealt, or were due.
pub(super) struct DealtCards {
    pub(super) places: Vec<Handle>,
    /// The seat that may see the cards; 0 for everybody.
    pub(super) audience: u32,
    /// Time from which the hand needed these cards: that of its sealing, or of the decision before
    /// them.
    pub(super) needed_since: UnixMicros,
    /// Whether the table recorded the deal. Otherwise it was due when the hand came to nothing.
    pub(super) is_recorded: bool,
}

/// End of the hand by the rules.
pub(super) struct HandEnd {
    pub(super) settlement: Settlement,
    /// Credits that each player has in the Sabacc Pot from this hand, p1 first.
    pub(super) sabacc_paid: Vec<u64>,
    pub(super) sabacc_won: bool,
    /// Positions of the cards that the rules show at the end.
    pub(super) shown: Vec<Handle>,
    /// Time of the last input of the rules.
    pub(super) at: UnixMicros,
}

/// Reason why the replay stops. The check, if any, fails.
struct Stop {
    check: Option<Check>,
    why: String,
}

fn stop(check: Check, why: impl std::fmt::Display) -> Stop {
    Stop { check: Some(check), why: why.to_string() }
}

/// State of the replay.
struct Replayer {
    replay: HandReplay,
    /// The hand before the restocks of a deal whose cards are not recorded yet.
    before_restock: Option<HandReplay>,
    shoe: Shoe,
    keys: Keys,
    clock: Clock,
    agreement: decisions::Agreement,
    since: UnixMicros,
    ante: u64,
    shown: BTreeMap<u32, Vec<(Handle, String)>>,
    findings: Replay,
}

impl Replay {
    pub(super) fn run(decoded: &DecodedRecords<'_>) -> Replay {
        if decoded.is_aborted() && decoded.sealed().is_err() {
            // Nothing was dealt or decided: the order of the streams proves it.
            return Replay::empty();
        }
        let walker = match Replayer::try_new(decoded) {
            Ok(walker) => walker,
            Err(Stop { check, why }) => {
                return Replay { stop: Some((check, why)), ..Replay::empty() };
            }
        };
        walker.run(decoded)
    }

    fn empty() -> Replay {
        Replay {
            failures: BTreeMap::new(),
            stop: None,
            inputs: BTreeMap::new(),
            decisions: Vec::new(),
            deals: Vec::new(),
            due_at_abort: Vec::new(),
            end: None,
            deck: None,
            seats: Vec::new(),
            notes: Vec::new(),
            work: WorkCounter::default(),
        }
    }

    /// Returns the replay's result for one check.
    pub(super) fn verdict(&self, check: Check) -> Result<(), CheckError> {
        if let Some(why) = self.failures.get(&check) {
            return Err(failed(why.clone()));
        }
        match &self.stop {
            Some((Some(at), why)) if *at == check => Err(failed(why.clone())),
            Some((_, why)) => {
                Err(missing(format!("the hand cannot be replayed to its end: {why}")))
            }
            None => Ok(()),
        }
    }

    /// Whether the hand could not be replayed to its end.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_some()
    }

    /// Returns the reason why the hand could not be replayed to its end.
    pub(super) fn stop_reason(&self) -> Option<&str> {
        self.stop.as_ref().map(|(_, why)| why.as_str())
    }

    fn add_failure(&mut self, check: Check, why: impl FnOnce() -> String) {
        self.failures.entry(check).or_insert_with(why);
    }
}

impl Replayer {
    fn try_new(decoded: &DecodedRecords<'_>) -> Result<Replayer, Stop> {
        let gap = |trouble| {
            let (CheckError::Failed(why) | CheckError::NotPossible(why)) = trouble;
            Stop { check: None, why }
        };
        let (at, opened) = decoded.opened().map_err(gap)?;
        let replay = HandReplay::try_new(opened).map_err(|error| stop(Check::Decisions, error))?;
        let keys = commitments::derive_keys(decoded).map_err(gap)?;
        let rules = *replay.hand.rules();
        let before = primitives::Credits::try_new(opened.sabacc_pot)
            .map_err(|error| stop(Check::Decisions, error))?;
        let mut out = Replay::empty();
        out.deck = Some(rules.variant().deck);
        out.seats.clone_from(&replay.seats);
        Ok(Replayer {
            ante: if rules.variant().has_sabacc_pot {
                rules.sabacc_ante_due(before).get()
            } else {
                0
            },
            clock: Clock::new(
                &decoded.settings().map_err(gap)?,
                table_stream::state_before(decoded, at.position)
                    .unwrap_or_default()
                    .misses(&opened.roster),
                at.recorded_at,
            ),
            agreement: decisions::Agreement::new(&signatures::asked_leaves(decoded)),
            since: at.recorded_at,
            shoe: Shoe::new(keys.clone()),
            keys,
            before_restock: None,
            shown: BTreeMap::new(),
            replay,
            findings: out,
        })
    }

    fn run(mut self, decoded: &DecodedRecords<'_>) -> Replay {
        for read in &decoded.hand {
            if let Err(Stop { check, why }) = self.step(read) {
                let at = read.event.position.0;
                self.findings.stop =
                    Some((check, format!("position {at} of the table's log: {why}")));
                return self.findings;
            }
        }
        if decoded.is_aborted() {
            let seats = self.shown.keys().copied().collect();
            self.check_shown_hands(&seats);
            self.replay_due_at_abort();
            self.findings.notes = std::mem::take(&mut self.clock.notes);
            return self.findings;
        }
        if self.findings.end.is_none() {
            self.findings.stop = Some((None, "the hand is not over".to_owned()));
        }
        let seats = self.findings.seats.iter().map(|seat| u32::from(seat.get()));
        let seats = seats.chain(self.shown.keys().copied()).collect();
        self.check_shown_hands(&seats);
        let finished = decoded.finished().ok().map(|(_, finished)| finished);
        if finished.is_some_and(|finished| !self.clock.accepts_misses(&finished.misses)) {
            let why = "the table counts other clocks missed in a row than the hand has".to_owned();
            self.findings.add_failure(Check::Clocks, || why);
        }
        self.findings.notes = std::mem::take(&mut self.clock.notes);
        self.findings
    }

    fn step(&mut self, read: &DecodedEvent<'_, TableRecord>) -> Result<(), Stop> {
        let DecodedEvent { event, recorded } = read;
        let played = match recorded.subject() {
            TableSubject::Play(played) => played,
            TableSubject::Hand(of_hand) => {
                self.suspension(event, of_hand);
                return Ok(());
            }
            TableSubject::Seat(_)
            | TableSubject::Table(_)
            | TableSubject::Person(_)
            | TableSubject::Room(_)
            | TableSubject::Clock(_) => return Ok(()),
        };
        match played {
            PlayEvent::HandSealed(_) => {
                self.clock.start(event.recorded_at);
                self.since = event.recorded_at;
                Ok(())
            }
            PlayEvent::ChanceUsed(used) => self.chance(event, used),
            PlayEvent::CardsMoved(moved) => self.cards(event, moved),
            PlayEvent::MoveDecided(decided) => self.decision(event, decided),
            PlayEvent::ClockResumed(resumed) => {
                let to_act = self.replay.hand.to_act();
                if let Err(why) = self.clock.resume(resumed, to_act, event.recorded_at) {
                    self.findings.add_failure(Check::Clocks, || why);
                }
                Ok(())
            }
            PlayEvent::CardsShown(shown) => {
                self.show(shown);
                Ok(())
            }
            PlayEvent::HandSettled(_) if self.findings.end.is_none() => {
                Err(stop(Check::Settlement, "settled before the rules end the hand"))
            }
            PlayEvent::HandSettled(_) | PlayEvent::SettlementPosted(_) => Ok(()),
        }
    }

    fn show(&mut self, shown: &pb::CardsShown) {
        let seat = shown.seat;
        if self.findings.end.is_none() {
            self.findings.add_failure(Check::Cards, || format!("seat {seat} shows before the end"));
        }
        shown.cards.iter().for_each(|card| self.check_salt(card));
        let cards =
            shown.cards.iter().filter_map(|card| Some((parse_handle(card)?, card.card.clone())));
        if self.shown.insert(seat, cards.collect()).is_some() {
            self.findings.add_failure(Check::Cards, || format!("seat {seat} shows its hand twice"));
        }
    }

    fn chance(&mut self, event: &Event, used: &pb::ChanceUsed) -> Result<(), Stop> {
        let due = self.replay.hand.due().cloned();
        if used.restock && self.before_restock.is_none() {
            self.before_restock = Some(self.replay.clone());
        }
        let input = self
            .replay
            .read(&TableRecord::ChanceUsed(used.clone()), &|_| None)
            .map_err(|error| stop(Check::Operations, error))?;
        let (operation, result) = used
            .operation
            .as_ref()
            .zip(used.result.as_ref())
            .ok_or_else(|| stop(Check::Operations, "an operation without content"))?;
        let index = operation.index;
        let ask = chance::parse_operation(operation)
            .ok_or_else(|| stop(Check::Operations, format!("operation {index} cannot be one")))?;
        let answer = self.shoe.perform(index, &ask);
        let answer = answer.map_err(|error| stop(Check::Operations, error))?;
        self.findings.work.dealt(chance::size(&answer));
        let given = chance::result(index, &answer, true);
        if result.index != index || result.values != given.values {
            let (recorded, given) = (&result.values, given.values);
            let why =
                format!("operation {index} gave {recorded:?} on record, the seed gives {given:?}");
            return Err(stop(Check::Operations, why));
        }
        if result.root != given.root {
            self.findings.add_failure(Check::Operations, || {
                format!("the root of operation {index}'s cards is not the one the seed gives")
            });
        }
        if let (Some(due), Some(rules::Event::Chance(outcome))) = (due, &input) {
            self.findings.inputs.insert(event.position.0, RuleInput::Chance(due, outcome.clone()));
        }
        self.evolve(event, input.as_ref());
        Ok(())
    }

    fn cards(&mut self, event: &Event, moved: &pb::CardsMoved) -> Result<(), Stop> {
        let due = self.replay.hand.due().cloned();
        self.before_restock = None;
        let blank = |card: &CardRef| without_face(card.op, card.position);
        let blank =
            pb::CardsMoved { seat: moved.seat, cards: moved.cards.iter().map(blank).collect() };
        let (shoe, deck) = (&self.shoe, self.findings.deck);
        let face = |place| deck.and_then(|deck| deck.card(shoe.card_at_any(place).ok()?));
        let input = self.replay.read(&TableRecord::CardsMoved(blank), &face);
        let input = input.map_err(|error| stop(Check::Cards, error))?;
        let Some(Chance::Deal(deal)) = &due else { return Ok(()) };
        let open = deal.shown || deal.to == Destination::Table;
        for card in &moved.cards {
            self.check_card(card, open);
            self.check_salt(card);
        }
        self.findings.deals.push(DealtCards {
            places: moved.cards.iter().filter_map(parse_handle).collect(),
            audience: if open { 0 } else { moved.seat },
            needed_since: self.since,
            is_recorded: true,
        });
        if let (Some(due), Some(rules::Event::Chance(outcome))) = (&due, &input) {
            self.findings
                .inputs
                .insert(event.position.0, RuleInput::Chance(due.clone(), outcome.clone()));
        }
        self.evolve(event, input.as_ref());
        Ok(())
    }

    fn evolve(&mut self, event: &Event, input: Option<&rules::Event>) {
        let Some(input) = input else { return };
        self.findings.work.played(1);
        rules::evolve(&mut self.replay.hand, input);
        self.clock.restart(self.replay.hand.to_act().is_some(), event.recorded_at);
        if self.findings.end.is_none()
            && let Some(settlement) = self.replay.hand.settlement().cloned()
        {
            self.end(settlement, event.recorded_at);
        }
    }

    fn end(&mut self, settlement: Settlement, at: UnixMicros) {
        let won =
            |line: &SettlementItem| matches!(line, SettlementItem::Wins { pot: Pot::Sabacc, .. });
        let sabacc_won = settlement.lines.iter().any(won);
        let mut sabacc_paid = vec![self.ante; self.findings.seats.len()];
        for line in &settlement.lines {
            if let SettlementItem::PaysSabacc { player, amount, short: _ } = line
                && let Some(paid) = sabacc_paid.get_mut(player.index())
            {
                *paid = paid.saturating_add(amount.get());
            }
        }
        // After a win no player has credits of this hand in the pot.
        if sabacc_won {
            sabacc_paid.fill(0);
        }
        let cards =
            settlement.shown.iter().filter_map(|player| settlement.hands.get(player.index()));
        let shown = cards
            .flat_map(|hand| &hand.cards)
            .filter_map(|card| self.replay.positions.position_of(*card).ok());
        let shown = shown.collect();
        self.findings.end = Some(HandEnd { settlement, sabacc_paid, sabacc_won, shown, at });
    }
}

fn parse_handle(card: &CardRef) -> Option<Handle> {
    handle_from_pb(&dealer::Handle { op: card.op, position: card.position }).ok()
}

fn without_face(op: u32, position: u32) -> CardRef {
    CardRef { op, position, card: String::new(), salt: Vec::new() }
}

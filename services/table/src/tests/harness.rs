//! Harness of a table in memory, with a dealer that may misbehave. After every append it crashes:
//! the log is folded anew, and must give the same table with the same pending effects.

#![expect(clippy::wildcard_enum_match_arm, reason = "a harness looks at what it is about")]
#![expect(clippy::needless_pass_by_value, reason = "what is done here is made for it")]

mod dealer;
mod decisions;
mod disabled;
mod house_seats;
mod late;
mod leaves;
mod lost_cards;
mod nets;
mod newcomers;
mod quota;
mod repeats;
mod restored;
mod settled;
mod standing;
mod stops;
mod suspended;
mod tests;
mod withheld;

use std::collections::BTreeMap;
use std::time::Duration;

use ed25519_dalek::SigningKey;
use eventlog::Position;
use fairness::{ClientCommitment, DecisionStatement, Entropy, SignedText as _};
use primitives::{PlayerId, StreamId, TableId, UnixMicros};
use proto::common::v1::{ErrorReason, PlayStanding, StandingKind};
use proto::event::v1 as event;
use proto::wallet::v1 as wallet;
use rules::{DecisionAuthor, Event, Move, MoveKind, Next, RuleSet, TableSettings};
use wire::{ApiRefusal, Record as _, TableRecord};

use crate::batch::Batch;
use crate::commands::{Command, CommandContext, OfferedCommitment, judge};
use crate::decisions::PlayerLine;
use crate::effect_calls::{self, EffectOutcome, PendingEffect};
use crate::effects::{Effect, pending_effects};
use crate::entropy::{BoundCommitment, Timing};
use crate::peers::{CallFailure, PeerCall, Reply};
use crate::publish::PublishedEvent;
use crate::recovery;
use crate::registry::ClosedTable;
use crate::room::games::Games;
use crate::state::{RecoveredState, TableState};
use crate::suspension;
use crate::table::Table;

pub(crate) use dealer::{Dealer, Misbehaviour};

pub(crate) const DEALER_TIMEOUT: Duration = Duration::from_secs(10);
const TABLE: TableId = TableId([7; 16]);

/// A table in memory, its log, and its peers.
pub(crate) struct Harness {
    pub(crate) state: TableState,
    pub(crate) log: Vec<(StreamId, TableRecord, UnixMicros)>,
    pub(crate) now: UnixMicros,
    pub(crate) listening_since: UnixMicros,
    pub(crate) dealer: Dealer,
    /// Arrival of commands; the time of their judgement where it is not set.
    pub(crate) arrived: Option<UnixMicros>,
    /// Delay of the room.
    pub(crate) room_delay: Duration,
    /// Time before which no hand starts.
    pub(crate) starts_held_until: Option<UnixMicros>,
    /// Whether crashes are left out, for tests of many hands.
    pub(crate) steady: bool,
    /// Whether the wallet answers nothing.
    pub(crate) wallet_silent: bool,
    /// Calls that the wallet refuses.
    pub(crate) wallet_refuses: Option<WalletRefusal>,
    /// Calls that the wallet got, in order.
    pub(crate) wallet_calls: Vec<PeerCall>,
    /// Standings that the wallet reports, by player; all others may play.
    pub(crate) standings: BTreeMap<u8, PlayStanding>,
    /// Games that are disabled in the room.
    pub(crate) games: Games,
    standing_checked_at: UnixMicros,
    published: Vec<PublishedEvent>,
    requests: u8,
}

/// Selection of the calls that the wallet refuses, and the reason.
pub(crate) type WalletRefusal = (fn(&PeerCall) -> bool, ErrorReason);

pub(crate) fn player(number: u8) -> PlayerId {
    PlayerId([number; 16])
}

/// Entropy of a player, secret until they reveal it.
pub(crate) fn secret(number: u8) -> Entropy {
    Entropy([number ^ 0x55; 32])
}

/// Changes settings of a table that is being created.
pub(crate) fn set(created: &mut event::TableCreated, change: impl FnOnce(&mut TableSettings)) {
    let mut settings = TableSettings::from_canonical(&created.settings).unwrap_or_default();
    change(&mut settings);
    created.settings = settings.canonical();
}

/// Command that commits to entropy, without a key for decisions.
pub(crate) fn offer(hand_no: u64, commitment: ClientCommitment) -> Command {
    let offered = OfferedCommitment { commitment, key: None };
    Command::CommitEntropy { hand_no, offered }
}

/// Command that leaves the table, unsigned.
pub(crate) fn stand_up() -> Command {
    Command::StandUp { signature: Vec::new() }
}

/// Key with which a player signs who has one.
fn signing_key(number: u8) -> SigningKey {
    SigningKey::from_bytes(&[number ^ 0x33; 32])
}

impl Harness {
    /// A table of a variant with three players at seats 1, 2 and 4.
    pub(crate) fn new(variant: &str, change: impl FnOnce(&mut event::TableCreated)) -> Harness {
        let rules = RuleSet::defaults(rules::variant(variant).unwrap());
        let mut created = event::TableCreated {
            name: "Test".to_owned(),
            rule_set: rules.canonical(),
            seats: 4,
            min_buy_in: 100,
            max_buy_in: 1_000_000,
            settings: String::new(),
            pause_ms: 0,
            idle_seconds: 600,
        };
        // Most tests are of hands whose seats have no part in chance.
        set(&mut created, |settings| settings.contributors_min = 0);
        change(&mut created);
        let now = UnixMicros(10_000_000_000);
        let state = TableState::new(Table::open(TABLE, &created, now).unwrap());
        let mut harness = Harness {
            state,
            log: vec![(TABLE.into(), created.into(), now)],
            now,
            listening_since: now,
            dealer: Dealer::default(),
            arrived: None,
            room_delay: Duration::ZERO,
            starts_held_until: None,
            steady: false,
            wallet_silent: false,
            wallet_refuses: None,
            wallet_calls: Vec::new(),
            standings: BTreeMap::new(),
            games: Games::default(),
            standing_checked_at: now,
            published: Vec::new(),
            requests: 0,
        };
        for seat in [1, 2, 4] {
            harness.sit(seat);
        }
        harness
    }

    pub(crate) fn sit(&mut self, seat: u8) {
        self.sit_as(seat, false);
    }

    /// Seats a player, or one of the house's own.
    pub(crate) fn sit_as(&mut self, seat: u8, is_house: bool) {
        let number = primitives::SeatNo::try_new(seat).unwrap();
        let due = self.state.table.config.rules.min_stack(primitives::Credits::ZERO);
        let buy_in = due.times(20).unwrap().max(primitives::Credits::of(1000));
        let sit = Command::SitDown { seat: Some(number), buy_in, funds: None, is_house };
        self.command(seat, sit).unwrap();
        self.run_effect(|effect| effect == Effect::Fund { seat: number });
    }

    pub(crate) fn timing(&self) -> Timing {
        Timing {
            at: self.now,
            listening_since: self.listening_since,
            dealer_timeout: DEALER_TIMEOUT,
            room_delay: self.room_delay,
            starts_held_until: self.starts_held_until,
            standing_checked_at: self.standing_checked_at,
        }
    }

    pub(crate) fn wait(&mut self, time: Duration) {
        self.now = self.now.plus(time);
    }

    pub(crate) fn pending_effects(&self) -> Vec<Effect> {
        pending_effects(&self.state.table, self.state.play.as_ref(), &self.timing()).0
    }

    /// Judges a player's command, and appends its events unless it is refused.
    pub(crate) fn command(&mut self, number: u8, command: Command) -> Result<(), ApiRefusal> {
        self.requests = self.requests.wrapping_add(1);
        let context = CommandContext {
            player: Some(player(number)),
            request: primitives::RequestId([self.requests; 16]),
            now: self.now,
            arrived: self.arrived.unwrap_or(self.now),
            is_room_behind: self.starts_held_until.is_some(),
        };
        let verdict = judge(&self.state.table, self.state.play.as_ref(), &command, &context)?;
        self.append(verdict.batch);
        Ok(())
    }

    pub(crate) fn refusal(
        &mut self,
        number: u8,
        command: Command,
    ) -> (ErrorReason, Option<String>) {
        let refused = self.command(number, command).unwrap_err();
        let why = refused.metadata().find(|(key, _)| *key == "refusal");
        (refused.reason(), why.map(|(_, why)| why.to_owned()))
    }

    /// Commitment of a player to their secret, for their seat.
    pub(crate) fn commitment(&self, hand_no: u64, number: u8) -> ClientCommitment {
        let table = &self.state.table;
        let commitment = match table.entropy_round().filter(|_| table.hand_no == hand_no) {
            Some(round) => &round.commitment,
            None => &table.dealer_commitments[&hand_no].commitment,
        };
        let hash = &table.config.rules_hash;
        let BoundCommitment { context, dealer } =
            BoundCommitment::try_new(commitment, TABLE, hand_no, hash).unwrap();
        let seat = table.seat_of(player(number)).unwrap().get();
        ClientCommitment::new(&context, &dealer, seat, player(number), &secret(number))
    }

    pub(crate) fn commit(&mut self, hand_no: u64, number: u8) {
        let commitment = self.commitment(hand_no, number);
        self.command(number, offer(hand_no, commitment)).unwrap();
    }

    pub(crate) fn reveal(&mut self, hand_no: u64, number: u8) {
        let entropy = secret(number);
        self.command(number, Command::RevealEntropy { hand_no, entropy }).unwrap();
    }

    /// Runs the first pending effect that is wanted. Returns whether there was one and it could be
    /// run.
    pub(crate) fn run_effect(&mut self, wanted: impl Fn(Effect) -> bool) -> bool {
        let Some(effect) = self.pending_effects().into_iter().find(|effect| wanted(*effect)) else {
            return false;
        };
        let (table, play) = (&self.state.table, self.state.play.as_ref());
        let prepared = effect_calls::prepare(table, play, effect).unwrap();
        let reply = match &prepared.call {
            PeerCall::Nothing => Ok(Reply::Nothing),
            PeerCall::BuyIn(_)
            | PeerCall::CashOut(_)
            | PeerCall::Settle(_)
            | PeerCall::CheckStanding(_)
                if self.wallet_silent =>
            {
                Err(CallFailure::Retry("silent".to_owned()))
            }
            PeerCall::CheckStanding(request) => {
                self.standing_checked_at = self.now;
                Ok(Reply::Standing(self.check_standing(request)))
            }
            PeerCall::BuyIn(_) | PeerCall::CashOut(_) | PeerCall::Settle(_) => {
                self.call_wallet(&prepared.call)
            }
            job => self.dealer.answer(job),
        };

        let timing = self.timing();
        let pending = PendingEffect { effect, plan: prepared.plan.as_ref(), timing: &timing };
        match effect_calls::effect_outcome(&self.state, pending, reply) {
            EffectOutcome::Append(batch) => self.append(batch),
            EffectOutcome::Retry(_) => return false,
            EffectOutcome::Reload => self.restart(self.now),
        }
        true
    }

    fn call_wallet(&mut self, job: &PeerCall) -> Result<Reply, CallFailure> {
        self.wallet_calls.push(job.clone());
        match self.wallet_refuses.filter(|(refuses, _)| refuses(job)) {
            Some((_, reason)) => {
                Err(CallFailure::Refused(Box::new(wire::api_refusal(reason, "no").into())))
            }
            None => Ok(Reply::Posted(9)),
        }
    }

    fn check_standing(
        &self,
        request: &wallet::CheckStandingRequest,
    ) -> wallet::CheckStandingResponse {
        let may_play =
            PlayStanding { kind: StandingKind::MayPlay.into(), ..PlayStanding::default() };
        let players = request.player_ids.iter().map(|id| wallet::PlayerStanding {
            player_id: id.clone(),
            standing: Some(self.standings.get(&id[0]).unwrap_or(&may_play).clone()),
            available: None,
        });
        wallet::CheckStandingResponse { players: players.collect() }
    }

    /// Runs effects and makes decisions until something is waited for.
    pub(crate) fn run_until_idle(&mut self) {
        for _ in 0..10_000 {
            let ran = self
                .pending_effects()
                .into_iter()
                .any(|effect| self.run_effect(|other| other == effect));
            if !ran && !self.decide() {
                return;
            }
        }
        panic!("there is no end to it");
    }

    /// Runs effects and makes decisions for as long as `go` holds, or until something is waited
    /// for.
    pub(crate) fn run_while(&mut self, go: impl Fn(&Harness) -> bool) {
        for _ in 0..10_000 {
            if !go(self) {
                return;
            }
            let ran = self
                .pending_effects()
                .into_iter()
                .any(|effect| self.run_effect(|other| other == effect));
            if !ran && !self.decide() {
                return;
            }
        }
        panic!("there is no end to it");
    }

    fn decide(&mut self) -> bool {
        let Some(play) = &self.state.play else { return false };
        if play.to_act().is_none() {
            return false;
        }
        let Next::Decision(decision) = rules::next(&play.replay.hand) else { return false };
        let calm = decision.legal.iter().find_map(|legal| match legal.kind {
            MoveKind::Check => Some(Move::Check),
            MoveKind::Match => Some(Move::Match),
            MoveKind::CallHand => Some(Move::CallHand),
            MoveKind::Stand => Some(Move::Stand),
            _ => None,
        });
        let mv = calm.unwrap_or_else(|| decision.default.clone());
        let event = play.judge(decision.player, mv, DecisionAuthor::Player).unwrap();
        let used = play.time_bank_used(&self.state.table.config, self.now);
        let batch = play.record(event.clone(), used, &self.signature(&event));
        self.append(batch);
        true
    }

    /// Signature of a decision that is due; empty if its player has no key.
    fn signature(&self, event: &Event) -> Vec<u8> {
        let play = self.state.play.as_ref().unwrap();
        let PlayerLine { player, line, said } = PlayerLine::of(play, event).unwrap();
        if self.state.table.player_key(play.seat(player)).is_none() {
            return Vec::new();
        }
        let chain = &play.chain.unwrap().with(false, &line);
        let statement = DecisionStatement { context: &play.context, chain, said: &said };
        statement.sign(&signing_key(play.players[player.index()].0[0])).to_vec()
    }

    /// Appends a batch, moves the state, and crashes.
    pub(crate) fn append(&mut self, batch: Batch) {
        self.state.check(&batch, self.now).unwrap();
        let request_ids = self.request_ids(&self.state);
        let Batch { events, mut inputs } = batch;
        for (stream, event) in &events {
            let kind = self.state.apply(*stream, event, &mut inputs, self.now).unwrap();
            let position = Position(self.log.len() as u64);
            self.state.table.note_position(*stream, event, position).unwrap();
            self.log.push((*stream, event.clone(), self.now));
            if let Some(kind) = kind {
                self.published.push(PublishedEvent {
                    sequence: self.state.table.sequence,
                    at: self.now,
                    kind,
                });
            }
        }
        self.check_request_ids(&request_ids);
        if !events.is_empty() && !self.steady {
            self.crash();
        }
    }

    /// Folds the log and compares the result with the state.
    pub(crate) fn crash(&mut self) {
        if self.state.play.as_ref().is_some_and(|play| play.lost_cards.is_some()) {
            return self.restart(self.now);
        }
        let misbehaviour = std::mem::take(&mut self.dealer.misbehaviour);
        let recovered = self.recovered(self.now);
        self.dealer.misbehaviour = misbehaviour;
        let RecoveredState { state, past, dealer_answered: _ } = match recovered {
            Ok(recovered) => recovered,
            Err(closed) => {
                assert!(self.pending_effects().is_empty() && self.state.is_closed());
                return assert_eq!(closed, ClosedTable::of(&self.state.table));
            }
        };
        let of =
            |state: &TableState| pending_effects(&state.table, state.play.as_ref(), &self.timing());
        assert_eq!(of(&state), of(&self.state));
        assert_eq!(self.request_ids(&state), self.request_ids(&self.state));
        assert_eq!(state.table.exclusions, self.state.table.exclusions);
        for viewer in [None, Some(player(1)), Some(player(4))] {
            let (mut new, mut old) = (state.view(viewer), self.state.view(viewer));
            if state.play.is_none() {
                // The last hand is shown between two hands only.
                (new.hand, old.hand) = (None, None);
            }
            assert_eq!(new, old);
        }
        self.check_resent(past);
        if state.play.is_some() {
            self.state = state;
        }
    }

    /// Starts the table again with the dealer as it is. The table was last known to run at
    /// `last_alive`.
    pub(crate) fn restart(&mut self, last_alive: UnixMicros) {
        let Ok(recovered) = self.recovered(last_alive) else { panic!("the table is closed") };
        let RecoveredState { state, past, dealer_answered } = recovered;
        (self.state, self.listening_since) = (state, self.now);
        // What was published while the cards were lost said less.
        self.published = past;
        let play = self.state.play.as_ref().filter(|play| play.suspension.is_some());
        if let Some(play) = play.filter(|_| dealer_answered) {
            let batch = suspension::continue_after_recovery(&self.state.table, play, self.now);
            self.append(batch);
        }
    }

    fn recovered(&mut self, last_alive: UnixMicros) -> Result<RecoveredState, ClosedTable> {
        let events = self.log.clone();
        let mut recovered = recovery::recover_at_once(events, last_alive, |request| {
            match self.dealer.answer(&PeerCall::Perform(request)) {
                Ok(Reply::Performed(answer)) => Some(answer),
                _ => None,
            }
        })?;
        recovered.state.table.follow_game(&self.games);
        Ok(recovered)
    }

    /// Checks that repeated updates equal the live ones to the byte.
    fn check_resent(&self, past: Vec<PublishedEvent>) {
        let Some(first) = past.first().map(|past| past.sequence) else { return };
        let updates = |events: &mut dyn Iterator<Item = &PublishedEvent>, viewer| {
            let mut publisher = crate::publish::Publisher::new(TABLE, Default::default());
            for past in events {
                publisher.remember(past.duplicate());
            }
            publisher.updates_since(viewer, first - 1)
        };
        for viewer in [None, Some(player(1)), Some(player(4))] {
            let mut live = self.published.iter().filter(|past| past.sequence >= first);
            assert_eq!(updates(&mut past.iter(), viewer), updates(&mut live, viewer));
        }
    }

    /// Names of the appended events, without the first `skip`.
    pub(crate) fn event_names(&self, skip: usize) -> Vec<&'static str> {
        self.log[skip..].iter().map(|(_, event, _)| event.name()).collect()
    }
}

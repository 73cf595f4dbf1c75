//! A hand in play as its stream says: the rules' state, where its cards lie, its clock, and how far
//! its ends (settlement, transfer, seed) have come. A pure fold.

use std::time::Duration;

use primitives::{HandId, PlayerId, SeatNo, UnixMicros};
use proto::event::v1 as pb;
use rules::{By, Event, Move, Next, Player, Viewer};
use wire::replay::Unplayable;
use wire::{HandReplay, Recorded};

use crate::table::Config;

/// How far a hand has come outside the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The dealer has not bound the seats' entropy yet; no ante is paid.
    Opened,
    /// Cards and decisions.
    Playing,
    /// The settlement is on record.
    Settled,
    /// The wallet has posted it.
    Posted,
    /// The seed is open.
    Revealed,
}

/// A hand in play between two events.
#[derive(Clone)]
pub struct Play {
    pub hand_no: u64,
    pub hand_id: HandId,
    pub opened: pb::HandOpened,
    pub replay: HandReplay,
    pub players: Vec<PlayerId>,
    pub stage: Stage,
    /// Names the decision that is due, or the last one: counts decisions from 1.
    pub turn: u32,
    /// When the decision that is due became due.
    pub due_at: UnixMicros,
    /// The deadline that an interruption moved it to.
    pub resumed: Option<UnixMicros>,
    /// What is left of each player's time bank.
    pub banks: Vec<Duration>,
    /// Clocks missed in a row, as they stood before the hand and since.
    pub misses: Vec<u32>,
    /// Who has left the hand.
    pub left: Vec<bool>,
    /// Events of the hand's stream so far: names requests to the dealer.
    pub version: u64,
    /// For the wallet, once settled.
    pub settled: Option<pb::HandSettled>,
}

impl Play {
    /// The hand as its first event describes it. `misses` are the seats', p1 first.
    pub fn open(
        hand_id: HandId,
        opened: &pb::HandOpened,
        misses: Vec<u32>,
        at: UnixMicros,
    ) -> Result<Play, Unplayable> {
        let replay = HandReplay::open(opened)?;
        let players = opened
            .roster
            .iter()
            .map(|seat| wire::field::player_id(&seat.player_id))
            .collect::<Result<Vec<_>, _>>()?;
        let count = players.len();
        Ok(Play {
            hand_no: opened.hand_no,
            hand_id,
            opened: opened.clone(),
            replay,
            players,
            stage: Stage::Opened,
            turn: 0,
            due_at: at,
            resumed: None,
            banks: vec![Duration::from_secs(u64::from(opened.bank_seconds)); count],
            misses,
            left: vec![false; count],
            version: 1,
            settled: None,
        })
    }

    /// The player's place in this hand, if he has one.
    #[must_use]
    pub fn player(&self, id: PlayerId) -> Option<Player> {
        let index = self.players.iter().position(|other| *other == id)?;
        u8::try_from(index).ok().and_then(Player::try_new)
    }

    /// With whose eyes somebody sees this hand. Whoever has no cards in it sees what all may see.
    #[must_use]
    pub fn viewer(&self, id: Option<PlayerId>) -> Viewer {
        id.and_then(|id| self.player(id)).map_or(Viewer::Public, Viewer::Player)
    }

    #[must_use]
    pub fn seat(&self, player: Player) -> SeatNo {
        self.replay.seats[player.index()]
    }

    /// The player whose decision is due.
    #[must_use]
    pub fn to_act(&self) -> Option<Player> {
        if self.stage != Stage::Playing {
            return None;
        }
        match rules::next(&self.replay.hand) {
            Next::Decision(decision) => Some(decision.player),
            Next::Chance(_) | Next::Done(_) => None,
        }
    }

    /// When the decision that is due is taken by the clock, and how much of that is time bank.
    #[must_use]
    pub fn deadline(&self, config: &Config) -> Option<(UnixMicros, Duration)> {
        let bank = self.banks[self.to_act()?.index()];
        let action = Duration::from_secs(u64::from(config.action_seconds));
        Some((self.resumed.unwrap_or_else(|| self.due_at.plus(action).plus(bank)), bank))
    }

    /// What a decision made now uses of the player's time bank.
    #[must_use]
    pub fn bank_used(&self, config: &Config, now: UnixMicros) -> Duration {
        let Some((deadline, bank)) = self.deadline(config) else { return Duration::ZERO };
        // Counted back from the deadline, so that an interruption costs nobody anything.
        bank.saturating_sub(deadline.since(now))
    }

    /// Takes an event of the hand's stream. An input of the rules moves the dictionary of places
    /// and is returned, and is the caller's to give to [`Play::evolve`].
    pub fn record(
        &mut self,
        recorded: &Recorded,
        faces: &dyn Fn(fairness::Handle) -> Option<rules::Card>,
        at: UnixMicros,
    ) -> Result<Option<Event>, Unplayable> {
        self.version += 1;
        if let Recorded::HandSealed(_) = recorded {
            self.stage = Stage::Playing;
            self.due_at = at;
        } else if let Recorded::HandSettled(settled) = recorded {
            self.stage = Stage::Settled;
            self.settled = Some(settled.clone());
        } else if let Recorded::SettlementPosted(_) = recorded {
            self.stage = Stage::Posted;
        } else if let Recorded::HandRevealed(_) = recorded {
            self.stage = Stage::Revealed;
        } else if let Recorded::ClockResumed(resumed) = recorded {
            self.resumed = Some(UnixMicros(resumed.deadline_micros));
        } else if let Recorded::MoveDecided(decided) = recorded {
            self.count(decided)?;
        }
        self.replay.read(recorded, faces)
    }

    /// Moves the hand on by an event that [`Play::record`] returned.
    pub fn evolve(&mut self, event: &Event, at: UnixMicros) {
        rules::evolve(&mut self.replay.hand, event);
        self.due_at = at;
        self.resumed = None;
        if self.to_act().is_some() {
            self.turn += 1;
        }
    }

    /// Time bank and misses.
    fn count(&mut self, decided: &pb::MoveDecided) -> Result<(), Unplayable> {
        let player = self.replay.player_of(decided.seat)?.index();
        let used = Duration::from_millis(u64::from(decided.bank_used_ms));
        self.banks[player] = self.banks[player].saturating_sub(used);
        self.misses[player] = if decided.by_clock { self.misses[player] + 1 } else { 0 };
        if decided.r#move.as_ref().is_some_and(is_leave) {
            self.left[player] = true;
        }
        Ok(())
    }

    /// A decision, checked, as it is recorded.
    pub fn decide(
        &self,
        config: &Config,
        player: Player,
        mv: &Move,
        (by, now): (By, UnixMicros),
    ) -> Result<pb::MoveDecided, rules::Refusal> {
        let event = rules::decide(&self.replay.hand, player, mv.clone(), by)?;
        let recorded = self.replay.record_move(&event);
        let mut recorded = recorded
            .ok()
            .flatten()
            .expect("the rules accept only cards that the player holds, and those have places");
        let used = if *mv == Move::Leave { Duration::ZERO } else { self.bank_used(config, now) };
        recorded.bank_used_ms = u32::try_from(used.as_millis()).unwrap_or(u32::MAX);
        recorded.turn = self.turn;
        Ok(recorded)
    }
}

fn is_leave(mv: &proto::common::v1::Move) -> bool {
    mv.kind == i32::from(proto::common::v1::MoveKind::Leave)
}

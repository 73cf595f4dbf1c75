//! A hand in play as its stream says: the rules' state, where its cards lie and what proves it, its
//! clock. A pure fold. What comes before the first card and after the settlement is the table's: see
//! [`crate::table`].

use std::sync::Arc;
use std::time::Duration;

use fairness::Handle;
use primitives::{HandId, PlayerId, SeatNo, UnixMicros};
use proto::common::v1::PlayStanding;
use proto::common::v1::{CardProof, CardRef, DeckRoot};
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use rules::{By, Event, Move, Next, Player, Viewer};
use wire::places::handle_from_pb;
use wire::replay::Unplayable;
use wire::{HandReplay, Recorded};

use crate::proof::{self, Face, Faces, Shown};
use crate::table::Config;

/// What a hand takes over from its table when it opens.
#[derive(Debug, Clone, Default)]
pub struct Seated {
    /// The clocks its players have missed in a row, p1 first.
    pub misses: Vec<u32>,
    /// Of everybody with a seat, where there is something to say.
    pub standings: Vec<(PlayerId, PlayStanding)>,
}

/// How far a hand has come outside the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The dealer has not bound the seats' entropy yet; no ante is paid.
    Opened,
    /// Cards and decisions.
    Playing,
    /// The settlement is on record.
    Settled,
}

/// Why a hand cannot go on: found when the table was taken up, and on no record yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The dealer does not give back what the table has lost.
    Silent(String),
    /// It gives something else.
    Contradicted(String),
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
    /// What players with a seat are told of how they stand, as of the hand's opening.
    pub standings: Vec<(PlayerId, PlayStanding)>,
    /// Who has left the hand.
    pub left: Vec<bool>,
    /// Events of the hand's stream so far: names requests to the dealer.
    pub version: u64,
    /// What the seats brought to chance, once it is bound.
    pub sealed: Option<pb::HandSealed>,
    /// What proves the cards that are known here.
    pub shown: Arc<Shown>,
    /// For the wallet, once settled.
    pub settled: Option<pb::HandSettled>,
    pub fault: Option<Fault>,
}

impl Play {
    /// The hand as its first event describes it. `seated` is as of this event.
    pub fn open(
        hand_id: HandId,
        opened: &pb::HandOpened,
        seated: Seated,
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
            misses: seated.misses,
            standings: seated.standings,
            left: vec![false; count],
            version: 1,
            sealed: None,
            shown: Arc::default(),
            settled: None,
            fault: None,
        })
    }

    /// What somebody with a seat is told of how they stand.
    #[must_use]
    pub fn standing_of(&self, player: PlayerId) -> Option<&PlayStanding> {
        self.standings.iter().find(|(of, _)| *of == player).map(|(_, standing)| standing)
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
        faces: &Faces,
        at: UnixMicros,
    ) -> Result<Option<Event>, Unplayable> {
        self.note(recorded, at)?;
        let event = self.replay.read(recorded, &|place| faces.get(&place).map(|face| face.card))?;
        if let Recorded::ChanceUsed(used) = recorded {
            self.shuffled(used);
        } else if let Recorded::CardsMoved(moved) = recorded {
            self.learned(moved, faces)?;
        }
        Ok(event)
    }

    /// Takes what needs no card to be known: all that the posting of a settled hand is made of.
    pub fn note(&mut self, recorded: &Recorded, at: UnixMicros) -> Result<(), Unplayable> {
        self.version += 1;
        if let Recorded::HandSealed(sealed) = recorded {
            self.stage = Stage::Playing;
            self.due_at = at;
            self.sealed = Some(sealed.clone());
        } else if let Recorded::HandSettled(settled) = recorded {
            self.stage = Stage::Settled;
            self.settled = Some(settled.clone());
        } else if let Recorded::ClockResumed(resumed) = recorded {
            self.resumed = Some(UnixMicros(resumed.deadline_micros));
        } else if let Recorded::MoveDecided(decided) = recorded {
            self.count(decided)?;
        }
        Ok(())
    }

    /// A shuffle's root is public; what it took lies elsewhere now.
    fn shuffled(&mut self, used: &pb::ChanceUsed) {
        let shuffle = used.operation.as_ref().and_then(|asked| asked.kind.as_ref());
        let Some(dealer::operation::Kind::Shuffle(_)) = shuffle else { return };
        let places = &self.replay.places;
        let lies_there = |card: &rules::Card, proof: &CardProof| {
            places.of(*card).is_ok_and(|place| {
                (place.op, u32::from(place.position)) == (proof.op, proof.position)
            })
        };
        let shown = Arc::make_mut(&mut self.shown);
        shown.proofs.retain(|card, proof| lies_there(card, proof));
        shown.roots.extend(used.result.as_ref().and_then(|result| proof::root_of(result).ok()));
    }

    fn learned(&mut self, moved: &pb::CardsMoved, faces: &Faces) -> Result<(), Unplayable> {
        let shown = Arc::make_mut(&mut self.shown);
        for CardRef { op, position, card: _, salt: _ } in &moved.cards {
            let place = handle_from_pb(&dealer::Handle { op: *op, position: *position })?;
            if let Some(Face { card, proof: Some(proof) }) = faces.get(&place) {
                shown.proofs.insert(*card, Arc::clone(proof));
            }
        }
        Ok(())
    }

    /// The salts of the cards that everybody sees.
    pub fn salt(&self, cards: &mut [CardRef]) {
        let lies_at = |card: &CardRef| {
            let position = u16::try_from(card.position).ok()?;
            let card = self.replay.places.card_at(Handle { op: card.op, position }).ok()?;
            self.shown.proofs.get(&card)
        };
        for card in cards.iter_mut().filter(|card| !card.card.is_empty()) {
            card.salt = lies_at(card).map_or_else(Vec::new, |proof| proof.salt.clone());
        }
    }

    /// The commitment to a pile, where it is on record.
    #[must_use]
    pub fn root(&self, op: u32) -> Option<DeckRoot> {
        self.shown.root(op).cloned()
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
        self.salt(&mut recorded.cards);
        Ok(recorded)
    }
}

fn is_leave(mv: &proto::common::v1::Move) -> bool {
    mv.kind == i32::from(proto::common::v1::MoveKind::Leave)
}

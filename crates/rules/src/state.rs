//! The table state that all variants share: places, piles, pots, and what is due.
//!
//! Credits move only through the functions of `pots`, cards leave draw piles only through those of
//! `piles`; a game decides when.

mod betting;
mod piles;
mod pots;

use std::ops::{Index, IndexMut};

use primitives::{Credits, SeatNo};
use smallvec::SmallVec;

pub(crate) use betting::Bets;
pub(crate) use piles::Pile;
pub(crate) use pots::{Layer, Layers};

use crate::cards::{CardSet, Cards};
use crate::chance::Chance;
use crate::line::{FinalHand, Line, Settlement};
use crate::player::{Player, PlayerSet};
use crate::rank::Rank;
use crate::ruleset::RuleSet;
use crate::setup::Setup;

/// One player's place.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) seat: SeatNo,
    pub(crate) stack: Credits,
    /// What went into the Hand Pot in this hand, less what was returned.
    pub(crate) paid: Credits,
    /// In the order they came.
    pub(crate) cards: Cards,
    /// Those of `cards` that lie face up: the Disruptor Field, a Force face card.
    pub(crate) face_up: CardSet,
    /// Demise, tie and blind cards: beside the hand, face up.
    pub(crate) extra: Cards,
}

/// Ranks at the reveal, by player.
pub(crate) type Ranks = [Option<Rank>; 8];

/// Who is to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nobody yet: the game says what comes next.
    Open,
    Of(Player),
    Over,
}

#[derive(Debug, Clone)]
pub(crate) struct Core {
    pub(crate) rules: RuleSet,
    places: Vec<Place>,
    /// Neither folded nor out.
    pub(crate) live: PlayerSet,
    /// Whose decisions are their defaults from now on.
    pub(crate) left: PlayerSet,
    /// Whose hands everybody has seen.
    pub(crate) shown: PlayerSet,
    pub(crate) piles: SmallVec<[Pile; 2]>,
    pub(crate) pot: Credits,
    pub(crate) sabacc: Credits,
    pub(crate) carried: Credits,
    pub(crate) rake: Credits,
    /// Until the end, then they are the settlement's.
    lines: Vec<Line>,
    queue: Vec<Chance>,
    /// How much of the queue is done.
    done: usize,
    pub(crate) turn: Turn,
    settlement: Option<Box<Settlement>>,
}

impl Core {
    /// `setup` was checked and has `count` players.
    pub(crate) fn new(setup: &Setup, count: u8) -> Core {
        let place = |(&seat, &stack): (&SeatNo, &Credits)| Place {
            seat,
            stack,
            paid: Credits::ZERO,
            cards: Cards::new(),
            face_up: CardSet::EMPTY,
            extra: Cards::new(),
        };
        Core {
            rules: setup.rules,
            places: setup.seats.iter().zip(&setup.stacks).map(place).collect(),
            live: PlayerSet::first(count),
            left: PlayerSet::EMPTY,
            shown: PlayerSet::EMPTY,
            piles: setup.rules.variant().piles.iter().map(Pile::new).collect(),
            pot: Credits::ZERO,
            sabacc: setup.sabacc_pot,
            carried: setup.carried_pot,
            rake: Credits::ZERO,
            lines: Vec::new(),
            queue: Vec::with_capacity(usize::from(count) + 2),
            done: 0,
            turn: Turn::Open,
            settlement: None,
        }
    }

    /// Everybody who was dealt in.
    pub(crate) fn everybody(&self) -> PlayerSet {
        PlayerSet::first(u8::try_from(self.places.len()).unwrap_or(Player::MAX))
    }

    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Live and with credits left to bet.
    pub(crate) fn able(&self) -> PlayerSet {
        self.live.iter().filter(|&player| !self[player].stack.is_zero()).collect()
    }

    /// The uses of chance that are due, in order.
    pub(crate) fn due(&self) -> &[Chance] {
        &self.queue[self.done..]
    }

    pub(crate) fn expect(&mut self, chance: Chance) {
        self.queue.push(chance);
    }

    /// Takes the first use of chance off the queue. There is one.
    pub(crate) fn take_due(&mut self) -> Chance {
        let empty = Chance::Pulse { ppm: 0 };
        let due = std::mem::replace(&mut self.queue[self.done], empty);
        self.done += 1;
        if self.done == self.queue.len() {
            self.queue.clear();
            self.done = 0;
        }
        due
    }

    pub(crate) fn lines(&self) -> &[Line] {
        self.settlement.as_ref().map_or(&self.lines, |settlement| &settlement.lines)
    }

    pub(crate) fn settlement(&self) -> Option<&Settlement> {
        self.settlement.as_deref()
    }

    fn line(&mut self, line: Line) {
        self.lines.push(line);
    }

    /// The hand is over. Everything but a carry and the rake has its line already.
    pub(crate) fn finish(&mut self, winners: PlayerSet, ranks: &Ranks) {
        if !self.carried.is_zero() {
            self.line(Line::Carries { amount: self.carried });
        }
        if !self.rake.is_zero() {
            self.line(Line::Rake { amount: self.rake });
        }
        let hand = |(place, &rank): (&Place, &Option<Rank>)| FinalHand {
            cards: place.cards.clone(),
            rank,
        };
        self.turn = Turn::Over;
        self.settlement = Some(Box::new(Settlement {
            lines: std::mem::take(&mut self.lines),
            finishing_stacks: self.places.iter().map(|place| place.stack).collect(),
            finishing_sabacc_pot: self.sabacc,
            finishing_carried_pot: self.carried,
            rake: self.rake,
            winners,
            hands: self.places.iter().zip(ranks).map(hand).collect(),
            shown: self.shown,
        }));
    }

    /// Where one live player is left, returns what nobody matched, gives him the whole pot and ends the
    /// hand.
    pub(crate) fn ends_by_folds(&mut self) -> bool {
        let Some(winner) = self.live.lowest().filter(|_| self.live.len() == 1) else {
            return false;
        };
        self.return_uncalled();
        self.take_in_carried();
        self.win(winner, crate::line::Pot::Main, self.pot);
        let mut ranks = Ranks::default();
        for player in self.everybody().minus(self.live).iter() {
            ranks[player.index()] = Some(Rank::Folded);
        }
        self.finish(self.live, &ranks);
        true
    }

    /// Folds: the penalty first, then the whole hand goes face down to the discards of the first pile.
    pub(crate) fn fold(&mut self, player: Player) {
        self.live = self.live.without(player);
        self.pay_sabacc(player, self.rules.fold_penalty);
        self[player].face_up = CardSet::EMPTY;
        let cards = self[player].cards.clone();
        self.bury(0, &cards);
    }
}

impl Index<Player> for Core {
    type Output = Place;

    fn index(&self, player: Player) -> &Place {
        &self.places[player.index()]
    }
}

impl IndexMut<Player> for Core {
    fn index_mut(&mut self, player: Player) -> &mut Place {
        &mut self.places[player.index()]
    }
}

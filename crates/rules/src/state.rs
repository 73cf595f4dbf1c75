//! State of the table that all variants share: players, piles, pots, and what is due.
//!
//! Credits move only through the functions of `pots`, and cards leave draw piles only through those
//! of `piles`. A game decides when.

mod betting;
mod piles;
mod pots;

use std::ops::{Index, IndexMut};

use primitives::{Credits, SeatNo};
use smallvec::SmallVec;

pub(crate) use betting::Bets;
pub(crate) use piles::Pile;
pub(crate) use pots::{Layer, Layers};

use crate::cards::{Card, CardSet, Cards};
use crate::chance::{Chance, DealReason};
use crate::player::{Player, PlayerSet};
use crate::rank::Rank;
use crate::ruleset::RuleSet;
use crate::settlement::{FinalHand, Settlement, SettlementItem};
use crate::setup::Setup;

/// State of one player.
#[derive(Debug, Clone)]
pub(crate) struct PlayerState {
    pub(crate) seat: SeatNo,
    pub(crate) stack: Credits,
    /// Contribution to the Hand Pot in this hand, less what was returned.
    pub(crate) contribution: Credits,
    /// In the order they came.
    pub(crate) cards: Cards,
    /// Those of `cards` that lie face up: the Disruptor Field, a Force face card.
    pub(crate) face_up: CardSet,
    /// Demise, tie and blind cards: beside the hand, face up.
    pub(crate) extra: Cards,
}

impl PlayerState {
    /// Adds dealt cards to the hand, or to the cards beside it for a tie-break.
    pub(crate) fn add_dealt(&mut self, reason: DealReason, cards: &[Card]) {
        let onto = if reason == DealReason::TieBreak { &mut self.extra } else { &mut self.cards };
        onto.extend_from_slice(cards);
    }
}

/// Ranks at the reveal, by player.
pub(crate) type Ranks = [Option<Rank>; 8];

/// Player to move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// No player yet: the game decides what comes next.
    Open,
    Of(Player),
    Over,
}

/// State of the table during a hand.
#[derive(Debug, Clone)]
pub(crate) struct Core {
    pub(crate) rules: RuleSet,
    players: Vec<PlayerState>,
    /// Players who are neither folded nor out.
    pub(crate) live: PlayerSet,
    /// Players whose decisions are their defaults from now on.
    pub(crate) leavers: PlayerSet,
    /// Players whose hands everybody has seen.
    pub(crate) shown: PlayerSet,
    pub(crate) piles: SmallVec<[Pile; 2]>,
    pub(crate) hand_pot: Credits,
    pub(crate) sabacc_pot: Credits,
    pub(crate) carried_pot: Credits,
    pub(crate) rake: Credits,
    /// Settlement lines so far; moved into the settlement at the end.
    lines: Vec<SettlementItem>,
    queue: Vec<Chance>,
    /// Number of entries of the queue that are done.
    queue_done: usize,
    pub(crate) turn: Turn,
    settlement: Option<Box<Settlement>>,
}

impl Core {
    /// Makes the state of a checked setup with `count` players.
    pub(crate) fn new(setup: &Setup, count: u8) -> Core {
        let place = |(&seat, &stack): (&SeatNo, &Credits)| PlayerState {
            seat,
            stack,
            contribution: Credits::ZERO,
            cards: Cards::new(),
            face_up: CardSet::EMPTY,
            extra: Cards::new(),
        };
        Core {
            rules: setup.rules,
            players: setup.seats.iter().zip(&setup.stacks).map(place).collect(),
            live: PlayerSet::first(count),
            leavers: PlayerSet::EMPTY,
            shown: PlayerSet::EMPTY,
            piles: setup.rules.variant().piles.iter().map(Pile::new).collect(),
            hand_pot: Credits::ZERO,
            sabacc_pot: setup.sabacc_pot,
            carried_pot: setup.carried_pot,
            rake: Credits::ZERO,
            lines: Vec::new(),
            queue: Vec::with_capacity(usize::from(count) + 2),
            queue_done: 0,
            turn: Turn::Open,
            settlement: None,
        }
    }

    /// All players who were dealt in.
    pub(crate) fn all_players(&self) -> PlayerSet {
        PlayerSet::first(u8::try_from(self.players.len()).unwrap_or(Player::MAX))
    }

    pub(crate) fn players(&self) -> &[PlayerState] {
        &self.players
    }

    /// Live players with credits left to bet.
    pub(crate) fn able_to_bet(&self) -> PlayerSet {
        self.live.iter().filter(|&player| !self[player].stack.is_zero()).collect()
    }

    /// The uses of chance that are due, in order.
    pub(crate) fn due(&self) -> &[Chance] {
        &self.queue[self.queue_done..]
    }

    /// Makes a use of chance due, after those that are.
    pub(crate) fn request(&mut self, chance: Chance) {
        self.queue.push(chance);
    }

    /// Takes the first use of chance off the queue. There must be one.
    pub(crate) fn take_due(&mut self) -> Chance {
        let empty = Chance::Pulse { ppm: 0 };
        let due = std::mem::replace(&mut self.queue[self.queue_done], empty);
        self.queue_done += 1;
        if self.queue_done == self.queue.len() {
            self.queue.clear();
            self.queue_done = 0;
        }
        due
    }

    pub(crate) fn lines(&self) -> &[SettlementItem] {
        self.settlement.as_ref().map_or(&self.lines, |settlement| &settlement.lines)
    }

    pub(crate) fn settlement(&self) -> Option<&Settlement> {
        self.settlement.as_deref()
    }

    fn line(&mut self, line: SettlementItem) {
        self.lines.push(line);
    }

    /// Ends the hand. Adds the lines of the carried pot and the rake; all other lines are there
    /// already.
    pub(crate) fn finish(&mut self, winners: PlayerSet, ranks: &Ranks) {
        if !self.carried_pot.is_zero() {
            self.line(SettlementItem::Carries { amount: self.carried_pot });
        }
        if !self.rake.is_zero() {
            self.line(SettlementItem::Rake { amount: self.rake });
        }
        let hand = |(place, &rank): (&PlayerState, &Option<Rank>)| FinalHand {
            cards: place.cards.clone(),
            rank,
        };
        self.turn = Turn::Over;
        self.settlement = Some(Box::new(Settlement {
            lines: std::mem::take(&mut self.lines),
            finishing_stacks: self.players.iter().map(|place| place.stack).collect(),
            finishing_sabacc_pot: self.sabacc_pot,
            finishing_carried_pot: self.carried_pot,
            rake: self.rake,
            winners,
            hands: self.players.iter().zip(ranks).map(hand).collect(),
            shown: self.shown,
        }));
    }

    /// If one live player is left, returns what nobody matched, gives that player the whole pot and
    /// ends the hand. Returns whether the hand has ended.
    pub(crate) fn finish_if_folded(&mut self) -> bool {
        let Some(winner) = self.live.lowest().filter(|_| self.live.len() == 1) else {
            return false;
        };
        self.return_uncalled();
        self.add_carried_pot();
        self.pay_from_hand_pot(winner, crate::settlement::Pot::Main, self.hand_pot);
        let mut ranks = Ranks::default();
        for player in self.all_players().minus(self.live).iter() {
            ranks[player.index()] = Some(Rank::Folded);
        }
        self.finish(self.live, &ranks);
        true
    }

    /// Folds a hand: takes the penalty first, then puts the cards face down to the discards of the
    /// first pile.
    pub(crate) fn fold(&mut self, player: Player) {
        self.live = self.live.without(player);
        self.pay_sabacc(player, self.rules.fold_penalty);
        self[player].face_up = CardSet::EMPTY;
        let cards = self[player].cards.clone();
        self.discard_hand(0, &cards);
    }
}

impl Index<Player> for Core {
    type Output = PlayerState;

    fn index(&self, player: Player) -> &PlayerState {
        &self.players[player.index()]
    }
}

impl IndexMut<Player> for Core {
    fn index_mut(&mut self, player: Player) -> &mut PlayerState {
        &mut self.players[player.index()]
    }
}

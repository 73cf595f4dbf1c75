//! State of a Kessel game as one viewer may know it, apart from cards and credits.
//!
//! Specification: rules/SPEC.md §3.5.

use smallvec::SmallVec;

use crate::cards::{Card, Cards};
use crate::player::{Player, PlayerSet, Viewer};
use crate::rank::Rank;
use crate::state::Core;
use crate::token::ShiftToken;

use super::ranking::FixTokens;
use super::turn::{Step, TurnState};
use super::{Kessel, Phase};

/// State of a game of Kessel sabacc as one viewer may know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KesselState {
    /// Player who begins the laps of this round; none before they begin.
    pub starter: Option<Player>,
    /// Lap of turns in this round, from 1; 0 before the first one.
    pub lap: u8,
    /// Top cards of the discard piles.
    pub sand_discard: Option<Card>,
    pub blood_discard: Option<Card>,
    /// The fix tokens in effect in this round.
    pub fix_tokens: FixTokens,
    /// Dice of which one is picked as the Prime, while that is due.
    pub prime_dice: Option<[u8; 2]>,
    /// Players whose latest action of this round is a stand.
    pub standing: PlayerSet,
    /// Players whom others' stock, tax and disrupt tokens do not touch in this round.
    pub immune: PlayerSet,
    /// Players who must stand in their next turn.
    pub embargoed: PlayerSet,
    /// p1 first.
    pub players: Vec<KesselPlayerState>,
}

/// State of one player of Kessel sabacc as one viewer may know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KesselPlayerState {
    /// Chips in stock.
    pub stock: u8,
    /// Chips invested in this round.
    pub hand_pot: u8,
    /// Number of tokens not yet played.
    pub tokens_left: u8,
    /// These tokens, for a viewer who knows them; else none.
    pub tokens: SmallVec<[ShiftToken; 3]>,
    pub played: SmallVec<[ShiftToken; 3]>,
    /// Impostors whose dice have been rolled in this reveal.
    pub impostors: SmallVec<[ImpostorState; 2]>,
    /// The hand of the last reveal that the player was in.
    pub revealed: Option<RevealedHand>,
}

/// An Impostor that has rolled its dice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImpostorState {
    pub card: Card,
    pub dice: [u8; 2],
    /// Value that it was given, for a viewer who knows it.
    pub value: Option<u8>,
}

/// A hand as it was revealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RevealedHand {
    pub cards: Cards,
    pub rank: Rank,
}

impl Kessel {
    pub(super) fn state_for(&self, core: &Core, viewer: Viewer) -> KesselState {
        let (starter, lap) = match self.phase {
            Phase::Turn(_) | Phase::Reveal(_) => (Some(self.starter), self.lap),
            Phase::Draft | Phase::Dealing => (None, 0),
        };
        let prime_dice = match self.phase {
            Phase::Turn(TurnState { step: Step::Prime(dice), .. }) => Some(dice),
            Phase::Turn(_) | Phase::Reveal(_) | Phase::Draft | Phase::Dealing => None,
        };
        let top = |pile: usize| core.piles.get(pile).and_then(|pile| pile.top_discard());
        let players = core.all_players().iter();
        KesselState {
            starter,
            lap,
            sand_discard: top(0),
            blood_discard: top(1),
            fix_tokens: self.fix_tokens,
            prime_dice,
            standing: self.standing,
            immune: self.immune,
            embargoed: self.embargoed,
            players: players.map(|player| self.player_state(player, viewer)).collect(),
        }
    }

    fn player_state(&self, player: Player, viewer: Viewer) -> KesselPlayerState {
        let place = &self.players[player.index()];
        let is_own = viewer == Viewer::Auditor || viewer == Viewer::Player(player);
        let revealed = |rank| RevealedHand { cards: place.hand.clone(), rank };
        let mut impostors = SmallVec::new();
        if let Phase::Reveal(all) = &self.phase {
            let rolled = all.iter().filter(|one| one.player == player && one.dice != [0, 0]);
            impostors.extend(rolled.map(|one| ImpostorState {
                card: one.card,
                dice: one.dice,
                value: one.value.filter(|_| is_own),
            }));
        }
        KesselPlayerState {
            stock: place.chips.stock,
            hand_pot: place.chips.hand_pot,
            tokens_left: u8::try_from(place.tokens.len()).unwrap_or(u8::MAX),
            tokens: if is_own { place.tokens.clone() } else { SmallVec::new() },
            played: place.played.clone(),
            impostors,
            revealed: place.rank.filter(|rank| *rank != Rank::Left).map(revealed),
        }
    }
}

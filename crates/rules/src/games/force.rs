//! Force sabacc: light against dark, and hands that are shown one after the other.
//!
//! ```text
//! alignment ─▶ second card ─▶ actions ─▶ betting ─▶ … ─▶ showdown ─▶ scoring
//!                             (from the third cycle a call in place of an action)
//! ```
//! In the showdown each player, from p1, shows the hand, is dealt an extra card and keeps or drops
//! it before the next player shows. Layers are settled in `scoring`.
//!
//! Specification: rules/SPEC.md §11.1, §11.2.

mod explain;
mod scoring;
mod sides;

use crate::cards::{Card, Cards};
use crate::chance::{Deal, DealReason, Destination, Resolved};
use crate::deck::S76;
use crate::game::{Game, GameStatus};
use crate::games::GameState;
use crate::games::{action, shifting};
use crate::hand_phase::HandPhase;
use crate::legal::{Choices, Legal, LegalMoves};
use crate::moves::{Move, MoveKind, Side};
use crate::player::{Player, Viewer};
use crate::ruleset::{Alignment, Field, Key};
use crate::s76::{FACE_CARDS, total};
use crate::state::{Bets, Core, Turn};
use crate::variant::{RakeBase, Variant};
use scoring::Scoring;
use sides::{Sides, flips, shade};

pub(crate) static VARIANT: Variant = Variant {
    id: "force",
    title: "Force sabacc",
    source: "\"Force Sabacc\", hyperspaceprops.com, with both of its alignments",
    player_counts: 2..=8,
    deck: &S76,
    piles: shifting::PILES,
    fields: &[
        Field::text(Key::Alignment, &["choose", "naboo"]),
        Field::number(Key::HandAnte, 10),
        Field::number(Key::MaxHandTotal, 0),
        Field::number(Key::MaxPot, 0),
        Field::number(Key::MaxRaise, 0),
        Field::number(Key::MaxRoundTotal, 0),
        Field::number(Key::MaxRounds, 8),
        Field::number(Key::MinBet, 0),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
    ],
    has_sabacc_pot: false,
    has_carried_pot: true,
    call_reopens_betting: false,
    rake_base: RakeBase::ContestedLayers,
    evaluator: sides::evaluator,
    open,
    explain: explain::explain,
};

/// State of a hand of Force sabacc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForceState {
    /// Side of each player, p1 first, once it is known.
    pub sides: [Option<Side>; Player::MAX as usize],
}

/// The first cycle in which the hand may be called.
pub(crate) const FIRST_CALL_CYCLE: u64 = 3;

#[derive(Clone)]
struct Force {
    phase: Phase,
    /// The cycle, from 1.
    round: u64,
    called_by: Option<Player>,
    sides: Sides,
    /// Cards shown while sides were dealt, and not kept: they go back into the draw pile.
    unkept_cards: Cards,
}

#[derive(Clone)]
enum Phase {
    /// The cards that decide the sides are being dealt.
    Alignment,
    Declaring(Player),
    SecondCard,
    Action(Player),
    /// The action is over; a drawn card, if any, is being dealt.
    AfterAction(Player),
    Betting(Bets),
    /// This player shows the hand next.
    Showing(Player),
    /// The extra card of `player` has been dealt. `before` is the total of the hand without it.
    Extra {
        player: Player,
        before: i16,
    },
    Scoring(Box<Scoring>),
}

fn open(core: &mut Core) -> Box<dyn Game> {
    core.take_antes();
    core.fresh_shuffle(0);
    for player in core.live.iter() {
        match core.rules.alignment {
            Alignment::Choose => {
                core.deal(Destination::Player(player), 0, 1, DealReason::OpeningHand);
            }
            Alignment::Naboo => {
                core.deal_until(Destination::Player(player), 0, FACE_CARDS, DealReason::Alignment);
            }
        }
    }
    Box::new(Force {
        phase: Phase::Alignment,
        round: 1,
        called_by: None,
        sides: Sides::default(),
        unkept_cards: Cards::new(),
    })
}

impl Game for Force {
    fn boxed_clone(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn step(&mut self, core: &mut Core) {
        match &mut self.phase {
            Phase::Alignment => match core.rules.alignment {
                Alignment::Choose => self.phase = Phase::Declaring(first_live(core)),
                Alignment::Naboo => {
                    core.shuffle_in(0, std::mem::take(&mut self.unkept_cards));
                    self.deal_second(core);
                }
            },
            Phase::Declaring(player) | Phase::Action(player) | Phase::Extra { player, .. } => {
                core.turn = Turn::Of(*player);
            }
            Phase::SecondCard => self.phase = Phase::Action(first_live(core)),
            Phase::AfterAction(player) => match core.live.next(*player) {
                Some(next) => self.phase = Phase::Action(next),
                None if Bets::can_start(core) => self.phase = Phase::Betting(Bets::new(core)),
                None => self.next_cycle(core),
            },
            Phase::Betting(bets) => match bets.turn() {
                Some(player) => core.turn = Turn::Of(player),
                None => {
                    core.return_uncalled();
                    self.next_cycle(core);
                }
            },
            &mut Phase::Showing(player) => {
                let before = total(&core[player].cards);
                core.shown = core.shown.with(player);
                if core.deal(Destination::Player(player), 0, 1, DealReason::Extra) {
                    self.phase = Phase::Extra { player, before };
                } else {
                    self.next_showdown(core, player);
                }
            }
            Phase::Scoring(scoring) => scoring.step(core),
        }
    }

    fn apply_outcome(&mut self, core: &mut Core, resolved: Resolved<'_>) {
        match resolved {
            Resolved::Dealt {
                deal: Deal { to: Destination::Player(player), reason, .. },
                cards,
            } => {
                self.add_dealt(core, *player, *reason, cards);
            }
            Resolved::Dealt { deal: Deal { to: Destination::Table, .. }, cards: _ }
            | Resolved::Shuffled { .. }
            | Resolved::Rolled { .. }
            | Resolved::Pulsed(_)
            | Resolved::Picked { .. }
            | Resolved::Sampled { .. } => {}
        }
    }

    fn legal_moves(&self, core: &Core, player: Player) -> LegalMoves {
        let mut moves = LegalMoves::new();
        match &self.phase {
            Phase::Declaring(_) => moves.push(Legal::new(MoveKind::Align, Choices::Side)),
            Phase::Action(_) => {
                action::push_legal(core, player, &mut moves);
                if self.round >= FIRST_CALL_CYCLE {
                    moves.push(Legal::plain(MoveKind::CallHand));
                }
            }
            Phase::Betting(bets) => bets.push_legal(core, player, &mut moves),
            Phase::Extra { .. } => {
                moves.push(Legal::plain(MoveKind::Keep));
                moves.push(Legal::card(MoveKind::Drop, core[player].cards.clone()));
            }
            Phase::Alignment
            | Phase::SecondCard
            | Phase::AfterAction(_)
            | Phase::Showing(_)
            | Phase::Scoring(_) => {}
        }
        moves
    }

    fn default_move(&self, core: &Core, player: Player) -> Move {
        match &self.phase {
            Phase::Declaring(_) => Move::Align(Side::Light),
            Phase::Betting(bets) => bets.default_move(player),
            Phase::Extra { .. } => core[player].cards.last().map_or(Move::Keep, |&c| Move::Drop(c)),
            Phase::Alignment
            | Phase::SecondCard
            | Phase::Action(_)
            | Phase::AfterAction(_)
            | Phase::Showing(_)
            | Phase::Scoring(_) => Move::Stand,
        }
    }

    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match (&mut self.phase, mv) {
            (Phase::Declaring(_), Move::Align(side)) => {
                self.sides.set(player, Some(*side));
                match core.live.next(player) {
                    Some(next) => self.phase = Phase::Declaring(next),
                    None => self.deal_second(core),
                }
            }
            (Phase::Action(_), Move::CallHand) => {
                self.called_by = Some(player);
                self.phase = Phase::Showing(first_live(core));
            }
            (Phase::Action(_), mv) => {
                action::apply(core, player, mv);
                self.phase = Phase::AfterAction(player);
            }
            (Phase::Betting(bets), mv) => {
                bets.act(core, player, mv);
                core.finish_if_folded();
            }
            (&mut Phase::Extra { before, .. }, mv) => {
                self.settle_extra(core, player, before, mv);
                self.next_showdown(core, player);
            }
            (
                Phase::Declaring(_)
                | Phase::Alignment
                | Phase::SecondCard
                | Phase::AfterAction(_)
                | Phase::Showing(_)
                | Phase::Scoring(_),
                other,
            ) => unreachable!("{other:?} was refused before"),
        }
    }

    fn status(&self) -> GameStatus<'_> {
        let (phase, bets) = match &self.phase {
            Phase::Alignment | Phase::Declaring(_) => (HandPhase::Alignment, None),
            Phase::SecondCard => (HandPhase::Deal, None),
            Phase::Action(_) | Phase::AfterAction(_) => (HandPhase::Action, None),
            Phase::Betting(bets) => (HandPhase::Betting, Some(bets)),
            Phase::Showing(_) | Phase::Extra { .. } => (HandPhase::Showdown, None),
            Phase::Scoring(_) => (HandPhase::Scoring, None),
        };
        GameStatus { phase, round: self.round, bets, called_by: self.called_by }
    }

    fn state(&self, _: &Core, _: Viewer) -> GameState {
        GameState::Force(ForceState { sides: self.sides.all() })
    }
}

/// First live player. There is one: a hand with fewer than two live players is over.
fn first_live(core: &Core) -> Player {
    core.live.lowest().unwrap_or(Player::of(0))
}

impl Force {
    fn add_dealt(&mut self, core: &mut Core, player: Player, reason: DealReason, cards: &[Card]) {
        let place = &mut core[player];
        match reason {
            DealReason::Alignment => {
                let Some((&face, others)) = cards.split_last() else { return };
                place.cards.push(face);
                place.face_up = place.face_up.with(face);
                self.sides.set(player, shade(face));
                self.unkept_cards.extend_from_slice(others);
            }
            DealReason::TieBreak
            | DealReason::OpeningHand
            | DealReason::Draw
            | DealReason::Trade
            | DealReason::Shift
            | DealReason::Extra
            | DealReason::Flip
            | DealReason::Exhaustion => place.add_dealt(reason, cards),
        }
    }

    fn deal_second(&mut self, core: &mut Core) {
        for player in core.live.iter() {
            core.deal(Destination::Player(player), 0, 1, DealReason::OpeningHand);
        }
        self.phase = Phase::SecondCard;
    }

    fn next_cycle(&mut self, core: &Core) {
        // Once everybody has left, the remaining cycles are all stands and checks: they change
        // nothing, and there may be any number of them.
        let nobody_decides = core.live.minus(core.leavers).is_empty();
        if self.round >= core.rules.max_rounds || nobody_decides {
            self.phase = Phase::Showing(first_live(core));
        } else {
            self.round += 1;
            self.phase = Phase::Action(first_live(core));
        }
    }

    /// Applies the decision about the extra card, which is the last of the hand. A kept extra card
    /// may flip the player's side.
    fn settle_extra(&mut self, core: &mut Core, player: Player, before: i16, mv: &Move) {
        let extra = core[player].cards.last().copied();
        let dropped = if let Move::Drop(card) = mv { Some(*card) } else { None };
        if let Some(card) = dropped {
            action::discard_from_hand(core, player, card);
        }
        if let (Some(extra), Some(side)) =
            (extra.filter(|_| dropped != extra), self.sides.of(player))
            && flips(core.rules.alignment, side, extra, before)
        {
            self.sides.set(player, Some(sides::opposite(side)));
        }
    }

    /// Lets the next player show, or starts the scoring once all have shown.
    fn next_showdown(&mut self, core: &mut Core, player: Player) {
        self.phase = match core.live.next(player) {
            Some(next) => Phase::Showing(next),
            None => Phase::Scoring(Box::new(Scoring::new(core, &self.sides))),
        };
    }
}

//! Sabacc for SWG: betting and drawing in one, lap by lap, until nobody raises any more.
//!
//! ```text
//! deal ─▶ p1's turn ─▶ p2's turn ─▶ … ─▶ reveal
//!         bet · draw
//! ```
//! The whole hand is one betting round. It is called by itself when the action comes back to the
//! last player who raised what is to be matched, or to p1 if nobody did. Every player in between
//! has had a turn since: those who can bet have matched or folded, and those who are all-in have
//! taken their draw action.
//!
//! Specification: rules/SPEC.md §10.

mod explain;

use crate::chance::{Deal, DealReason, Destination, Resolved};
use crate::deck::S76;
use crate::game::{Game, GameStatus};
use crate::games::{GameState, action, shifting};
use crate::hand_phase::HandPhase;
use crate::legal::LegalMoves;
use crate::moves::Move;
use crate::player::{Player, Viewer};
use crate::ruleset::{Field, Key};
use crate::s76::{AllBomb, Showdown};
use crate::state::{Bets, Core, Turn};
use crate::variant::{RakeBase, Variant};

pub(crate) static VARIANT: Variant = Variant {
    id: "swg",
    title: "Sabacc for SWG",
    source: "\"Rules for Sabacc for SWG\"",
    player_counts: 2..=8,
    deck: &S76,
    piles: shifting::PILES,
    fields: &[
        Field::text(Key::BombOut, &["match_pot", "fixed", "none"]),
        Field::number(Key::BombOutAmount, 0),
        Field::flag(Key::DrawPhase, true),
        Field::number(Key::FoldPenalty, 200),
        Field::number(Key::HandAnte, 100),
        Field::number(Key::MaxHandTotal, 0),
        Field::number(Key::MaxPot, 0),
        Field::number(Key::MaxRaise, 0),
        Field::number(Key::MaxRoundTotal, 0),
        Field::number(Key::MinBet, 0),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
        Field::text(Key::Ranking, &["absolute", "signed"]),
        Field::number(Key::SabaccAnte, 1000),
        Field::text(Key::SabaccAnteWhen, &["when_empty", "every_hand"]),
    ],
    has_sabacc_pot: true,
    has_carried_pot: false,
    call_reopens_betting: false,
    rake_base: RakeBase::ContestedLayers,
    evaluator: crate::s76::evaluator,
    open,
    explain: explain::explain,
};

const FIRST: Player = Player::of(0);

/// State of a hand of `swg`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwgState {
    /// The hand is called when play is back at this player, who may have folded.
    pub ends_at: Player,
}

#[derive(Clone)]
struct Swg {
    phase: Phase,
    /// Player whom the action is at; they may have folded.
    acting: Player,
    /// Counts from 1.
    lap: u64,
    /// None if the antes leave fewer than two players able to bet.
    bets: Option<Bets>,
}

#[derive(Clone)]
enum Phase {
    /// The hands are being dealt.
    Dealing,
    Betting,
    Drawing,
    /// The player is done with this turn, but perhaps a card is being dealt.
    TurnDone,
    Reveal(Box<Showdown>),
}

fn open(core: &mut Core) -> Box<dyn Game> {
    core.take_antes();
    core.fresh_shuffle(0);
    for player in core.live.iter() {
        core.deal(Destination::Player(player), 0, 2, DealReason::OpeningHand);
    }
    let bets = Bets::can_start(core).then(|| Bets::new(core));
    Box::new(Swg { phase: Phase::Dealing, acting: FIRST, lap: 0, bets })
}

impl Game for Swg {
    fn boxed_clone(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn step(&mut self, core: &mut Core) {
        match &mut self.phase {
            Phase::Dealing => self.start_turn(core, FIRST),
            Phase::Betting | Phase::Drawing => core.turn = Turn::Of(self.acting),
            Phase::TurnDone => self.next_turn(core),
            Phase::Reveal(showdown) => showdown.step(core),
        }
    }

    fn apply_outcome(&mut self, core: &mut Core, resolved: Resolved<'_>) {
        match resolved {
            Resolved::Dealt {
                deal: Deal { to: Destination::Player(player), reason, .. },
                cards,
            } => {
                core[*player].add_dealt(*reason, cards);
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
        match (&self.phase, &self.bets) {
            (Phase::Betting, Some(bets)) => bets.push_legal(core, player, &mut moves),
            (Phase::Drawing, _) => action::push_legal(core, player, &mut moves),
            (Phase::Dealing | Phase::Betting | Phase::TurnDone | Phase::Reveal(_), _) => {}
        }
        moves
    }

    fn default_move(&self, _: &Core, player: Player) -> Move {
        match (&self.phase, &self.bets) {
            (Phase::Betting, Some(bets)) => bets.default_move(player),
            (Phase::Betting, None)
            | (Phase::Dealing | Phase::Drawing | Phase::TurnDone | Phase::Reveal(_), _) => {
                Move::Stand
            }
        }
    }

    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match (&self.phase, &mut self.bets) {
            (Phase::Betting, Some(bets)) => {
                bets.act(core, player, mv);
                if !core.finish_if_folded() {
                    let draws = core.rules.draw_phase && core.live.contains(player);
                    self.phase = if draws { Phase::Drawing } else { Phase::TurnDone };
                }
            }
            (Phase::Drawing, _) => {
                action::apply(core, player, mv);
                self.phase = Phase::TurnDone;
            }
            (Phase::Dealing | Phase::Betting | Phase::TurnDone | Phase::Reveal(_), _) => {}
        }
    }

    fn status(&self) -> GameStatus<'_> {
        let phase = match &self.phase {
            Phase::Dealing => HandPhase::Deal,
            Phase::Betting => HandPhase::Betting,
            Phase::Drawing | Phase::TurnDone => HandPhase::Draw,
            Phase::Reveal(_) => HandPhase::Reveal,
        };
        GameStatus { phase, round: self.lap, bets: self.bets.as_ref(), called_by: None }
    }

    fn state(&self, _: &Core, _: Viewer) -> GameState {
        GameState::Swg(SwgState { ends_at: self.last_place() })
    }
}

impl Swg {
    /// The place at which the laps end.
    fn last_place(&self) -> Player {
        self.bets.as_ref().and_then(Bets::last_raiser).unwrap_or(FIRST)
    }

    /// Moves the action to the next player, or reveals where it ends.
    fn next_turn(&mut self, core: &mut Core) {
        let next = core.all_players().next_clockwise(self.acting).unwrap_or(FIRST);
        if next == self.last_place() {
            core.return_uncalled();
            let showdown = Showdown::new(core, AllBomb::Closest);
            self.phase = Phase::Reveal(Box::new(showdown));
        } else {
            self.start_turn(core, next);
        }
    }

    fn start_turn(&mut self, core: &Core, place: Player) {
        self.acting = place;
        self.lap += u64::from(place == FIRST);
        self.phase = if self.bets.is_some() && core.able_to_bet().contains(place) {
            Phase::Betting
        } else if core.rules.draw_phase && core.live.contains(place) {
            Phase::Drawing
        } else {
            Phase::TurnDone
        };
    }
}

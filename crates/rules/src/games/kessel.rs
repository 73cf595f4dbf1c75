//! Kessel sabacc: a whole game of attrition in one hand.
//!
//! ```text
//! tokens ─▶ starter ─▶ flips, deals ─▶ up to 3 laps of turns ─▶ reveal ─▶ payment ─▶ next round
//!                                      token? stand | draw discard  rolls, choices
//! ```
//! Credits are paid in once and won once; the rounds in between are played for chips. A player
//! without chips after a reveal is out, and a player who leaves is out at once. The last player in
//! wins. Chips are never credits, so the shared pots do not handle them.
//!
//! Specification: rules/SPEC.md §12.

mod chips;
mod end;
mod explain;
pub(crate) mod ranking;
mod reveal;
pub(crate) mod round;
mod start;
mod state;
mod tokens;
mod turn;

use smallvec::SmallVec;

use crate::cards::{Card, Cards};
use crate::chance::{
    Deal, DealReason, Destination, PickPurpose, Resolved, RollPurpose, SamplePurpose,
};
use crate::deck::K44;
use crate::game::{Game, GameStatus};
use crate::games::GameState;
use crate::hand_phase::HandPhase;
use crate::legal::{Choices, Legal, LegalMoves};
use crate::moves::{Move, MoveKind};
use crate::player::{Player, PlayerSet, Viewer};
use crate::rank::Rank;
use crate::ruleset::{Field, Key};
use crate::state::{Core, Turn};
use crate::token::ShiftToken;
use crate::variant::{PileSpec, RakeBase, Variant};

use chips::Chips;
use ranking::{FixTokens, SAND_CARDS};
use reveal::Impostor;
pub use state::{ImpostorState, KesselPlayerState, KesselState, RevealedHand};
use turn::{Step, TurnState};

const MAX_PLAYERS: u8 = 6;

pub(crate) static VARIANT: Variant = Variant {
    id: "kessel",
    title: "Kessel sabacc",
    source: "\"Rules for Kessel Sabacc\", with 16 shift tokens and lay, pro and tournament stakes",
    player_counts: 2..=MAX_PLAYERS,
    deck: &K44,
    piles: &[
        PileSpec { name: "sand", first: 0, end: SAND_CARDS, open_discards: true },
        PileSpec { name: "blood", first: SAND_CARDS, end: 2 * SAND_CARDS, open_discards: true },
    ],
    fields: &[
        Field::list(Key::AssignedTokens),
        Field::number(Key::Chips, 8),
        Field::number(Key::MaxRounds, 100),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
        Field::text(Key::Stakes, &["lay", "pro", "tournament"]),
        Field::text(Key::Tokens, &["random", "chosen", "assigned"]),
    ],
    has_sabacc_pot: false,
    has_carried_pot: false,
    call_reopens_betting: false,
    rake_base: RakeBase::CreditsPot,
    evaluator: ranking::evaluator,
    open: start::open,
    explain: explain::explain,
};

#[derive(Clone)]
struct Kessel {
    phase: Phase,
    /// Counts from 1; 0 before the first round.
    round: u64,
    /// Counts from 1.
    lap: u8,
    starter: Player,
    players: [KesselPlayer; MAX_PLAYERS as usize],
    /// The fix tokens in effect in this round.
    fix_tokens: FixTokens,
    /// Players whom others' stock, tax and disrupt tokens do not touch in this round.
    immune: PlayerSet,
    /// Players who must stand in their next turn.
    embargoed: PlayerSet,
    /// Players whose latest action of this round is a stand.
    standing: PlayerSet,
    /// Players who stood in this lap.
    stood: PlayerSet,
}

/// State of one player apart from the current cards.
#[derive(Clone, Default)]
struct KesselPlayer {
    chips: Chips,
    /// Tokens not yet played.
    tokens: SmallVec<[ShiftToken; 3]>,
    played: SmallVec<[ShiftToken; 3]>,
    /// The hand as it was last revealed, or as the player left it.
    hand: Cards,
    rank: Option<Rank>,
}

#[derive(Clone)]
enum Phase {
    /// Tokens are being chosen, p1 first.
    Draft,
    /// Deal of tokens, starter, flips and cards: all of it is chance.
    Dealing,
    Turn(TurnState),
    /// All Impostors of the reveal: their dice, then their values.
    Reveal(SmallVec<[Impostor; 6]>),
}

impl Game for Kessel {
    fn boxed_clone(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn step(&mut self, core: &mut Core) {
        match &self.phase {
            Phase::Draft => match self.next_to_draft(core) {
                Some(player) => core.turn = Turn::Of(player),
                None => self.draw_starter(core),
            },
            Phase::Dealing => self.start_lap(core),
            Phase::Turn(turn) => core.turn = Turn::Of(turn.player),
            Phase::Reveal(impostors) => {
                let next = reveal::undecided(impostors).next().map(|one| one.player);
                match next {
                    Some(player) => core.turn = Turn::Of(player),
                    None => self.settle(core),
                }
            }
        }
    }

    fn apply_outcome(&mut self, core: &mut Core, resolved: Resolved<'_>) {
        match resolved {
            Resolved::Sampled { purpose: SamplePurpose::Tokens(player), sample } => {
                let kind = |&kind: &u32| ShiftToken::ALL.get(usize::try_from(kind).ok()?).copied();
                self.players[player.index()].tokens = sample.iter().filter_map(kind).collect();
            }
            Resolved::Picked { purpose: PickPurpose::Starter, pick } => {
                let at = usize::try_from(pick).unwrap_or(usize::MAX);
                self.starter = core.live.iter().nth(at).unwrap_or(self.starter);
            }
            Resolved::Shuffled { pile, add: _ } => round::take_from_hands(core, pile),
            Resolved::Dealt { deal, cards } => self.dealt(core, deal, cards),
            Resolved::Rolled { purpose, faces } => {
                if let &[a, b] = faces {
                    self.rolled(purpose, [a, b]);
                }
            }
            Resolved::Sampled { purpose: SamplePurpose::Announce, sample: _ }
            | Resolved::Pulsed(_) => {}
        }
    }

    fn legal_moves(&self, core: &Core, _: Player) -> LegalMoves {
        let mut moves = LegalMoves::new();
        match &self.phase {
            Phase::Draft => moves.push(Legal::new(MoveKind::Choose, Choices::Tokens)),
            Phase::Dealing => {}
            Phase::Turn(turn) => self.legal_in_turn(core, turn, &mut moves),
            Phase::Reveal(impostors) => {
                for one in reveal::undecided(impostors).take(1) {
                    let values = SmallVec::from_slice(&one.dice);
                    moves.push(Legal::new(
                        MoveKind::Impostor,
                        Choices::CardAndDie(one.card, values),
                    ));
                }
            }
        }
        moves
    }

    fn default_move(&self, core: &Core, player: Player) -> Move {
        match &self.phase {
            Phase::Draft => {
                Move::Choose([ShiftToken::FreeDraw, ShiftToken::Refund, ShiftToken::ExtraRefund])
            }
            Phase::Turn(turn) => match turn.step {
                Step::Prime([first, _]) => Move::Prime(first),
                Step::Discard { drawn, .. } => Move::Discard(drawn),
                Step::Token | Step::Action => Move::Stand,
            },
            Phase::Dealing => Move::Stand,
            Phase::Reveal(impostors) => {
                reveal::best_choice(impostors, &core[player].cards, self.fix_tokens)
                    .unwrap_or(Move::Stand)
            }
        }
    }

    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match (&mut self.phase, mv) {
            (Phase::Draft, Move::Choose(tokens)) => {
                self.players[player.index()].tokens = SmallVec::from_slice(tokens);
            }
            (Phase::Turn(turn), mv) => {
                let turn = *turn;
                self.moved_in_turn(core, turn, mv);
            }
            (Phase::Reveal(impostors), Move::Impostor(card, value)) => {
                for impostor in impostors.iter_mut().filter(|one| one.card == *card) {
                    impostor.value = Some(*value);
                }
            }
            (Phase::Draft | Phase::Dealing | Phase::Reveal(_), other) => {
                unreachable!("{other:?} was not legal")
            }
        }
    }

    fn apply_leave(&mut self, core: &mut Core, player: Player) {
        self.forfeit(core, player);
    }

    /// A draft is hidden until its tokens are played, and an Impostor's value until all have
    /// theirs.
    fn is_hidden(&self, kind: MoveKind) -> bool {
        match (&self.phase, kind) {
            (Phase::Draft, MoveKind::Choose) => true,
            (Phase::Reveal(impostors), MoveKind::Impostor) => {
                reveal::undecided(impostors).count() > 1
            }
            (Phase::Draft | Phase::Dealing | Phase::Turn(_) | Phase::Reveal(_), _) => false,
        }
    }

    fn status(&self) -> GameStatus<'_> {
        let phase = match &self.phase {
            Phase::Draft => HandPhase::Draft,
            Phase::Dealing => HandPhase::Deal,
            Phase::Turn(_) => HandPhase::Turns,
            Phase::Reveal(_) => HandPhase::Reveal,
        };
        GameStatus { phase, round: self.round, bets: None, called_by: None }
    }

    fn state(&self, core: &Core, viewer: Viewer) -> GameState {
        GameState::Kessel(self.state_for(core, viewer))
    }
}

impl Kessel {
    fn player_mut(&mut self, player: Player) -> &mut KesselPlayer {
        &mut self.players[player.index()]
    }

    fn rolled(&mut self, purpose: RollPurpose, dice: [u8; 2]) {
        match (&mut self.phase, purpose) {
            (Phase::Turn(turn), RollPurpose::Prime(_)) => turn.step = Step::Prime(dice),
            (Phase::Reveal(impostors), RollPurpose::Impostor(_, card)) => {
                for impostor in impostors.iter_mut().filter(|one| one.card == card) {
                    impostor.dice = dice;
                }
            }
            (Phase::Draft | Phase::Dealing | Phase::Turn(_) | Phase::Reveal(_), _) => {}
        }
    }

    fn dealt(&mut self, core: &mut Core, deal: &Deal, cards: &[Card]) {
        match deal.to {
            Destination::Table => {
                for &card in cards {
                    core.discard(ranking::pile_of(card), card);
                }
            }
            Destination::Player(player) => {
                core[player].cards.extend_from_slice(cards);
                if let (DealReason::Draw, &[drawn], Phase::Turn(turn)) =
                    (deal.reason, cards, &mut self.phase)
                {
                    turn.step = Step::Discard { pile: ranking::pile_of(drawn), drawn };
                }
            }
        }
    }
}

//! The 42-card game to eleven, with a wild and a clone face.
//!
//! ```text
//! announce ─▶ deal ─▶ laps of draw or stand ─▶ betting round ─▶ reveal
//! ```
//! Standing is final, and a player with six cards has no turn, so the laps end by themselves. Going
//! over is not announced and ends nothing: it shows at the reveal.
//!
//! Specification: rules/SPEC.md §13.

mod explain;
pub(crate) mod worth;

use std::cmp::Reverse;

use crate::chance::{Chance, Deal, DealReason, Destination, Resolved, SamplePurpose};
use crate::deck::P42;
use crate::game::{Game, GameStatus};
use crate::games::GameState;
use crate::games::eleven::worth::{Announced, FACES, best_total};
use crate::games::settling;
use crate::hand_phase::HandPhase;
use crate::legal::{Legal, LegalMoves};
use crate::moves::{Move, MoveKind};
use crate::player::{Player, PlayerSet, Viewer};
use crate::rank::Rank;
use crate::ruleset::{Field, Key};
use crate::state::{Bets, Core, Ranks, Turn};
use crate::variant::{PileSpec, RakeBase, Variant};

pub(crate) static VARIANT: Variant = Variant {
    id: "eleven",
    title: "Eleven",
    source: "\"Star Wars Universe Overview\", last section: Peter Kerton's adaptation for standard decks",
    player_counts: 2..=7,
    deck: &P42,
    piles: &[PileSpec { name: "draw", first: 0, end: 42, open_discards: false }],
    fields: &[
        Field::number(Key::HandAnte, 10),
        Field::number(Key::MaxHandTotal, 0),
        Field::number(Key::MaxPot, 0),
        Field::number(Key::MaxRaise, 0),
        Field::number(Key::MaxRoundTotal, 0),
        Field::number(Key::MinBet, 0),
        Field::number(Key::RakeBps, 0),
        Field::number(Key::RakeCap, 0),
    ],
    has_sabacc_pot: false,
    has_carried_pot: true,
    call_reopens_betting: false,
    rake_base: RakeBase::ContestedLayers,
    evaluator: worth::evaluator,
    open,
    explain: explain::explain,
};

/// State of a hand of eleven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElevenState {
    /// None before they are announced.
    pub announced: Option<Announced>,
    /// Players who stand and have no further turn.
    pub stood: PlayerSet,
}

/// Number of cards at which a player has no further turn.
pub(crate) const FULL_HAND: usize = 6;

#[derive(Clone)]
struct Eleven {
    phase: Phase,
    /// Counts from 1.
    lap: u64,
    announced: Option<Announced>,
    stood: PlayerSet,
}

#[derive(Clone)]
enum Phase {
    /// The faces are announced and the opening hands dealt.
    Dealing,
    Turn(Player),
    /// The turn is over; a drawn card, if any, is being dealt.
    AfterTurn(Player),
    Betting(Bets),
}

fn open(core: &mut Core) -> Box<dyn Game> {
    core.take_antes();
    core.request(Chance::Sample { n: u32::from(FACES), k: 2, purpose: SamplePurpose::Announce });
    core.fresh_shuffle(0);
    for player in core.live.iter() {
        core.deal(Destination::Player(player), 0, 2, DealReason::OpeningHand);
    }
    Box::new(Eleven { phase: Phase::Dealing, lap: 1, announced: None, stood: PlayerSet::EMPTY })
}

impl Game for Eleven {
    fn boxed_clone(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn step(&mut self, core: &mut Core) {
        match &self.phase {
            Phase::Dealing => self.start_turn(core, core.live.lowest()),
            Phase::Turn(player) => core.turn = Turn::Of(*player),
            Phase::AfterTurn(player) => {
                let player = *player;
                let next = self.players_with_turns(core).next_clockwise(player);
                self.lap += u64::from(next.is_some_and(|next| next <= player));
                self.start_turn(core, next);
            }
            Phase::Betting(bets) => match bets.turn() {
                Some(player) => core.turn = Turn::Of(player),
                None => {
                    core.return_uncalled();
                    self.reveal(core);
                }
            },
        }
    }

    fn apply_outcome(&mut self, core: &mut Core, resolved: Resolved<'_>) {
        match resolved {
            Resolved::Dealt { deal: Deal { to: Destination::Player(player), .. }, cards } => {
                core[*player].cards.extend_from_slice(cards);
            }
            Resolved::Sampled { purpose: _, sample } => self.announced = Announced::of(sample),
            Resolved::Dealt { deal: Deal { to: Destination::Table, .. }, cards: _ }
            | Resolved::Shuffled { .. }
            | Resolved::Rolled { .. }
            | Resolved::Pulsed(_)
            | Resolved::Picked { .. } => {}
        }
    }

    fn legal_moves(&self, core: &Core, player: Player) -> LegalMoves {
        let mut moves = LegalMoves::new();
        match &self.phase {
            Phase::Turn(_) => {
                if core.piles[0].available() > 0 {
                    moves.push(Legal::plain(MoveKind::Draw));
                }
                moves.push(Legal::plain(MoveKind::Stand));
            }
            Phase::Betting(bets) => bets.push_legal(core, player, &mut moves),
            Phase::Dealing | Phase::AfterTurn(_) => {}
        }
        moves
    }

    fn default_move(&self, _: &Core, player: Player) -> Move {
        match &self.phase {
            Phase::Betting(bets) => bets.default_move(player),
            Phase::Dealing | Phase::Turn(_) | Phase::AfterTurn(_) => Move::Stand,
        }
    }

    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match &mut self.phase {
            Phase::Turn(_) => {
                if *mv == Move::Draw {
                    core.deal(Destination::Player(player), 0, 1, DealReason::Draw);
                } else {
                    self.stood = self.stood.with(player);
                }
                self.phase = Phase::AfterTurn(player);
            }
            Phase::Betting(bets) => {
                bets.act(core, player, mv);
                core.finish_if_folded();
            }
            Phase::Dealing | Phase::AfterTurn(_) => {}
        }
    }

    fn status(&self) -> GameStatus<'_> {
        let (phase, bets) = match &self.phase {
            Phase::Dealing => (HandPhase::Deal, None),
            Phase::Turn(_) | Phase::AfterTurn(_) => (HandPhase::Play, None),
            Phase::Betting(bets) => (HandPhase::Betting, Some(bets)),
        };
        GameStatus { phase, round: self.lap, bets, called_by: None }
    }

    fn state(&self, _: &Core, _: Viewer) -> GameState {
        GameState::Eleven(ElevenState { announced: self.announced, stood: self.stood })
    }
}

impl Eleven {
    /// Players who still have turns.
    fn players_with_turns(&self, core: &Core) -> PlayerSet {
        let room = |player: &Player| core[*player].cards.len() < FULL_HAND;
        core.live.minus(self.stood).iter().filter(room).collect()
    }

    fn start_turn(&mut self, core: &mut Core, player: Option<Player>) {
        match player {
            Some(player) => self.phase = Phase::Turn(player),
            None if Bets::can_start(core) => self.phase = Phase::Betting(Bets::new(core)),
            None => self.reveal(core),
        }
    }

    fn reveal(&self, core: &mut Core) {
        core.shown = core.live;
        let mut totals = [None; 8];
        let mut ranks = Ranks::default();
        for player in core.all_players().iter() {
            let cards = &core[player].cards;
            let count = u8::try_from(cards.len()).unwrap_or(u8::MAX);
            let total = self.announced.and_then(|announced| best_total(cards, announced));
            totals[player.index()] = total.map(|total| (total, Reverse(count)));
            ranks[player.index()] = Some(match total {
                _ if !core.live.contains(player) => Rank::Folded,
                Some(total) => Rank::Eleven { total, cards: count },
                None => Rank::Over { cards: count },
            });
        }
        let winners = settling::award_layers(core, |player| totals[player.index()]);
        core.finish(winners, &ranks);
    }
}

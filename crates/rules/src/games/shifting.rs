//! Sabacc whose cards shift: `dice` and `electronic`.
//!
//! ```text
//! deal ─▶ play round ─▶ betting round ─▶ … ─▶ reveal
//!          turn · shift?   actions · shift?
//! ```
//! A cycle is one play round and one betting round. After every turn, and after every betting round
//! that was held, the dice or the pulse decide whether the unlocked cards are exchanged. The two
//! games differ in the chance that decides a shift, and in the effect of a call on its betting
//! round.
//!
//! Specification: rules/SPEC.md §9.1 to §9.4.

pub(super) mod explain;

use smallvec::SmallVec;

use crate::cards::{Card, Cards};
use crate::chance::{Chance, Deal, DealReason, Destination, Resolved, RollPurpose};
use crate::game::{Game, GameStatus};
use crate::games::GameState;
use crate::hand_phase::HandPhase;
use crate::legal::{Legal, LegalMoves};
use crate::moves::{Move, MoveKind, actions};
use crate::player::{Player, PlayerSet, Viewer};
use crate::ruleset::{RuleSet, Shift};
use crate::s76::{AllBomb, Showdown, total};
use crate::state::{Bets, Core, Turn};
use crate::variant::PileSpec;

pub(crate) static PILES: &[PileSpec] =
    &[PileSpec { name: "draw", first: 0, end: 76, open_discards: false }];

/// State of a hand whose cards shift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShiftingState {
    /// Totals of the opening hands, p1 first; empty unless the players have announced them.
    pub declared_totals: SmallVec<[i16; 8]>,
}

#[derive(Clone)]
struct Shifting {
    /// The game that the state belongs to.
    state_of: fn(ShiftingState) -> GameState,
    phase: Phase,
    /// The cycle, from 1.
    round: u64,
    called_by: Option<Player>,
    /// Totals of the opening hands, p1 first.
    opening_totals: [i16; 8],
}

#[derive(Clone)]
enum Phase {
    /// The opening hands are being dealt.
    Dealing,
    Turn(PlayTurn),
    /// The turn is over; a drawn card, and perhaps a shift, is being dealt.
    AfterTurn(Player),
    Betting(Bets),
    /// The betting round is over, and perhaps the cards shift.
    AfterBetting,
    Reveal(Showdown),
}

/// The turn of a player, and the cards locked and unlocked in it.
#[derive(Clone, Copy)]
struct PlayTurn {
    player: Player,
    locked: Option<Card>,
    unlocked: Option<Card>,
}

actions! {
    /// A move of a turn.
    Action { Draw, Trade(card: Card), Stand, Lock(card: Card), Unlock(card: Card) }
}

/// Opens a hand of the game whose state `state_of` makes.
pub(crate) fn open(core: &mut Core, state_of: fn(ShiftingState) -> GameState) -> Box<dyn Game> {
    core.take_antes();
    core.fresh_shuffle(0);
    for player in core.live.iter() {
        core.deal(Destination::Player(player), 0, 2, DealReason::OpeningHand);
    }
    Box::new(Shifting {
        state_of,
        phase: Phase::Dealing,
        round: 1,
        called_by: None,
        opening_totals: [0; 8],
    })
}

impl Game for Shifting {
    fn boxed_clone(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn step(&mut self, core: &mut Core) {
        match &mut self.phase {
            Phase::Dealing => {
                for player in core.live.iter() {
                    self.opening_totals[player.index()] = total(&core[player].cards);
                }
                self.start_turn(core.live.lowest());
            }
            Phase::Turn(turn) => core.turn = Turn::Of(turn.player),
            Phase::AfterTurn(player) => match core.live.next(*player) {
                Some(next) => self.start_turn(Some(next)),
                None => self.start_betting(core),
            },
            Phase::Betting(bets) => match bets.turn() {
                Some(player) => core.turn = Turn::Of(player),
                None => {
                    core.return_uncalled();
                    self.phase = Phase::AfterBetting;
                    request_shift(core);
                }
            },
            Phase::AfterBetting => {
                if self.called_by.is_some() {
                    self.reveal(core);
                } else {
                    self.next_cycle(core);
                }
            }
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
            Resolved::Rolled { purpose: _, faces } => {
                if shifts(&core.rules, faces) {
                    shift_cards(core);
                }
            }
            Resolved::Pulsed(true) => shift_cards(core),
            Resolved::Dealt { deal: Deal { to: Destination::Table, .. }, cards: _ }
            | Resolved::Pulsed(false)
            | Resolved::Shuffled { .. }
            | Resolved::Picked { .. }
            | Resolved::Sampled { .. } => {}
        }
    }

    fn legal_moves(&self, core: &Core, player: Player) -> LegalMoves {
        let mut moves = LegalMoves::new();
        match &self.phase {
            Phase::Turn(turn) => turn.push_legal(core, &mut moves),
            Phase::Betting(bets) => {
                bets.push_legal(core, player, &mut moves);
                if self.called_by.is_none() && self.round > core.rules.pot_building_rounds {
                    moves.push(Legal::plain(MoveKind::CallHand));
                }
            }
            Phase::Dealing | Phase::AfterTurn(_) | Phase::AfterBetting | Phase::Reveal(_) => {}
        }
        moves
    }

    fn default_move(&self, _: &Core, player: Player) -> Move {
        match &self.phase {
            Phase::Betting(bets) => bets.default_move(player),
            Phase::Dealing
            | Phase::Turn(_)
            | Phase::AfterTurn(_)
            | Phase::AfterBetting
            | Phase::Reveal(_) => Move::Stand,
        }
    }

    fn apply_move(&mut self, core: &mut Core, player: Player, mv: &Move) {
        match &mut self.phase {
            Phase::Turn(turn) => {
                if turn.apply_move(core, mv) {
                    self.phase = Phase::AfterTurn(player);
                    request_shift(core);
                }
            }
            Phase::Betting(bets) if *mv == Move::CallHand => {
                self.called_by = Some(player);
                if core.rules.variant().call_reopens_betting {
                    bets.reopen(core, player);
                }
            }
            Phase::Betting(bets) => {
                bets.act(core, player, mv);
                core.finish_if_folded();
            }
            Phase::Dealing | Phase::AfterTurn(_) | Phase::AfterBetting | Phase::Reveal(_) => {}
        }
    }

    fn status(&self) -> GameStatus<'_> {
        let (phase, bets) = match &self.phase {
            Phase::Dealing => (HandPhase::Deal, None),
            Phase::Turn(_) | Phase::AfterTurn(_) => (HandPhase::Play, None),
            Phase::Betting(bets) => (HandPhase::Betting, Some(bets)),
            Phase::AfterBetting => (HandPhase::Betting, None),
            Phase::Reveal(_) => (HandPhase::Reveal, None),
        };
        GameStatus { phase, round: self.round, bets, called_by: self.called_by }
    }

    fn state(&self, core: &Core, _: Viewer) -> GameState {
        let announced = match self.phase {
            Phase::Dealing => false,
            Phase::Turn(_)
            | Phase::AfterTurn(_)
            | Phase::Betting(_)
            | Phase::AfterBetting
            | Phase::Reveal(_) => core.rules.declare_totals,
        };
        let count = if announced { core.all_players().len() } else { 0 };
        let totals = self.opening_totals.iter().copied().take(count);
        (self.state_of)(ShiftingState { declared_totals: totals.collect() })
    }
}

impl Shifting {
    /// Starts a player's turn. There always is one: a hand with fewer than two live players is
    /// over.
    fn start_turn(&mut self, player: Option<Player>) {
        if let Some(player) = player {
            self.phase = Phase::Turn(PlayTurn { player, locked: None, unlocked: None });
        }
    }

    /// Starts a betting round. If none can be held, the hand goes on without a round and without a
    /// roll; if the hand could have been called in it, it is called.
    fn start_betting(&mut self, core: &mut Core) {
        if Bets::can_start(core) {
            self.phase = Phase::Betting(Bets::new(core));
        } else if self.round > core.rules.pot_building_rounds {
            self.reveal(core);
        } else {
            self.next_cycle(core);
        }
    }

    fn next_cycle(&mut self, core: &mut Core) {
        // Once everybody has left, and no shift can come, the remaining cycles are all stands and
        // checks: they change nothing, and there may be any number of them.
        let nothing_happens =
            core.rules.shift == Shift::None && core.live.minus(core.leavers).is_empty();
        if self.round >= core.rules.max_rounds || nothing_happens {
            return self.reveal(core);
        }
        self.round += 1;
        self.start_turn(core.live.lowest());
    }

    fn reveal(&mut self, core: &mut Core) {
        self.phase = Phase::Reveal(Showdown::new(core, AllBomb::NextBest));
    }
}

impl PlayTurn {
    fn push_legal(&self, core: &Core, moves: &mut LegalMoves) {
        let place = &core[self.player];
        let cards = |keep: &dyn Fn(Card) -> bool| -> Cards {
            place.cards.iter().copied().filter(|&card| keep(card)).collect()
        };
        let unlocked = cards(&|card| !place.face_up.contains(card));
        let can_draw = core.piles[0].available() > 0;
        if can_draw {
            moves.push(Legal::plain(MoveKind::Draw));
        }
        if can_draw && !unlocked.is_empty() {
            moves.push(Legal::card(MoveKind::Trade, unlocked));
        }
        moves.push(Legal::plain(MoveKind::Stand));
        if core.rules.field && self.locked.is_none() {
            let free = |card| !place.face_up.contains(card) && self.unlocked != Some(card);
            push_cards(moves, MoveKind::Lock, cards(&free));
        }
        if self.unlocked.is_none() {
            let held = |card| place.face_up.contains(card) && self.locked != Some(card);
            push_cards(moves, MoveKind::Unlock, cards(&held));
        }
    }

    /// Applies a move of the turn. Returns whether the turn is over.
    fn apply_move(&mut self, core: &mut Core, mv: &Move) -> bool {
        let player = self.player;
        match Action::of(mv) {
            Action::Lock(card) => {
                core[player].face_up = core[player].face_up.with(card);
                self.locked = Some(card);
                return false;
            }
            Action::Unlock(card) => {
                core[player].face_up = core[player].face_up.without(card);
                self.unlocked = Some(card);
                return false;
            }
            Action::Draw => {
                core.deal(Destination::Player(player), 0, 1, DealReason::Draw);
            }
            Action::Trade(card) => {
                core[player].cards.retain(|held| *held != card);
                core.discard(0, card);
                core.deal(Destination::Player(player), 0, 1, DealReason::Trade);
            }
            Action::Stand => {}
        }
        true
    }
}

fn push_cards(moves: &mut LegalMoves, kind: MoveKind, cards: Cards) {
    if !cards.is_empty() {
        moves.push(Legal::card(kind, cards));
    }
}

/// Makes the dice or the pulse due that may shift the cards.
fn request_shift(core: &mut Core) {
    if let Some((dice, sides)) = core.rules.shift.dice() {
        let sides = std::iter::repeat_n(sides, dice).collect();
        core.request(Chance::Roll { sides, purpose: RollPurpose::Shift });
    } else if core.rules.shift == Shift::Pulse {
        let ppm = core.rules.pulse_ppm_for(core.all_players().len());
        core.request(Chance::Pulse { ppm });
    }
}

/// Whether these dice shift the cards: two with a pair, one with the number of the rule set.
fn shifts(rules: &RuleSet, faces: &[u8]) -> bool {
    match faces {
        [face] => u64::from(*face) == rules.shift_number,
        [a, b] => a == b,
        _ => false,
    }
}

/// Exchanges the unlocked cards of all live players.
fn shift_cards(core: &mut Core) {
    let mut taken = Cards::new();
    let mut counts = [0; 8];
    let live: PlayerSet = core.live;
    for player in live.iter() {
        let place = &mut core[player];
        let (before, face_up) = (taken.len(), place.face_up);
        taken.extend(place.cards.iter().copied().filter(|&card| !face_up.contains(card)));
        place.cards.retain(|card| face_up.contains(*card));
        counts[player.index()] = taken.len() - before;
    }
    if !(taken.is_empty() && core.piles[0].draw_pile().is_empty()) {
        core.shuffle_in(0, taken);
    }
    for player in live.iter() {
        core.deal(Destination::Player(player), 0, counts[player.index()], DealReason::Shift);
    }
}

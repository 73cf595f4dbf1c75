//! Update of one step of a hand: a decision, or a use of chance.

use primitives::SeatNo;
use proto::common::v1::CardProof;
use proto::table::v1 as pb;
use rules::{
    Chance, Deal, Deck, Destination, Event, EventView, Hand, Outcome, PickPurpose, RollPurpose,
    SamplePurpose, View, Viewer, Word,
};
use wire::moves::{self, HIDDEN};
use wire::ranks;

use super::{DecisionClock, called_by, game_state, hands, padding, standing, turn};
use crate::decisions::ChainStep;
use crate::proof::CardProofs;

/// A step of a hand, with everything that its updates are made from.
pub(crate) struct HandStep<'a> {
    pub hand_no: u64,
    pub seats: &'a [SeatNo],
    pub before: &'a Hand,
    pub event: &'a Event,
    /// The step in the chain, for a decision.
    pub decision: Option<&'a ChainStep>,
    pub after: &'a Hand,
    pub clock: Option<DecisionClock>,
    /// Proofs and roots after the step.
    pub card_proofs: &'a CardProofs,
}

impl HandStep<'_> {
    /// The step as `viewer` sees it.
    #[must_use]
    pub(crate) fn action(&self, viewer: Viewer) -> pb::HandAction {
        let seen = rules::censor(self.before, self.event, viewer);
        let view = rules::view(self.after, viewer);
        let deck = self.before.rules().variant().deck;
        let mut action = pb::HandAction {
            hand_no: self.hand_no,
            line: seen.as_ref().map_or_else(String::new, ToString::to_string),
            standing: Some(standing(&view)),
            turn: self.clock.map(|clock| turn(self.after, self.seats, viewer, clock)),
            round: u32::try_from(view.round).unwrap_or(u32::MAX),
            phase: ranks::write_phase(view.phase).into(),
            phase_text: view.phase.name().to_owned(),
            game_state: self.changed_state(&view, viewer),
            called_by: called_by(&view, self.seats),
            chain_line: self.decision.map_or_else(String::new, |step| step.line.clone()),
            chain: self.decision.map_or_else(Vec::new, |step| step.chain.0.to_vec()),
            ..pb::HandAction::default()
        };
        match self.event {
            Event::Decided { player, mv, author: by } => {
                action.seat = moves::seat_of(*player, self.seats);
                action.by_clock = *by == rules::DecisionAuthor::Clock;
                action.decision =
                    seen.map(|seen| moves::write_for_viewer(mv, &seen, deck, self.seats));
            }
            Event::Chance(outcome) => {
                if let Some(due) = self.before.due() {
                    action.chance = kind_of_chance(due).into();
                    action.seat = self.seat_of_chance(due, outcome);
                }
                self.add_outcome(&mut action, outcome, seen.as_ref());
            }
        }
        // A roll may take cards as well; what counts is what this viewer sees. Ranks come with the
        // end.
        let has_ended = self.after.settlement().is_some() && self.before.settlement().is_none();
        if has_ended || rules::cards_differ(self.before, self.after, viewer) {
            action.hands = hands(&view, self.after, &[], self.card_proofs);
        }
        padding::pad(&mut action, deck);
        action
    }

    /// Adds what chance gave, as the viewer sees it.
    fn add_outcome(
        &self,
        action: &mut pb::HandAction,
        outcome: &Outcome,
        seen: Option<&EventView>,
    ) {
        match outcome {
            Outcome::Sampled(_) => {}
            Outcome::Shuffled => action.root = self.card_proofs.roots.last().cloned(),
            Outcome::Cards(_) => {
                if let Some(seen) = seen {
                    action.cards = codes(seen, self.before.rules().variant().deck);
                    action.proofs = proofs(seen, self.card_proofs);
                }
            }
            Outcome::Rolled(faces) => {
                action.values = faces.iter().map(|face| u32::from(*face)).collect();
            }
            Outcome::Pulsed(shift) => action.values = vec![u32::from(*shift)],
            Outcome::Picked(picked) => action.values = vec![*picked],
        }
    }

    /// Seat that is dealt to, rolls or is drawn; 0: none.
    fn seat_of_chance(&self, due: &Chance, outcome: &Outcome) -> u32 {
        let player = match due {
            Chance::Deal(Deal { to: Destination::Player(player), .. })
            | Chance::Roll {
                purpose: RollPurpose::Prime(player) | RollPurpose::Impostor(player, _),
                ..
            }
            | Chance::Sample { purpose: SamplePurpose::Tokens(player), .. } => Some(*player),
            Chance::Pick { purpose: PickPurpose::Starter, .. } => match outcome {
                Outcome::Picked(pick) => {
                    usize::try_from(*pick).ok().and_then(|pick| self.before.live().iter().nth(pick))
                }
                Outcome::Shuffled
                | Outcome::Cards(_)
                | Outcome::Rolled(_)
                | Outcome::Pulsed(_)
                | Outcome::Sampled(_) => None,
            },
            Chance::Deal(Deal { to: Destination::Table, .. })
            | Chance::Roll { purpose: RollPurpose::Shift | RollPurpose::Target, .. }
            | Chance::Sample { purpose: SamplePurpose::Announce, .. }
            | Chance::Shuffle { .. }
            | Chance::Pulse { .. } => None,
        };
        player.map_or(0, |player| moves::seat_of(player, self.seats))
    }

    /// State of the game after the step, where it is not as it was for this viewer.
    fn changed_state(&self, after: &View, viewer: Viewer) -> Option<pb::GameState> {
        let is_same = rules::game_state(self.before, viewer) == after.game;
        (!is_same).then(|| game_state(after, self.after, self.seats))
    }
}

const fn kind_of_chance(due: &Chance) -> pb::ChanceKind {
    match due {
        Chance::Shuffle { .. } => pb::ChanceKind::Shuffle,
        Chance::Deal(Deal { to: Destination::Player(_), .. }) => pb::ChanceKind::Deal,
        Chance::Deal(Deal { to: Destination::Table, .. }) => pb::ChanceKind::Flip,
        Chance::Roll { .. } => pb::ChanceKind::Roll,
        Chance::Pulse { .. } => pb::ChanceKind::Pulse,
        Chance::Pick { purpose: PickPurpose::Starter, .. } => pb::ChanceKind::Starter,
        Chance::Sample { purpose: SamplePurpose::Tokens(_), .. } => pb::ChanceKind::Tokens,
        Chance::Sample { purpose: SamplePurpose::Announce, .. } => pb::ChanceKind::Announce,
    }
}

fn codes(seen: &EventView, deck: &Deck) -> Vec<String> {
    let code = |word: &Word| match word {
        Word::Card(Some(card)) => Some(deck.code(*card).to_owned()),
        Word::Card(None) => Some(HIDDEN.to_owned()),
        Word::Amount(_) | Word::Number(_) | Word::Player(_) | Word::Name(_) | Word::Hidden => None,
    };
    seen.words.iter().filter_map(code).collect()
}

/// Proofs of the cards that are seen, in their order.
fn proofs(seen: &EventView, shown: &CardProofs) -> Vec<CardProof> {
    let proof = |word: &Word| match word {
        Word::Card(Some(card)) => shown.by_card.get(card).map(|proof| (**proof).clone()),
        Word::Card(None)
        | Word::Amount(_)
        | Word::Number(_)
        | Word::Player(_)
        | Word::Name(_)
        | Word::Hidden => None,
    };
    seen.words.iter().filter_map(proof).collect()
}

//! Updates of a hand that stands still because the dealer is silent.

use std::collections::BTreeSet;

use primitives::SeatNo;
use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::event::v1 as event;
use proto::table::v1 as pb;
use rules::Viewer;
use wire::moves;

use super::standing;
use crate::decisions::ChainStep;
use crate::hand_in_play::HandInPlay;

/// A hand that stands still, with everything that its updates are made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standstill {
    suspension: pb::Suspension,
    /// Number of the decision that is due, or of the last one.
    turn: u32,
    /// Seat that decides when the hand goes on; 0 where no decision is due.
    to_act: u32,
    /// Seats of live players who have not agreed to end the hand.
    voters: BTreeSet<SeatNo>,
}

impl Standstill {
    /// The hand's standstill, with these live players; `None` where it goes on.
    #[must_use]
    pub(crate) fn of(play: &HandInPlay, live: &BTreeSet<SeatNo>) -> Option<Standstill> {
        let suspended = play.suspension.as_ref()?;
        let to_act = play.to_act();
        Some(Standstill {
            suspension: suspended.view(),
            turn: play.turn,
            to_act: to_act.map_or(0, |player| moves::seat_of(player, &play.replay.seats)),
            voters: live.difference(&suspended.agreed).copied().collect(),
        })
    }

    #[must_use]
    pub(crate) fn suspension(&self) -> pb::Suspension {
        self.suspension.clone()
    }

    /// The pending decision, without a deadline. Live players who have not agreed yet may end the
    /// hand, and nobody may do anything else.
    #[must_use]
    pub(crate) fn turn(&self, viewer: Option<SeatNo>) -> Option<pb::Turn> {
        let votes = viewer.is_some_and(|seat| self.voters.contains(&seat));
        let void = LegalMove {
            kind: MoveKind::Void.into(),
            text: "void".to_owned(),
            ..LegalMove::default()
        };
        (votes || self.to_act != 0).then(|| pb::Turn {
            seat: self.to_act,
            turn: self.turn,
            legal: if votes { vec![void] } else { Vec::new() },
            ..pb::Turn::default()
        })
    }
}

/// Update with a live player's agreement to end the hand, but for the pending decision.
#[must_use]
pub(crate) fn void_action(
    play: &HandInPlay,
    decided: &event::MoveDecided,
    step: &ChainStep,
) -> pb::HandAction {
    let view = rules::view(&play.replay.hand, Viewer::Public);
    pb::HandAction {
        hand_no: play.hand_no,
        line: step.line.clone(),
        seat: decided.seat,
        decision: Some(Move { kind: MoveKind::Void.into(), ..Move::default() }),
        standing: Some(standing(&view)),
        round: u32::try_from(view.round).unwrap_or(u32::MAX),
        phase: view.phase.to_owned(),
        chain_line: step.line.clone(),
        chain: step.chain.0.to_vec(),
        ..pb::HandAction::default()
    }
}

/// A hand whose cards the table has lost, of which only what its opening says is known.
#[must_use]
pub(crate) fn lost_hand_view(play: &HandInPlay) -> pb::HandView {
    let opened = &play.opened;
    pb::HandView {
        hand_no: play.hand_no,
        hand_id: play.hand_id.to_string(),
        commitment: super::commitment(play),
        dealer: opened.commitment.clone(),
        rule_set: opened.rule_set.clone(),
        settings: opened.settings.clone(),
        ..pb::HandView::default()
    }
}

//! Updates to viewers: live, and again from a resume token.
//!
//! The events of the hand in play and of the one before are kept in memory. A viewer who resumes
//! from further back gets a snapshot first. Repeated updates are made from the events by the same
//! code as the live ones, so they are equal to the byte.
//!
//! Specification: ARCHITECTURE.md §7.6.

use std::collections::VecDeque;
use std::sync::Arc;

use primitives::{HandId, PlayerId, SeatNo, TableId, UnixMicros};
use prost::Message as _;
use proto::event::v1::HandSettled;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use proto::table::v1::watch_table_response::Message;
use rules::{Event, Hand};

use crate::backlog::{
    BacklogReceiver, BacklogSender, DeliveryQueue, SizedMessage, backlog_channel,
};
use crate::decisions::ChainStep;
use crate::hand_in_play::HandInPlay;
use crate::people::directory::Directory;
use crate::proof::CardProofs;
use crate::updates::{self, DecisionClock, HandStep, Standstill};

/// Events kept at most. In a longer hand, viewers who resume get a snapshot.
const MAX_HISTORY: usize = 4_000;
/// Updates that a viewer is sent again at most; beyond that a snapshot is shorter.
const MAX_RESENT: usize = 256;
/// Bytes of the updates that a viewer is sent again at most.
const MAX_RESENT_BYTES: usize = 256 * 1024;

/// A published event, with everything that its updates are made from.
pub(crate) struct PublishedEvent {
    pub sequence: u64,
    pub at: UnixMicros,
    pub kind: PublishedKind,
}

pub(crate) enum PublishedKind {
    /// Content that is the same for every viewer.
    Public(Box<What>),
    /// A hand started.
    HandStarted {
        /// The hand at that time.
        started: Box<HandInPlay>,
        clock: Option<DecisionClock>,
    },
    HandStep {
        event: Event,
        /// The step in the chain, for a decision.
        decision: Option<ChainStep>,
        clock: Option<DecisionClock>,
        /// Proofs and roots after the step.
        card_proofs: Arc<CardProofs>,
    },
    HandEnded(Box<HandSettled>),
    /// The hand stands still, or goes on.
    Suspension(Box<SuspensionStep>),
    /// A live player has agreed to end the hand that stands still.
    Voided {
        action: Box<pb::HandAction>,
        standstill: Box<Standstill>,
    },
}

/// Begin or end of a hand's suspension, with everything that its updates are made from.
#[derive(Clone)]
pub(crate) struct SuspensionStep {
    pub hand_no: u64,
    pub hand_id: HandId,
    /// `None` where the hand goes on.
    pub standstill: Option<Standstill>,
    /// Clock of the decision with which the hand goes on.
    pub clock: Option<DecisionClock>,
}

/// End of a stream with what to do about it.
#[must_use]
pub(crate) fn stream_ended(reason: pb::EndReason) -> pb::StreamEnded {
    let text = match reason {
        pb::EndReason::Unspecified => "the stream ends",
        pb::EndReason::ServerStopping => {
            "the server is going away: watch again, with the last resume_token"
        }
        pb::EndReason::TableClosed => "the table is closed: nothing follows",
        pb::EndReason::TooSlow => {
            "updates were read too slowly: watch again, with the last resume_token"
        }
        pb::EndReason::TokenExpired => {
            "the token's time is over: watch again with a new one, and with the last resume_token"
        }
    };
    let doc = wire::status::doc_link(reason.as_str_name());
    let (reason, text) = (reason.into(), text.to_owned());
    pb::StreamEnded { reason, text, doc, trace_id: String::new() }
}

#[cfg(test)]
impl PublishedEvent {
    /// Copy of the event.
    pub(crate) fn duplicate(&self) -> PublishedEvent {
        let kind = match &self.kind {
            PublishedKind::Public(what) => PublishedKind::Public(what.clone()),
            PublishedKind::HandStarted { started, clock } => {
                PublishedKind::HandStarted { started: started.clone(), clock: *clock }
            }
            PublishedKind::HandStep { event, decision, clock, card_proofs: shown } => {
                PublishedKind::HandStep {
                    event: event.clone(),
                    decision: decision.clone(),
                    clock: *clock,
                    card_proofs: Arc::clone(shown),
                }
            }
            PublishedKind::HandEnded(settled) => PublishedKind::HandEnded(settled.clone()),
            PublishedKind::Suspension(step) => PublishedKind::Suspension(step.clone()),
            PublishedKind::Voided { action, standstill } => {
                PublishedKind::Voided { action: action.clone(), standstill: standstill.clone() }
            }
        };
        PublishedEvent { kind, ..*self }
    }
}

struct Watcher {
    player: Option<PlayerId>,
    sender: BacklogSender,
}

/// Viewers of a table, and the events that they may be sent again.
pub(crate) struct Publisher {
    table: TableId,
    /// Fills the players' names into messages.
    directory: Directory,
    watchers: Vec<Watcher>,
    /// Of the spectators.
    queue: DeliveryQueue,
    history: VecDeque<PublishedEvent>,
}

impl Publisher {
    #[must_use]
    pub(crate) fn new(table: TableId, directory: Directory) -> Publisher {
        Publisher {
            table,
            directory,
            watchers: Vec::new(),
            queue: DeliveryQueue::default(),
            history: VecDeque::new(),
        }
    }

    /// Updates after `sequence` for a viewer; `None` where they are too old or too many.
    #[must_use]
    pub(crate) fn updates_since(
        &self,
        player: Option<PlayerId>,
        sequence: u64,
    ) -> Option<Vec<pb::WatchTableResponse>> {
        let first = self.history.front().map_or(u64::MAX, |past| past.sequence);
        if sequence + 1 < first && self.history.back().is_none_or(|last| last.sequence > sequence) {
            return None;
        }
        let last = self.history.back().map_or(sequence, |past| past.sequence);
        if last <= sequence {
            return Some(Vec::new());
        }
        if last.saturating_sub(sequence) > MAX_RESENT as u64 {
            return None;
        }
        let mut play: Option<HandInPlay> = None;
        let (mut missed, mut bytes) = (Vec::new(), 0);
        for past in &self.history {
            if past.sequence <= sequence {
                advance(&mut play, &past.kind);
                continue;
            }
            let before = play.as_ref().map(|play| play.replay.hand.clone());
            advance(&mut play, &past.kind);
            if let Some(what) = render(&past.kind, before.as_ref(), play.as_ref(), player) {
                let message = self.message(past, what);
                bytes += message.encoded_len();
                if bytes > MAX_RESENT_BYTES {
                    return None;
                }
                missed.push(message);
            } else if play.is_none() {
                // The start of this hand is no longer kept.
                return None;
            }
        }
        Some(missed)
    }

    /// Whether anybody gets updates.
    #[must_use]
    pub(crate) fn is_watched(&self) -> bool {
        !self.watchers.is_empty()
    }

    /// Adds a viewer, who gets all updates from now on.
    pub(crate) fn watch(&mut self, player: Option<PlayerId>) -> BacklogReceiver {
        let (out, receiver) = backlog_channel();
        self.watchers.retain(|watcher| !watcher.sender.is_closed());
        self.watchers.push(Watcher { player, sender: out });
        receiver
    }

    /// Sends an event to all viewers and remembers it. For an event of a hand, `before` is the hand
    /// before it and `after` the hand after it. Who `is_seated` has it before the spectators.
    pub(crate) fn publish(
        &mut self,
        past: PublishedEvent,
        before: Option<&Hand>,
        after: Option<&HandInPlay>,
        is_seated: impl Fn(PlayerId) -> bool,
    ) {
        let mut rendered: Vec<(rules::Viewer, SizedMessage)> = Vec::new();
        let viewer = |watcher: &Watcher| {
            after.map_or(rules::Viewer::Public, |play| play.viewer(watcher.player))
        };
        let viewers: Vec<rules::Viewer> = self.watchers.iter().map(viewer).collect();
        let mut rest = &viewers[..];
        let (table, directory, queue) = (self.table, &self.directory, &self.queue);
        self.watchers.retain(|watcher| {
            let [viewer, others @ ..] = rest else { return true };
            rest = others;
            let personal = is_personal(&past.kind, watcher.player);
            let alike = rendered.iter().find(|(other, _)| other == viewer).filter(|_| !personal);
            let message = match alike {
                Some((_, message)) => message.clone(),
                None => match render(&past.kind, before, after, watcher.player) {
                    Some(what) => {
                        let message =
                            SizedMessage::new(message(table, &past, directory.with_name(what)));
                        // Players see what nobody else does, and mostly on one stream.
                        if !personal && rest.contains(viewer) {
                            rendered.push((*viewer, message.clone()));
                        }
                        message
                    }
                    None => return true,
                },
            };
            let is_seated = watcher.player.is_some_and(&is_seated);
            let message = if is_seated { message } else { message.queued(queue) };
            // False ends the stream of a viewer who is too far behind; they can resume.
            watcher.sender.send(message)
        });
        self.remember(past);
    }

    /// Ends all streams with a reason.
    pub(crate) fn end_streams(&mut self, reason: pb::EndReason, sequence: u64) {
        for watcher in self.watchers.drain(..) {
            let ended = Message::Ended(stream_ended(reason));
            let message = pb::WatchTableResponse {
                message: Some(ended),
                resume_token: resume_token(self.table, sequence),
            };
            watcher.sender.finish(message);
        }
    }

    /// Keeps an event without sending it, for hands that are recovered.
    pub(crate) fn remember(&mut self, past: PublishedEvent) {
        if let PublishedKind::HandStarted { .. } = past.kind {
            let started =
                |past: &PublishedEvent| matches!(past.kind, PublishedKind::HandStarted { .. });
            let last = self.history.iter().rposition(started).unwrap_or(0);
            self.history.drain(..last);
        }
        if self.history.len() == MAX_HISTORY {
            self.history.clear();
        }
        self.history.push_back(past);
    }

    fn message(&self, past: &PublishedEvent, what: What) -> pb::WatchTableResponse {
        message(self.table, past, self.directory.with_name(what))
    }
}

fn message(table: TableId, past: &PublishedEvent, what: What) -> pb::WatchTableResponse {
    let update = pb::TableUpdate {
        sequence: past.sequence,
        record_time: Some(wire::time::timestamp(past.at)),
        what: Some(what),
    };
    pb::WatchTableResponse {
        message: Some(Message::Update(Box::new(update))),
        resume_token: resume_token(table, past.sequence),
    }
}

/// Moves a replayed hand past an event.
fn advance(play: &mut Option<HandInPlay>, kind: &PublishedKind) {
    match kind {
        PublishedKind::Public(_) | PublishedKind::Suspension(_) | PublishedKind::Voided { .. } => {}
        PublishedKind::HandStarted { started, clock: _ } => *play = Some(started.as_ref().clone()),
        PublishedKind::HandStep { event, decision: _, clock: _, card_proofs: shown } => {
            if let Some(play) = play {
                rules::evolve(&mut play.replay.hand, event);
                play.card_proofs = Arc::clone(shown);
            }
        }
        PublishedKind::HandEnded(settled) => {
            if let Some(play) = play {
                play.settled = Some(settled.as_ref().clone());
            }
        }
    }
}

/// Whether a player's update of an event differs from everybody else's in more than cards.
fn is_personal(kind: &PublishedKind, player: Option<PlayerId>) -> bool {
    match kind {
        PublishedKind::Public(what) => {
            if let What::Seat(changed) = what.as_ref() {
                changed.your_standing.is_some() && is_own_seat(changed, player)
            } else {
                false
            }
        }
        PublishedKind::HandStarted { started, clock: _ } => {
            player.is_some_and(|player| started.standing_of(player).is_some())
        }
        PublishedKind::HandStep { .. }
        | PublishedKind::HandEnded(_)
        | PublishedKind::Suspension(_)
        | PublishedKind::Voided { .. } => false,
    }
}

/// Whether the seat is the player's.
fn is_own_seat(changed: &pb::SeatChanged, player: Option<PlayerId>) -> bool {
    let seat = changed.seat.as_ref();
    seat.zip(player).is_some_and(|(seat, player)| wire::field::is_id(&seat.player_id, player))
}

/// Content of an event's update for one viewer; `None` where the hand is not known.
fn render(
    kind: &PublishedKind,
    before: Option<&Hand>,
    after: Option<&HandInPlay>,
    player: Option<PlayerId>,
) -> Option<What> {
    match kind {
        PublishedKind::Public(what) => {
            let mut what = what.as_ref().clone();
            if let What::Seat(changed) = &mut what
                && !is_own_seat(changed, player)
            {
                changed.your_standing = None;
            }
            Some(what)
        }
        PublishedKind::HandStarted { started, clock } => {
            Some(What::HandStarted(updates::hand_started(started, *clock, player)))
        }
        PublishedKind::HandStep { event, decision, clock, card_proofs: shown } => {
            let after = after?;
            let step = HandStep {
                hand_no: after.hand_no,
                seats: &after.replay.seats,
                before: before?,
                event,
                decision: decision.as_ref(),
                after: &after.replay.hand,
                clock: *clock,
                card_proofs: shown,
            };
            Some(What::Action(step.action(after.viewer(player))))
        }
        PublishedKind::HandEnded(_) => {
            let play = after?;
            Some(What::HandEnded(updates::hand_ended(play, play.viewer(player))))
        }
        PublishedKind::Suspension(step) => {
            Some(What::Suspension(suspension_changed(step, after, player)))
        }
        PublishedKind::Voided { action, standstill } => {
            let turn = standstill.turn(own_seat(after, player));
            Some(What::Action(pb::HandAction { turn, ..action.as_ref().clone() }))
        }
    }
}

/// Seat of a player in the hand; `None` for everybody else.
fn own_seat(play: Option<&HandInPlay>, player: Option<PlayerId>) -> Option<SeatNo> {
    let play = play?;
    play.player(player?).map(|player| play.seat(player))
}

fn suspension_changed(
    step: &SuspensionStep,
    after: Option<&HandInPlay>,
    player: Option<PlayerId>,
) -> pb::SuspensionChanged {
    let SuspensionStep { hand_no, hand_id, standstill, clock } = step;
    let resumed = |clock: DecisionClock| {
        let play = after?;
        let viewer = play.viewer(player);
        Some(updates::turn(&play.replay.hand, &play.replay.seats, viewer, clock))
    };
    pb::SuspensionChanged {
        hand_no: *hand_no,
        hand_id: hand_id.to_string(),
        suspension: standstill.as_ref().map(Standstill::suspension),
        turn: match standstill {
            Some(standstill) => standstill.turn(own_seat(after, player)),
            None => clock.and_then(resumed),
        },
    }
}

/// Resume token of a viewer: the table, and the last update that they have seen.
#[must_use]
pub(crate) fn resume_token(table: TableId, sequence: u64) -> Vec<u8> {
    [table.bytes().as_slice(), &sequence.to_be_bytes()].concat()
}

/// Parses a resume token of this table.
#[must_use]
pub(crate) fn parse_resume_token(table: TableId, token: &[u8]) -> Option<u64> {
    let sequence = token.strip_prefix(table.bytes())?;
    Some(u64::from_be_bytes(sequence.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: TableId = TableId([7; 16]);

    fn past(sequence: u64, player: usize) -> PublishedEvent {
        let seat = pb::SeatView { player_id: "7".repeat(player), ..pb::SeatView::default() };
        let what =
            What::Seat(pb::SeatChanged { seat: Some(seat), vacated: false, your_standing: None });
        PublishedEvent { sequence, at: UnixMicros(0), kind: PublishedKind::Public(Box::new(what)) }
    }

    /// A publisher that has published this many updates.
    fn publisher(updates: u64, bytes: usize) -> Publisher {
        let mut publisher = Publisher::new(TABLE, Directory::default());
        for sequence in 1..=updates {
            publisher.remember(past(sequence, bytes));
        }
        publisher
    }

    #[test]
    fn what_was_missed_is_sent_again_where_it_is_not_too_much() {
        let publisher = publisher(1_000, 16);
        let missed = |sequence| publisher.updates_since(None, sequence).map(|missed| missed.len());
        assert_eq!(missed(1_000), Some(0));
        assert_eq!(missed(1_000 - 256), Some(256));
        assert_eq!(missed(1_000 - 257), None);
        assert_eq!(missed(1), None);
        let long = self::publisher(100, MAX_RESENT_BYTES / 50);
        assert!(long.updates_since(None, 60).is_some() && long.updates_since(None, 40).is_none());
    }

    #[tokio::test]
    async fn a_viewer_who_takes_nothing_costs_so_many_bytes_and_receives_the_rest() {
        let mut publisher = publisher(0, 0);
        let (mut slow, mut quick) = (publisher.watch(None), publisher.watch(None));
        for sequence in 1..=1_000 {
            publisher.publish(past(sequence, 4_096), None, None, |_| false);
            assert!(quick.next().await.is_some(), "whoever reads is not kept waiting");
        }
        let mut received = 0;
        while slow.next().await.is_some() {
            received += 1;
        }
        assert!((10..100).contains(&received), "{received} updates were kept for the slow one");
        publisher.end_streams(pb::EndReason::ServerStopping, 1_000);
        let last = quick.next().await.unwrap().message.unwrap();
        assert!(matches!(last, Message::Ended(_)));
    }
}

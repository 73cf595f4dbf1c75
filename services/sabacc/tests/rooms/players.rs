//! Players on the project's client, each on a stream of their own, who decide as the test instructs them.

use client::{Error, PlayMessage, TableState};
use primitives::TableId;
use proto::common::v1::{ErrorReason, Move, MoveKind};
use proto::table::v1 as pb;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::harness::LONG_TIMEOUT;
use crate::people::{Guest, Party, plain};

/// Decisions of players when it is their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conduct {
    /// They stay in and raise nothing.
    Play,
    Wait,
    /// They agree to end a hand that stands still.
    Agree,
}

/// Players at one table.
pub(crate) struct Players {
    pub(crate) table: TableId,
    pub(crate) guests: Vec<Guest>,
    conduct: Vec<watch::Sender<Conduct>>,
    views: Vec<watch::Receiver<pb::TableView>>,
    tasks: JoinSet<()>,
}

impl Players {
    /// Lets seated guests play.
    pub(crate) fn follow(party: &Party) -> Players {
        let (table, guests) = (party.table, party.guests.clone());
        let (mut conduct, mut views, mut tasks) = (Vec::new(), Vec::new(), JoinSet::new());
        for guest in &guests {
            let (sender, heed) = watch::channel(Conduct::Play);
            let (show, shown) = watch::channel(pb::TableView::default());
            tasks.spawn(run(guest.clone(), table, heed, show));
            conduct.push(sender);
            views.push(shown);
        }
        Players { table, guests, conduct, views, tasks }
    }

    pub(crate) fn instruct_all(&self, conduct: Conduct) {
        (0..self.guests.len()).for_each(|guest| self.instruct(guest, conduct));
    }

    pub(crate) fn instruct(&self, guest: usize, conduct: Conduct) {
        self.conduct[guest].send_replace(conduct);
    }

    /// Waits until a guest is shown what `wanted` accepts.
    pub(crate) async fn until(
        &mut self,
        guest: usize,
        what: &str,
        wanted: impl Fn(&pb::TableView) -> bool,
    ) -> pb::TableView {
        let shown = self.views[guest].clone();
        let seen = self.views[guest].wait_for(|view| wanted(view));
        match tokio::time::timeout(LONG_TIMEOUT, seen).await {
            Ok(Ok(view)) => view.clone(),
            Ok(Err(_)) => {
                let ended = self.tasks.join_next().await;
                panic!("guest {guest} does not play any more, and waits for {what}: {ended:?}")
            }
            Err(_) => panic!("guest {guest} waits for {what}: {:?}", shown.borrow()),
        }
    }

    /// Waits until all are shown what `wanted` accepts; returns the first one's view.
    pub(crate) async fn until_all(
        &mut self,
        what: &str,
        wanted: impl Fn(&pb::TableView) -> bool,
    ) -> pb::TableView {
        for guest in (0..self.guests.len()).rev() {
            let view = self.until(guest, what, &wanted).await;
            if guest == 0 {
                return view;
            }
        }
        panic!("nobody plays")
    }

    /// Lets everybody wait, in a hand in which one of them has to decide.
    pub(crate) async fn pause(&mut self) -> pb::TableView {
        self.instruct_all(Conduct::Wait);
        let due = |view: &pb::TableView| {
            view.hand.as_ref().is_some_and(|hand| hand.turn.as_ref().is_some_and(|it| it.seat > 0))
        };
        // What was decided before they were instructed is shown within that time.
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
        self.until_all("a decision", due).await
    }

    /// Waits until the table is closed.
    pub(crate) async fn closed(mut self) {
        let ended = async {
            while let Some(ended) = self.tasks.join_next().await {
                ended.unwrap()
            }
        };
        tokio::time::timeout(LONG_TIMEOUT, ended).await.expect("the table closes");
    }
}

/// Plays until the table closes.
async fn run(
    guest: Guest,
    table: TableId,
    mut conduct: watch::Receiver<Conduct>,
    show: watch::Sender<pb::TableView>,
) {
    let mut play = guest.client.play(table).contributing_entropy(guest.id);
    let mut state = TableState::new(Some(guest.id));
    let mut decided = None;
    loop {
        tokio::select! {
            message = play.next() => match message {
                Ok(Some(PlayMessage::Watch(seen))) => state.apply(&seen),
                Ok(Some(PlayMessage::Decision(done))) => {
                    if let Err(refusal) = done.outcome {
                        // Somebody else has decided first: it is due again after their update.
                        let passes = [ErrorReason::NotYourTurn, ErrorReason::SignatureInvalid];
                        let reason = refusal.reason;
                        assert!(reason.is_some_and(|it| passes.contains(&it)), "{refusal:?}");
                        decided = None;
                    }
                    continue;
                }
                Ok(Some(PlayMessage::Entropy(_) | PlayMessage::Notice(_))) => {}
                Ok(None) => return,
                Err(Error::Gap { .. }) => continue,
                Err(error) => panic!("{error}"),
            },
            changed = conduct.changed() => if changed.is_err() { return },
        }
        show.send_replace(state.view().clone());
        if !play.is_live() {
            continue;
        }
        let conduct = *conduct.borrow_and_update();
        let hand_no = state.view().hand_no;
        let Some((turn, chosen)) = choose(&state, conduct) else { continue };
        let due = (hand_no, turn, chosen.kind());
        if decided != Some(due) {
            decided = Some(due);
            play.decide(hand_no, turn, chosen).unwrap();
        }
    }
}

/// Returns the turn in which something is decided, and what.
fn choose(state: &TableState, conduct: Conduct) -> Option<(u32, Move)> {
    let turn = state.turn()?;
    let may = |kind: MoveKind| turn.legal.iter().any(|legal| legal.kind() == kind);
    match conduct {
        Conduct::Wait => None,
        Conduct::Agree => (state.is_suspended() && may(MoveKind::Void))
            .then(|| (turn.turn, plain(MoveKind::Void))),
        Conduct::Play => {
            let turn = state.my_turn().filter(|_| !state.is_suspended())?;
            let calm = [MoveKind::Check, MoveKind::Match, MoveKind::CallHand, MoveKind::Stand];
            let calm = calm.into_iter().find(|kind| may(*kind)).map(plain);
            Some((turn.turn, calm.or_else(|| turn.default_move.clone())?))
        }
    }
}

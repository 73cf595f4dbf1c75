//! Playing over one stream: each decision counts once, a refusal does not end the stream, and play
//! continues after a kill of the room.

use std::collections::BTreeMap;

use bots::{Strategy as _, strategy};
use client::{DecisionOutcome, Play, PlayMessage, TableState};
use primitives::TableId;
use proto::common::v1::{ErrorReason, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::play_request::Message as Asked;
use proto::table::v1::play_response::Message as PlayAnswer;
use rustix::process::Signal;
use system::ids::IdMaker;
use tonic::Code;
use tonic_types::StatusExt as _;

use crate::harness::{LONG_TIMEOUT, RoomHarness};
use crate::people::{Guest, Party, close, plain, slow_table, tables, turn_of, with_token};
use crate::records;

/// Guest who plays steadily, and the outcomes of their decisions.
struct Player {
    play: Play,
    state: TableState,
    waiting: BTreeMap<String, u32>,
    /// Sequence numbers of the updates that carry their decisions.
    sequences: Vec<u64>,
    /// Decisions that came too late, after the answer to the first attempt was lost.
    late: usize,
    /// Numbers of receipts for entropy, and of reveals.
    entropy_counts: (usize, usize),
}

impl Player {
    fn new(guest: &Guest, table: TableId) -> Player {
        Player {
            play: guest.client.play(table).contributing_entropy(guest.id),
            state: TableState::new(Some(guest.id)),
            waiting: BTreeMap::new(),
            sequences: Vec::new(),
            late: 0,
            entropy_counts: (0, 0),
        }
    }

    /// Plays until `enough` accepts the view, or the table is closed.
    async fn until(&mut self, enough: impl Fn(&pb::TableView) -> bool) {
        let mut steady = strategy::by_name("steady", 1).unwrap();
        let mut decided = 0;
        while !enough(self.state.view()) {
            match self.play.next().await.unwrap() {
                Some(PlayMessage::Watch(seen)) => self.state.apply(&seen),
                Some(PlayMessage::Decision(acted)) => self.answered(acted),
                Some(PlayMessage::Entropy(part)) => match part.outcome {
                    Ok(Some(_)) => self.entropy_counts.0 += 1,
                    Ok(None) => self.entropy_counts.1 += 1,
                    Err(refusal) => panic!("hand {}: {refusal}", part.hand_no),
                },
                Some(PlayMessage::Notice(notice)) => panic!("{notice}"),
                None => return,
            }
            let view = self.state.view();
            let own = turn_of(view).filter(|turn| turn.seat == view.your_seat);
            let Some(turn) = own.filter(|_| self.play.is_live()) else { continue };
            let now = u64::from(turn.turn) << 32 | view.hand_no;
            if now != decided && self.waiting.is_empty() {
                decided = now;
                let (hand_no, number) = (view.hand_no, turn.turn);
                let decision = steady.choose(&self.state, turn);
                let request = self.play.decide(hand_no, number, decision).unwrap();
                self.waiting.insert(request, number);
            }
        }
    }

    /// Leaves the table, signed over what the others decided meanwhile.
    async fn leave(&mut self) {
        while let Err(error) = self.play.stand_up().await {
            let is_behind = matches!(
                error.reason(),
                Some(ErrorReason::SignatureInvalid | ErrorReason::SignatureNeeded)
            );
            assert!(is_behind, "{error}");
            self.play.next().await.unwrap();
        }
    }

    fn answered(&mut self, acted: DecisionOutcome) {
        assert!(self.waiting.remove(&acted.request_id).is_some(), "one answer for each decision");
        match acted.outcome {
            Ok(sequence) => self.sequences.push(sequence),
            Err(refusal) => {
                assert_eq!(refusal.reason, Some(ErrorReason::NotYourTurn), "{refusal}");
                self.late += 1;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hands_are_played_over_streams_through_a_kill() {
    let harness = RoomHarness::new();
    let address = format!("127.0.0.1:{}", testkit::free_port().unwrap());
    let arguments = ["--no-bots", "--listen", &address];
    let mut room = harness.up(&arguments).await;
    // Long enough for seats to contribute entropy over a kill.
    let config = pb::TableConfig { commit_ms: 10_000, reveal_ms: 10_000, ..slow_table("party") };
    let party = Party::at(&harness, &room.url, 2, config).await;
    let mut players: Vec<Player> =
        party.guests.iter().map(|guest| Player::new(guest, party.table)).collect();
    let [one, two] = &mut players[..] else { panic!("two players") };
    // It dies while the seats contribute to a hand.
    let opens = |view: &pb::TableView| view.hand_no >= 3;
    let both = async { tokio::join!(one.until(opens), two.until(opens)) };
    tokio::time::timeout(LONG_TIMEOUT, both).await.expect("two hands are played");
    room.running.kill();
    room = harness.up(&arguments).await;
    let dealt = |view: &pb::TableView| view.hand.as_ref().is_some_and(|hand| hand.hand_no >= 5);
    let both = async { tokio::join!(one.until(dealt), two.until(dealt)) };
    tokio::time::timeout(LONG_TIMEOUT, both).await.expect("play goes on after the kill");

    // The hand in play ends without its players: both leave.
    for player in &mut players {
        player.leave().await;
    }
    let carried: Vec<u64> =
        players.iter().flat_map(|player| player.sequences.iter().copied()).collect();
    let distinct: std::collections::BTreeSet<u64> = carried.iter().copied().collect();
    assert_eq!(distinct.len(), carried.len(), "every decision has an update of its own");
    assert!(carried.len() > 8, "{carried:?}");
    for player in &players {
        let (receipts, reveals) = player.entropy_counts;
        assert!(receipts >= 4 && reveals >= 4, "{receipts} receipts, {reveals} reveals");
    }
    drop(players);
    close(&harness, &room.url, party.table).await;
    let hands = records::finished(&room.database).await;
    assert!(hands.len() >= 4, "{} hands", hands.len());
    room.running.stop(Signal::INT).await;
    let mut quiet = harness.up(&["--no-bots"]).await;
    records::audit(&harness, &hands).await;
    quiet.running.stop(Signal::INT).await;
}

/// Raw stream without our client.
pub(crate) struct RawStream {
    sender: tokio::sync::mpsc::Sender<pb::PlayRequest>,
    messages: tonic::Streaming<pb::PlayResponse>,
}

impl RawStream {
    pub(crate) async fn open(
        url: &str,
        guest: &Guest,
        first: Asked,
    ) -> Result<RawStream, tonic::Status> {
        let (say, said) = tokio::sync::mpsc::channel(8);
        say.send(pb::PlayRequest { message: Some(first) }).await.unwrap();
        let said = futures_util::stream::unfold(said, |mut said| async move {
            said.recv().await.map(|message| (message, said))
        });
        let messages = tables(url).play(with_token(&guest.token, said)).await?.into_inner();
        Ok(RawStream { sender: say, messages })
    }

    /// Sends a decision; returns its outcome.
    pub(crate) async fn act(&mut self, act: pb::ActRequest) -> pb::Acted {
        self.sender.send(pb::PlayRequest { message: Some(Asked::Act(act)) }).await.unwrap();
        loop {
            if let Some(PlayAnswer::Acted(acted)) =
                self.messages.message().await.unwrap().unwrap().message
            {
                return acted;
            }
        }
    }
}

fn refused(acted: pb::Acted) -> pb::ActRefused {
    match acted.outcome {
        Some(pb::acted::Outcome::Refused(refused)) => refused,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_refused_is_named_and_ends_nothing() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let party = Party::new(&harness, &room.url, 2).await;
    let (guest, view) = party.turn().await;
    let me = &party.guests[guest];
    let watch = |table: String| {
        Asked::Watch(pb::WatchTableRequest { table_id: table, resume_token: Vec::new() })
    };
    let table = party.table.to_string();
    let good = || party.act_request(guest, &view, IdMaker::system().request_id());

    let status = RawStream::open(&room.url, me, Asked::Act(good())).await.err().unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
    let bad = status.get_details_bad_request().unwrap();
    assert_eq!(bad.field_violations[0].field, "watch");

    let mut bare = RawStream::open(&room.url, me, watch(table.clone())).await.unwrap();
    let elsewhere = pb::ActRequest { table_id: primitives::TableId([9; 16]).to_string(), ..good() };
    let answer = refused(bare.act(elsewhere).await);
    assert_eq!(answer.reason(), ErrorReason::BadField);
    assert_eq!(answer.metadata["field"], "table_id");
    let nameless = pb::ActRequest { request_id: String::new(), ..good() };
    assert_eq!(refused(bare.act(nameless).await).metadata["field"], "request_id");
    let wild = pb::ActRequest { decision: Some(plain(MoveKind::Junk)), ..good() };
    assert_eq!(refused(bare.act(wild).await).reason(), ErrorReason::IllegalMove);
    let old = pb::ActRequest { turn: 999, ..good() };
    assert_eq!(refused(bare.act(old).await).reason(), ErrorReason::NotYourTurn);
    let after = party.view_of(guest).await;
    assert_eq!(after.sequence, view.sequence, "nothing has changed");

    // A repeated decision is one decision with one answer, over the stream or by a call.
    let act = good();
    let first = bare.act(act.clone()).await.outcome;
    assert!(matches!(first, Some(pb::acted::Outcome::Done(_))), "{first:?}");
    assert_eq!(bare.act(act.clone()).await.outcome, first);
    let by_call = party.act(guest, act).await.unwrap().into_inner();
    assert_eq!(first, Some(pb::acted::Outcome::Done(by_call)));

    // A second table to follow ends the stream with an error.
    bare.sender.send(pb::PlayRequest { message: Some(watch(table)) }).await.unwrap();
    let status = loop {
        match bare.messages.message().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the stream ended without a word"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    room.running.stop(Signal::INT).await;
}

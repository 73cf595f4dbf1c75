//! A stream resumed from any of its tokens repeats what an unbroken one showed its viewer, also
//! after a kill of the room.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use chassis::auth::Role;
use futures_util::{FutureExt as _, StreamExt as _};
use proto::table::v1 as pb;
use proto::table::v1::play_response::Message as PlayMessage;
use proto::table::v1::table_update::What;
use proto::table::v1::watch_table_response::Message;
use rustix::process::Signal;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::harness::{LONG_TIMEOUT, RoomHarness, poll_until};
use crate::people::{Party, tables, with_token};

/// Messages that a viewer has received.
type Received = Arc<Mutex<Vec<pb::WatchTableResponse>>>;

/// Stream that is read as it comes.
struct UnbrokenStream {
    token: String,
    received: Received,
    reading: JoinHandle<()>,
}

impl UnbrokenStream {
    /// Opens a stream from a token, or from the start.
    async fn new(url: &str, table: &str, token: &str, resume: &[u8]) -> UnbrokenStream {
        let mut stream = watch(url, table, token, resume).await;
        let received = Received::default();
        let into = Arc::clone(&received);
        let reading = tokio::spawn(async move {
            while let Ok(Some(message)) = stream.message().await {
                into.lock().unwrap().push(message);
            }
        });
        UnbrokenStream { token: token.to_owned(), received, reading }
    }

    /// Returns every update with its token, once the update `last` has come.
    async fn updates(&self, last: u64) -> Vec<(pb::TableUpdate, Vec<u8>)> {
        let there = poll_until(|| {
            let received = self.received.lock().unwrap();
            let updates: Vec<_> = received.iter().filter_map(update).collect();
            (last == 0 || updates.last().is_some_and(|(it, _)| it.sequence >= last))
                .then_some(updates)
        });
        there.await.expect("the stream goes on")
    }
}

/// Opens a stream, as soon as the tables are ready and the rate limit allows it.
async fn watch(
    url: &str,
    table: &str,
    token: &str,
    resume: &[u8],
) -> tonic::Streaming<pb::WatchTableResponse> {
    let mut tables = tables(url);
    let opened = async {
        loop {
            let (table_id, resume_token) = (table.to_owned(), resume.to_vec());
            let request = pb::WatchTableRequest { table_id, resume_token };
            match tables.watch_table(with_token(token, request)).await {
                Ok(stream) => return stream.into_inner(),
                // Updates that were sent again count against the rate limit.
                Err(status)
                    if matches!(
                        status.code(),
                        tonic::Code::Unavailable | tonic::Code::ResourceExhausted
                    ) =>
                {
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
                Err(status) => panic!("{status:?}"),
            }
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, opened).await.expect("the tables are taken up")
}

fn update(message: &pb::WatchTableResponse) -> Option<(pb::TableUpdate, Vec<u8>)> {
    let Some(Message::Update(update)) = &message.message else { return None };
    Some((update.as_ref().clone(), message.resume_token.clone()))
}

/// Method that a stream is resumed by.
#[derive(Debug, Clone, Copy)]
enum By {
    WatchTable,
    Play,
}

/// Resumed stream of either method.
enum Resumed {
    Watch(tonic::Streaming<pb::WatchTableResponse>),
    Play {
        stream: tonic::Streaming<pb::PlayResponse>,
        /// Holds the player's own side of the stream open.
        _stays: oneshot::Sender<()>,
    },
}

impl Resumed {
    async fn next(&mut self) -> Option<Message> {
        match self {
            Resumed::Watch(stream) => stream.message().await.unwrap()?.message,
            Resumed::Play { stream, .. } => match stream.message().await.unwrap()?.message? {
                PlayMessage::Seen(seen) => seen.message,
                other => panic!("nothing was decided: {other:?}"),
            },
        }
    }
}

/// Opens a stream in which a player may decide, as soon as the limits allow it.
async fn play(url: &str, table: &str, token: &str, resume: &[u8]) -> Resumed {
    let mut tables = tables(url);
    let opened = async {
        loop {
            let (stays, gone) = oneshot::channel();
            let (table_id, resume_token) = (table.to_owned(), resume.to_vec());
            let to_watch = pb::WatchTableRequest { table_id, resume_token };
            let first = Some(pb::play_request::Message::Watch(to_watch));
            // The player says no more, but stays.
            let until_gone = gone.into_stream().filter_map(async |_| None);
            let said = futures_util::stream::iter([pb::PlayRequest { message: first }]);
            match tables.play(with_token(token, said.chain(until_gone))).await {
                Ok(stream) => return Resumed::Play { stream: stream.into_inner(), _stays: stays },
                // Streams that were dropped a moment ago count too.
                Err(status) if status.code() == tonic::Code::ResourceExhausted => {
                    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
                }
                Err(status) => panic!("{status:?}"),
            }
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, opened).await.expect("the limits allow it")
}

/// Returns the messages of a resumed stream before it is live.
async fn messages_before_live(
    by: By,
    url: &str,
    table: &str,
    token: &str,
    resume: &[u8],
) -> Vec<Message> {
    let mut stream = match by {
        By::WatchTable => Resumed::Watch(watch(url, table, token, resume).await),
        By::Play => play(url, table, token, resume).await,
    };
    let mut past = Vec::new();
    let reading = async {
        loop {
            match stream.next().await {
                Some(Message::CaughtUp(_)) => break,
                Some(message) => past.push(message),
                None => panic!("the stream ended before it was live"),
            }
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, reading).await.expect("it becomes live");
    past
}

/// Resumes the stream from every token; returns how many resumed without a snapshot.
async fn check_resumes(
    by: By,
    url: &str,
    table: &str,
    unbroken: &UnbrokenStream,
    last: u64,
) -> usize {
    let updates = unbroken.updates(last).await;
    assert!(updates.windows(2).all(|two| two[1].0.sequence == two[0].0.sequence + 1), "dense");
    let mut whole = 0;
    for (at, (seen, token)) in updates.iter().enumerate() {
        let past = messages_before_live(by, url, table, &unbroken.token, token).await;
        let rest: Vec<&pb::TableUpdate> = updates[at + 1..].iter().map(|(it, _)| it).collect();
        if let [Message::Snapshot(view)] = &past[..] {
            assert_eq!(view.sequence, last, "a snapshot is of now");
            // Only old tokens get a snapshot, and none within the hand in play.
            let hand = |it: &&&pb::TableUpdate| matches!(it.what, Some(What::HandStarted(_)));
            assert!(rest.iter().any(|it| hand(&it)), "update {} is of this hand", seen.sequence);
            continue;
        }
        let again: Vec<&pb::TableUpdate> = past
            .iter()
            .map(|message| match message {
                Message::Update(update) => update.as_ref(),
                other => panic!("between updates: {other:?}"),
            })
            .collect();
        for (again, first) in again.iter().zip(&rest) {
            assert_eq!(again, first, "after update {}", seen.sequence);
        }
        assert_eq!(again.len(), rest.len(), "after update {}: {:?}", seen.sequence, again.last());
        whole += 1;
    }
    whole
}

/// Counts cards dealt to each seat before the reveal, where a tie may be broken by a face-up card:
/// those shown to a viewer, and those hidden.
fn shown(updates: &[(pb::TableUpdate, Vec<u8>)]) -> BTreeMap<u32, (usize, usize)> {
    let mut shown: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (update, _) in updates {
        let Some(What::Action(action)) = &update.what else { continue };
        let before = matches!(
            action.phase(),
            pb::HandPhase::Deal | pb::HandPhase::Play | pb::HandPhase::Betting
        );
        if before && action.decision.is_none() && action.seat > 0 {
            let hidden = action.cards.iter().filter(|code| *code == "??").count();
            let count = shown.entry(action.seat).or_default();
            count.0 += action.cards.len() - hidden;
            count.1 += hidden;
        }
    }
    shown
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_goes_on_from_any_token_for_each_viewer() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::new(&harness, &room.url, 3).await;
    let table = party.table.to_string();
    let spectator = harness.token(Role::Auditor, "test");
    let tokens: Vec<String> =
        party.guests.iter().map(|guest| guest.token.clone()).chain([spectator]).collect();
    let mut viewers = Vec::new();
    for token in &tokens {
        viewers.push(UnbrokenStream::new(&room.url, &table, token, &[]).await);
    }
    let first = party.view_of(0).await.hand_no;
    party.play_until(|view| view.hand_no > first + 1).await;
    // In the middle of a hand a seat changes, between the hand's own updates.
    for out in [true, false] {
        party.guests[0].client.sit_out(party.table, out).await.unwrap();
    }
    // The dealer's commitment to the next hand is the last spontaneous update.
    let round = |view: &pb::TableView| view.hand.as_ref().unwrap().round > 1;
    let quiet = |view: &pb::TableView| view.next_hand.is_some();
    let (_, view) = party.play_until(|view| round(view) && quiet(view)).await;
    let last = view.sequence;

    for (viewer, unbroken) in viewers.iter().enumerate() {
        let whole = check_resumes(By::WatchTable, &room.url, &table, unbroken, last).await;
        assert!(whole > 20, "only {whole} tokens went on without a snapshot");
        for (seat, (open, hidden)) in shown(&unbroken.updates(last).await) {
            let own = usize::try_from(seat).unwrap() == viewer + 1;
            assert_eq!((open > 0, hidden > 0), (own, !own), "viewer {viewer}, seat {seat}");
        }
    }
    // A player may go on in a stream of the other method, from the same tokens.
    let whole = check_resumes(By::Play, &room.url, &table, &viewers[0], last).await;
    assert!(whole > 20, "only {whole} tokens went on without a snapshot");
    // Updates of two viewers differ only in hidden cards, never in number or time.
    let mut tails = Vec::new();
    for unbroken in &viewers {
        let updates = unbroken.updates(last).await.into_iter().rev().take(100);
        tails.push(updates.map(|(it, _)| (it.sequence, it.record_time)).collect::<Vec<_>>());
    }
    assert!(tails.windows(2).all(|two| two[0] == two[1]), "{tails:?}");

    room.running.kill();
    room = harness.up(&["--no-bots"]).await;
    party.reconnect(&room.url);
    let mut resumed = Vec::new();
    for unbroken in &viewers {
        assert!(
            check_resumes(By::WatchTable, &room.url, &table, unbroken, last).await > 5,
            "the hand in play is known"
        );
        let (_, token) = unbroken.updates(last).await.pop().unwrap();
        resumed.push(UnbrokenStream::new(&room.url, &table, &unbroken.token, &token).await);
        unbroken.reading.abort();
    }
    let hand = view.hand_no;
    let (_, view) = party.play_until(|view| view.hand_no > hand && quiet(view)).await;
    for unbroken in &resumed {
        let updates = unbroken.updates(view.sequence).await;
        assert_eq!(updates[0].0.sequence, last + 1, "it goes on where it was");
        let whole = check_resumes(By::WatchTable, &room.url, &table, unbroken, view.sequence).await;
        assert!(whole > 5);
    }
    room.running.stop(Signal::INT).await;
}

//! Seats contribute entropy in every game: each commitment is in the transcript, the table's
//! messages pass the checks against its published keys, and a restarted client can reveal what it
//! committed to.

use proto::common::v1::EntropyStatus;
use std::collections::BTreeMap;
use std::time::Duration;

use bots::{BotEnd, BotOptions, Thinking, run_bot, strategy};
use client::{Client, PlayMessage, Secret, TrustedKeys, WatchMessage};
use primitives::{Credits, TableId};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rustix::process::Signal;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::harness::{LONG_TIMEOUT, Room, RoomHarness};
use crate::people::{Guest, Party, operator, plain, slow_table, turn_of, until_hand};

/// Hands of each game.
const HANDS: u64 = 4;

/// Returns the keys that the room publishes.
fn trust(harness: &RoomHarness) -> TrustedKeys {
    let keys = std::fs::read_to_string(harness.data().join("keys.txt")).unwrap();
    TrustedKeys::parse(&keys).unwrap()
}

/// Observations of a viewer about the hands' chance.
#[derive(Default)]
struct Observations {
    /// Statuses of the seats' entropy, by hand.
    rows: BTreeMap<u64, Vec<EntropyStatus>>,
    seeds: usize,
}

/// Follows a table until `hands` seeds were published, and checks everything.
async fn observe(client: Client, table: TableId, hands: u64) -> Observations {
    let (mut watch, mut chance) = (client.watch(table), client.chance(table, None));
    let mut saw = Observations::default();
    while u64::try_from(saw.seeds).unwrap() < hands {
        let seen = watch.next().await.unwrap().expect("the table stays open");
        chance.apply(&seen).unwrap();
        let WatchMessage::Update(update) = seen else { continue };
        match update.what {
            Some(What::HandStarted(started)) => {
                let rows = started.rows.iter().map(|row| row.status()).collect();
                saw.rows.insert(started.hand_no, rows);
            }
            Some(What::Seed(_)) => saw.seeds += 1,
            _ => {}
        }
    }
    saw
}

async fn bots(
    harness: &RoomHarness,
    room: &Room,
    config: pb::TableConfig,
) -> (TableId, JoinSet<BotEnd>) {
    let table = operator(harness, &room.url).create_table(config).await.unwrap();
    let mut bots = JoinSet::new();
    for number in 0..3 {
        let guest = Guest::new(harness, &room.url).await;
        let client = guest.client.with_trusted_keys(trust(harness));
        bots.spawn(async move {
            let bot = BotOptions {
                seat: 0,
                buy_in: Credits::ZERO,
                thinking: Thinking::Fixed(Duration::ZERO),
            };
            let steady = strategy::by_name("steady", number).unwrap();
            // A table that breaks the rules of chance would end the bot with an error.
            let done = run_bot(&client, table, bot, steady, CancellationToken::new()).await;
            done.unwrap().end
        });
    }
    (table, bots)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_bot_takes_part_in_every_hand_of_every_game() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let onlooker = operator(&harness, &room.url).with_trusted_keys(trust(&harness));
    for variant in rules::ALL {
        let config = pb::TableConfig { variant: variant.id.to_owned(), ..slow_table(variant.id) };
        let (table, mut bots) = bots(&harness, &room, config).await;
        let saw = observe(onlooker.clone(), table, HANDS);
        let saw = tokio::time::timeout(LONG_TIMEOUT, saw).await.expect("hands are played");
        for (hand, rows) in &saw.rows {
            let revealed = rows.iter().all(|row| *row == EntropyStatus::Revealed);
            assert!(revealed && rows.len() >= 2, "{} hand {hand}: {rows:?}", variant.id);
        }
        assert!(saw.rows.len() >= 3, "{}: {} hands", variant.id, saw.rows.len());
        operator(&harness, &room.url).close_table(table).await.unwrap();
        while let Some(end) = bots.join_next().await {
            assert_eq!(end.unwrap(), BotEnd::TableClosed, "{}", variant.id);
        }
    }
    room.running.stop(Signal::INT).await;
}

/// Commits to the next hand and disconnects before the reveal; another client with the same secret
/// reveals in its place.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_starts_anew_reveals_what_it_had_committed_to() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let party = Party::new(&harness, &room.url, 2).await;
    let guest = &party.guests[0];
    let secret = Secret::from_bytes([0x33; 32]);
    let client = guest.client.with_secret(secret).with_trusted_keys(trust(&harness));

    // The first hand starts without it: nobody waits longer than the table's configuration says.
    until_hand(&harness, &room.url, party.table, 1).await;
    let mut before = client.play(party.table).contributing_entropy(guest.id);
    let committed = async {
        loop {
            let message = before.next().await.unwrap().expect("the table stays open");
            if let PlayMessage::Entropy(part) = message
                && part.outcome.unwrap().is_some()
            {
                return part.hand_no;
            }
        }
    };
    let committed = tokio::time::timeout(LONG_TIMEOUT, committed).await.expect("it commits ahead");
    drop(before);

    let mut after = client.play(party.table).contributing_entropy(guest.id);
    let (revealed, dealt) = (after_fold(&mut after, &party, committed)).await;
    assert!(revealed, "it owed a reveal and knew what");
    assert_eq!(dealt.first(), Some(&EntropyStatus::Revealed), "{dealt:?}");
    assert_eq!(dealt.get(1), Some(&EntropyStatus::Absent), "{dealt:?}");
    room.running.stop(Signal::INT).await;
}

/// Folds the hand in play, and follows until the next is dealt; returns whether there was a reveal,
/// and the statuses of the seats' entropy.
async fn after_fold(
    play: &mut client::Play,
    party: &Party,
    hand: u64,
) -> (bool, Vec<EntropyStatus>) {
    let fold = async {
        loop {
            let (guest, view) = party.turn().await;
            if view.hand_no >= hand {
                return;
            }
            let turn = turn_of(&view).unwrap().turn;
            let fold = plain(proto::common::v1::MoveKind::Fold);
            let legal = turn_of(&view).unwrap().legal.iter().any(|it| it.kind() == fold.kind());
            let default = turn_of(&view).unwrap().default_move.clone();
            let decision = if legal { fold } else { default.unwrap() };
            let client = &party.guests[guest].client;
            // Another player may have been faster.
            let _ = client.act(party.table, view.hand_no, turn, decision).await;
        }
    };
    let dealt = async {
        let mut revealed = false;
        loop {
            match play.next().await.unwrap().expect("the table stays open") {
                PlayMessage::Entropy(part) => revealed |= part.outcome.unwrap().is_none(),
                PlayMessage::Watch(WatchMessage::Update(update)) => {
                    if let Some(What::HandStarted(started)) = update.what
                        && started.hand_no == hand
                    {
                        let rows = started.rows.iter().map(|row| row.status()).collect();
                        return (revealed, rows);
                    }
                }
                PlayMessage::Watch(_) | PlayMessage::Decision(_) | PlayMessage::Notice(_) => {}
            }
        }
    };
    let both = async {
        let (_, dealt) = tokio::join!(fold, dealt);
        dealt
    };
    tokio::time::timeout(LONG_TIMEOUT, both).await.expect("the next hand is dealt")
}

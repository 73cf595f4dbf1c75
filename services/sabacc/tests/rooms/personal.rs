//! Personal data: a chosen name, and the texts of a dispute. Nothing of either remains after an
//! erasure, while every hand and every credit stays proved.

use std::path::Path;
use std::time::Duration;

use chassis::auth::Role;
use client::{Client, Error, WatchMessage};
use fairness::evidence::{Entry, MAX_COPY_BYTES};
use primitives::{Credits, DisputeId, PlayerId, UnixMicros};
use prost::Message as _;
use proto::audit::v1::{DisputeState, HandBundle};
use proto::common::v1::{DisputeVerdict, ErrorReason};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rustix::process::Signal;
use system::ids::IdMaker;

use crate::harness::{LONG_TIMEOUT, Room, RoomHarness, program};
use crate::people::{Guest, Party, operator};
use crate::records;

const NAME: &str = "Quagmire Vellum";
const WORDS: &str = "the zirconium sylop was mine";
const REASONS: &str = "a perspicuous shift took it";
const NOTE: &str = "a crepuscular closing had no number of mine";

fn reason<T: std::fmt::Debug>(answer: Result<T, Error>) -> Option<ErrorReason> {
    match answer {
        Err(Error::Refused(refusal)) => refusal.reason,
        other => panic!("{other:?} is no refusal"),
    }
}

fn evidence() -> Vec<u8> {
    let note = Entry::note(UnixMicros(1), NOTE);
    fairness::evidence::write(&[note]).into_bytes()
}

/// Evidence as long as a copy may be.
fn longest_evidence() -> Vec<u8> {
    let of = |count| fairness::evidence::write(&vec![Entry::note(UnixMicros(1), NOTE); count]);
    let (none, one) = (of(0).len(), of(1).len());
    let longest = of((MAX_COPY_BYTES - none) / (one - none)).into_bytes();
    assert!(longest.len() > MAX_COPY_BYTES - one, "{} bytes", longest.len());
    longest
}

fn auditor(harness: &RoomHarness, url: &str) -> Client {
    Client::connect(url, harness.token(Role::Auditor, "auditor")).unwrap()
}

/// Returns the name shown at seat 1.
fn shown(view: &pb::TableView) -> String {
    view.seats.iter().find(|seat| seat.seat == 1).map(|seat| seat.name.clone()).unwrap()
}

/// Returns the name of seat 1 in an update.
fn renamed(update: &pb::TableUpdate) -> Option<String> {
    let Some(What::Seat(change)) = &update.what else { return None };
    change.seat.as_ref().filter(|seat| seat.seat == 1).map(|seat| seat.name.clone())
}

/// Follows the party's table from a token until an update shows seat 1 under a name.
async fn until_name_shown(party: &Party, token: Vec<u8>, name: &str) {
    let mut watch = party.guests[1].client.watch_from(party.table, token);
    let renaming = async {
        while let Some(seen) = watch.next().await.unwrap() {
            match &seen {
                WatchMessage::Update(update) if renamed(update).as_deref() == Some(name) => return,
                WatchMessage::Update(_) | WatchMessage::CaughtUp => {}
                WatchMessage::Snapshot(_) => panic!("what was missed is told, not all of it"),
            }
        }
        panic!("the table is closed");
    };
    tokio::time::timeout(LONG_TIMEOUT, renaming).await.expect("the name is told");
}

/// Plays the first hand to its end.
async fn play_a_hand(party: &mut Party, room: &Room) {
    party.play_until(|view| view.hand_no > 1).await;
    let over = async {
        while records::finished(&room.database).await.is_empty() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, over).await.expect("the first hand's seed is opened");
}

/// Leaves the table; the others play on until the guest is paid out.
async fn leave(party: &Party, guest: &Guest) {
    guest.client.stand_up(party.table).await.unwrap();
    loop {
        let (one, view) = party.turn().await;
        if view.seats.iter().all(|seat| seat.seat != 1) {
            return;
        }
        // A leaving guest's decisions are their defaults, which the clock may have taken first.
        let act = party.act_request(one, &view, IdMaker::system().request_id());
        let _ = party.act(one, act).await;
    }
}

/// Returns the resume token of a viewer who has seen everything so far.
async fn resume_token(party: &Party) -> Vec<u8> {
    let mut watch = party.guests[1].client.watch(party.table);
    while watch.next().await.unwrap() != Some(WatchMessage::CaughtUp) {}
    watch.resume_token().to_vec()
}

/// Returns every name of seat 1 in updates after a token.
async fn names_since(party: &Party, token: Vec<u8>) -> Vec<String> {
    let mut watch = party.guests[1].client.watch_from(party.table, token);
    let mut names = Vec::new();
    loop {
        match watch.next().await.unwrap().expect("the table is open") {
            WatchMessage::Update(update) => names.extend(renamed(&update)),
            WatchMessage::CaughtUp => return names,
            WatchMessage::Snapshot(_) => {}
        }
    }
}

/// Checks that nobody is shown anything of a player except the erasure.
async fn check_erased(guest: &Guest, dispute: DisputeId, auditor: &Client) {
    for client in [auditor, &guest.client] {
        let shown = client.get_player(Some(guest.id)).await.unwrap();
        assert_eq!((shown.name.as_str(), shown.erased), ("erased player", true));
        let stored = client.get_dispute(dispute).await.unwrap();
        assert_eq!((stored.text.as_str(), stored.answer.as_str(), stored.erased), ("", "", true));
        assert_eq!(stored.verdict(), DisputeVerdict::Upheld, "what was found stays");
    }
}

/// Searches every file of a folder for texts, and adds the files that contain them.
fn search(folder: &Path, sought: &[&str], found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, sought, found);
        } else if let Ok(bytes) = std::fs::read(&path) {
            for text in sought {
                if bytes.windows(text.len()).any(|part| part == text.as_bytes()) {
                    found.push(format!("{text} in {}", path.display()));
                }
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_is_shown_as_it_changes_and_after_a_restart() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::new(&harness, &room.url, 2).await;
    let lando = party.guests[0].client.clone();
    party.turn().await;
    let token = resume_token(&party).await;
    assert_eq!(lando.set_name("  Lando   C. ").await.unwrap(), "Lando C.");
    until_name_shown(&party, token, "Lando C.").await;
    // Updates repeated from this token show the current name.
    let token = resume_token(&party).await;
    lando.set_name(NAME).await.unwrap();
    until_name_shown(&party, token, NAME).await;
    assert_eq!(reason(lando.set_name("tab\there").await), Some(ErrorReason::BadField));
    let named = party.guests[1].client.get_player(Some(party.guests[0].id)).await.unwrap();
    assert_eq!((named.name.as_str(), named.erased), (NAME, false));
    let own = party.guests[1].client.get_player(None).await.unwrap();
    assert_eq!(own.player_id.parse::<PlayerId>().unwrap(), party.guests[1].id);
    let before = party.view_of(1).await;

    room.running.kill();
    let mut room = harness.up(&["--no-bots"]).await;
    party.reconnect(&room.url);
    let after = party.view_of(1).await;
    assert_eq!((shown(&after).as_str(), after.sequence), (NAME, before.sequence));
    let token = resume_token(&party).await;
    party.guests[0].client.set_name("").await.unwrap();
    until_name_shown(&party, token, "").await;
    room.running.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_is_seen_with_its_hand_and_answered() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::new(&harness, &room.url, 2).await;
    play_a_hand(&mut party, &room).await;
    let guest = party.guests[0].clone();
    let stranger = Guest::new(&harness, &room.url).await;
    let theirs = stranger.client.open_dispute(party.table, 1, WORDS, b"").await;
    assert_eq!(reason(theirs), Some(ErrorReason::NotYourHand));
    let never = guest.client.open_dispute(party.table, 999, WORDS, b"").await;
    assert_eq!(reason(never), Some(ErrorReason::HandUnknown));
    let evidence = longest_evidence();
    let huge = [&evidence[..], &self::evidence()].concat();
    let none = guest.client.open_dispute(party.table, 1, WORDS, &huge).await;
    assert_eq!(reason(none), Some(ErrorReason::BadField));
    let opened = guest.client.open_dispute(party.table, 1, WORDS, &evidence).await.unwrap();
    let id = opened.dispute_id.parse::<DisputeId>().unwrap();
    // The bundle is the room's own: named on record, given with the answer, and of this hand.
    let bundle = HandBundle::decode(&opened.bundle[..]).unwrap();
    assert_eq!((opened.number, &bundle.sha256), (1, &opened.bundle_sha256));
    let bundle = audit::bundle::Bundle::parse(&opened.bundle).unwrap();
    assert_eq!(bundle.hand_id, fairness::hand_id(party.table, 1));
    let again = guest.client.open_dispute(party.table, 1, WORDS, b"").await;
    assert_eq!(reason(again), Some(ErrorReason::AlreadyExists));
    assert_eq!(reason(stranger.client.get_dispute(id).await), Some(ErrorReason::DisputeUnknown));
    let public = stranger.client.list_disputes(DisputeState::Unspecified, false).await.unwrap();
    assert_eq!((public.len(), public[0].number, public[0].hand_no), (1, 1, 1));
    assert!(public[0].dispute_id.is_empty() && public[0].player_id.is_empty(), "{public:?}");
    let own = stranger.client.list_disputes(DisputeState::Unspecified, true).await.unwrap();
    assert!(own.is_empty(), "{own:?}");

    let named = id.to_string();
    let (status, said) = harness.run(harness.sabacc(&["audit", "disputes"])).await;
    assert!(status.success() && said.contains(&named) && !said.contains(WORDS), "{said}");
    let mut elsewhere = program("sabacc");
    elsewhere.args(["audit", "disputes", "--server", &room.url, "--token", &stranger.token]);
    let (status, said) = harness.run(elsewhere).await;
    assert!(status.success() && said.contains("    1  ") && said.contains(" hand 1"), "{said}");
    assert!(!said.contains(&named) && !said.contains(&guest.id.to_string()), "{said}");
    let show = ["audit", "disputes", "show", &named, "--save-evidence", "copy"];
    let (status, said) = harness.run(harness.sabacc(&show)).await;
    assert!(status.success(), "{said}");
    assert!(said.contains(WORDS) && said.contains("every check passed"), "{said}");
    let copy = std::fs::read(harness.path().join("copy")).unwrap();
    assert!(copy == evidence, "{} bytes of {}", copy.len(), evidence.len());
    let answer =
        ["audit", "disputes", "answer", &named, "--verdict", "rejected", "--text", REASONS];
    let (status, said) = harness.run(harness.sabacc(&answer)).await;
    assert!(status.success(), "{said}");
    let (status, said) = harness.run(harness.sabacc(&answer)).await;
    assert!(!status.success() && said.contains("is answered"), "{said}");

    // The texts survive a kill.
    room.running.kill();
    let mut room = harness.up(&["--no-bots"]).await;
    party.reconnect(&room.url);
    let stored = party.guests[0].client.get_dispute(id).await.unwrap();
    assert_eq!((stored.text.as_str(), stored.answer.as_str()), (WORDS, REASONS));
    assert_eq!((&stored.evidence, &stored.bundle_sha256), (&evidence, &opened.bundle_sha256));
    assert_eq!(
        (stored.verdict(), stored.state()),
        (DisputeVerdict::Rejected, DisputeState::Answered)
    );
    let open = auditor(&harness, &room.url).list_disputes(DisputeState::Open, false).await.unwrap();
    assert!(open.is_empty(), "{open:?}");
    room.running.stop(Signal::INT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_an_erased_player_but_his_hands() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::new(&harness, &room.url, 3).await;
    let guest = party.guests[0].clone();
    guest.client.set_name(NAME).await.unwrap();
    play_a_hand(&mut party, &room).await;
    let opened = guest.client.open_dispute(party.table, 1, WORDS, &evidence()).await.unwrap();
    let id = opened.dispute_id.parse::<DisputeId>().unwrap();
    let operator = operator(&harness, &room.url);
    let seated = operator.erase_player(guest.id, "by letter").await;
    assert_eq!(reason(seated), Some(ErrorReason::PlayerSeated));
    let token = resume_token(&party).await;
    leave(&party, &guest).await;
    assert_eq!(names_since(&party, token.clone()).await.first().map(String::as_str), Some(NAME));
    let open = operator.erase_player(guest.id, "by letter").await;
    assert_eq!(reason(open), Some(ErrorReason::DisputesOpen));
    let auditor = auditor(&harness, &room.url);
    auditor.answer_dispute(id, DisputeVerdict::Upheld, REASONS).await.unwrap();

    let hands = records::finished(&room.database).await;
    records::audit(&harness, &hands).await;
    let before = records::events(&room.database, "table").await;
    let credits = guest.credits().await;
    operator.erase_player(guest.id, "by letter").await.unwrap();
    let after = records::events(&room.database, "table").await;
    assert_eq!(after[..before.len()], before[..], "no record has changed");
    assert_eq!(guest.credits().await, credits);
    check_erased(&guest, id, &auditor).await;
    let names = names_since(&party, token).await;
    assert!(!names.is_empty() && names.iter().all(|name| name == "erased player"), "{names:?}");
    let back = guest.client.sit_down(party.table, 1, Credits::of(1000)).await;
    assert_eq!(reason(back), Some(ErrorReason::PlayerErased));
    assert_eq!(reason(guest.client.set_name("me again").await), Some(ErrorReason::PlayerErased));
    records::audit(&harness, &hands).await;

    let said = room.running.output();
    room.running.stop(Signal::INT).await;
    let mut found = Vec::new();
    search(&harness.data(), &[NAME, WORDS, REASONS, NOTE], &mut found);
    assert!(found.is_empty(), "{found:?}");
    search(&harness.data(), &["by letter"], &mut found);
    assert!(!found.is_empty(), "what is written in the clear is found");
    assert!([NAME, WORDS, REASONS, NOTE].iter().all(|text| !said.contains(text)), "{said}");

    let mut room = harness.up(&["--no-bots"]).await;
    let (guest, auditor) = (guest.connect_at(&room.url), self::auditor(&harness, &room.url));
    check_erased(&guest, id, &auditor).await;
    records::audit(&harness, &hands).await;
    room.running.stop(Signal::INT).await;
}

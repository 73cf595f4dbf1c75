use proto::common::v1::{Commitment, DisputeVerdict};
use std::collections::BTreeMap;

use eventlog::{Authenticator, Event, Limits, MemStore, Options, RequestKey, Store};
use keyring::{Keyring, SecretStore};
use primitives::{DisputeId, RequestId, TableId};
use proto::audit::v1 as audit;
use proto::event::v1::{HandOpened, HandStarted, RosterSeat, SeatRenamed, SeatTaken, TableCreated};
use system::clock::{Clock as _, SystemClock};
use system::entropy::SystemEntropy;

use super::*;
use crate::recovery::{FoldedLog, fold};

mod evidence;
mod marks;

const ANN: PlayerId = PlayerId([1; 16]);
const BOB: PlayerId = PlayerId([2; 16]);
const TABLE: TableId = TableId([7; 16]);
const NAME: &str = "Lando Calrissian";
const WORDS: &str = "my sylop was taken from me";
const REASONS: &str = "it was not: see move 12";

/// A log in memory, with its keys and directory.
struct Fixture {
    store: Arc<MemStore>,
    keys: SecretStore,
    key: [u8; 32],
    previous: Vec<[u8; 32]>,
}

impl Fixture {
    fn new() -> Fixture {
        Fixture {
            store: MemStore::new(),
            keys: SecretStore::memory(),
            key: [5; 32],
            previous: Vec::new(),
        }
    }

    async fn log(&self) -> Log {
        let store: Arc<dyn Store> = Arc::<MemStore>::clone(&self.store);
        let clock = SystemClock::new();
        let options = Options {
            name: "table/0".into(),
            owner: "test".into(),
            address: "nowhere".into(),
            lease: Duration::from_secs(5),
            take_over: true,
            clock: Arc::new(move || clock.now()),
            authenticator: Authenticator::new(&[7; 32], "", Arc::new(|| [7; 8])),
            limits: Limits::default(),
        };
        Log::open(store, options).await.unwrap()
    }

    /// Recovers people from the log.
    async fn people(&self) -> Result<Arc<People>, PeopleError> {
        let log = self.log().await;
        let folded = fold(&log, None).await.unwrap();
        let previous: Vec<_> = self.previous.iter().map(|key| (*key).into()).collect();
        let player_keys = PlayerKeys {
            keys: self.keys.clone(),
            keyring: Keyring::new(&self.key.into(), &previous),
            entropy: Arc::new(SystemEntropy),
        };
        let ids = IdMaker::system();
        let people = People::open(log, ids, folded.people, player_keys, Directory::default());
        people.await.map(Arc::new)
    }

    /// Records a hand that both players were dealt into.
    async fn hand(&self, hand_no: u64) {
        let seat = |player: PlayerId, seat: u32| RosterSeat {
            seat,
            player_id: player.0.to_vec().into(),
            stack: 100,
            house: false,
        };
        let opened = HandOpened {
            hand_no,
            roster: vec![seat(ANN, 1), seat(BOB, 2)],
            commitment: Some(Commitment::default()),
            ..HandOpened::default()
        };
        let hand = fairness::hand_id(TABLE, hand_no);
        let started = HandStarted { hand_no, hand_id: hand.0.to_vec().into() };
        let log = self.log().await;
        if log.size() == 0 {
            let rules = rules::RuleSet::defaults(rules::variant("dice").unwrap());
            let created = TableCreated {
                rule_set: rules.canonical(),
                settings: rules::TableSettings::default().canonical(),
                seats: 6,
                ..TableCreated::default()
            };
            write(&log, TABLE.into(), &TableRecord::from(created)).await;
        }
        write(&log, TABLE.into(), &TableRecord::from(started)).await;
        write(&log, hand.into(), &TableRecord::from(opened)).await;
    }
}

async fn write(log: &Log, stream: StreamId, event: &TableRecord) {
    let entry = Entry {
        events: vec![event.on_stream(stream)],
        request: None,
        actor: "test".into(),
        trace: [0; 16],
    };
    log.append(entry).await.unwrap();
}

fn by(request: u8, content: u8) -> Author {
    Author {
        request: RequestId([request; 16]),
        digest: [content; 32],
        actor: "test".into(),
        trace: [0; 16],
    }
}

fn objection(hand_no: u64) -> audit::OpenDisputeRequest {
    audit::OpenDisputeRequest {
        request_id: String::new(),
        table_id: TABLE.to_string(),
        hand_no,
        text: WORDS.to_owned(),
        evidence: Vec::new(),
    }
}

fn answer(id: DisputeId) -> audit::AnswerDisputeRequest {
    audit::AnswerDisputeRequest {
        request_id: String::new(),
        dispute_id: id.to_string(),
        verdict: DisputeVerdict::Rejected.into(),
        text: REASONS.to_owned(),
    }
}

async fn all(log: &Log) -> Vec<Event> {
    log.read(Position(0), 1000).await.unwrap()
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

async fn name(people: &People, player: PlayerId) -> String {
    people.player(player).await.unwrap().name
}

#[tokio::test]
async fn a_name_is_shown_again_after_a_restart_and_not_in_the_log() {
    let place = Fixture::new();
    let people = place.people().await.unwrap();
    let (answer, changed) = people.set_name(ANN, "  Lando  Calrissian", by(1, 1)).await.unwrap();
    assert_eq!((answer.name.as_str(), changed), (NAME, true));
    assert_eq!((name(&people, ANN).await.as_str(), name(&people, BOB).await.as_str()), (NAME, ""));
    // The same request again, and other content under its id.
    assert!(!people.set_name(ANN, NAME, by(1, 1)).await.unwrap().1);
    let other = people.set_name(ANN, "Han", by(1, 2)).await.unwrap_err();
    assert_eq!(other.reason(), ErrorReason::RequestIdReused);
    assert!(!people.set_name(ANN, NAME, by(2, 1)).await.unwrap().1, "it is his");
    let again = place.people().await.unwrap();
    assert_eq!(name(&again, ANN).await, NAME);
    let events = all(&again.log).await;
    let [event] = &events[..] else { panic!("{events:?}") };
    let named = RecordPlace { position: Position(0), at: event.recorded_at };
    assert_eq!(again.presented_at(ANN), Some(named));
    assert!(event.sealed && !holds(&event.payload, NAME));
    assert_eq!(again.set_name(ANN, "", by(3, 3)).await.unwrap().0.name, "");
    assert_eq!(name(&place.people().await.unwrap(), ANN).await, "");
}

#[tokio::test]
async fn nothing_is_kept_of_who_is_refused_or_changes_nothing_and_nobody_waits_for_them() {
    const CARL: PlayerId = PlayerId([3; 16]);
    let place = Fixture::new();
    place.hand(1).await;
    let people = place.people().await.unwrap();
    people.set_name(ANN, NAME, by(1, 1)).await.unwrap();
    let busy = people.write_lock.lock().await;
    let soon = Duration::from_secs(5);
    let idle = async {
        assert_eq!(people.set_name(BOB, "", by(2, 2)).await.unwrap().0.name, "");
        assert_eq!(people.set_name(ANN, NAME, by(3, 3)).await.unwrap().0.name, NAME);
        let nowhere = people.open_dispute(BOB, &objection(2), None, by(4, 4)).await.unwrap_err();
        assert_eq!(nowhere.reason(), ErrorReason::HandUnknown);
        let absent = people.open_dispute(CARL, &objection(1), None, by(5, 5)).await.unwrap_err();
        assert_eq!(absent.reason(), ErrorReason::NotYourHand);
    };
    tokio::time::timeout(soon, idle).await.expect("nobody waits for another's turn");
    drop(busy);
    // The id of another request, from a player who has no key yet.
    let used = people.set_name(BOB, "Bossk", by(1, 1)).await.unwrap_err();
    assert_eq!(used.reason(), ErrorReason::RequestIdReused);
    assert_eq!(place.keys.get_many(&[BOB.0, CARL.0]).await.unwrap(), BTreeMap::new());
    people.open_dispute(BOB, &objection(1), None, by(6, 6)).await.unwrap();
    assert_eq!(place.keys.get_many(&[BOB.0]).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_repeat_is_known_by_nobody_without_the_key() {
    let place = Fixture::new();
    let people = place.people().await.unwrap();
    people.set_name(ANN, NAME, by(1, 9)).await.unwrap();
    let key = RequestKey::new("test", RequestId([1; 16]));
    let stored = people.log.reader().request(key).await.unwrap().unwrap();
    assert!(!people.log.authenticator().answers(&stored, &[9; 32]));
    assert!(stored.answer.is_empty());
}

#[tokio::test]
async fn an_erased_player_is_gone_and_the_log_is_not() {
    let place = Fixture::new();
    place.hand(1).await;
    let people = place.people().await.unwrap();
    people.set_name(ANN, NAME, by(1, 1)).await.unwrap();
    people.set_name(BOB, "Bossk", by(2, 2)).await.unwrap();
    let id = people.open_dispute(ANN, &objection(1), None, by(3, 3)).await.unwrap().dispute_id;
    let id = id.parse::<DisputeId>().unwrap();
    let early = people.erase(ANN, "by letter", by(4, 4)).await.unwrap_err();
    assert_eq!(early.reason(), ErrorReason::DisputesOpen);
    people.answer_dispute(&answer(id), by(5, 5)).await.unwrap();
    let before = all(&people.log).await;
    people.erase(ANN, "by letter", by(4, 4)).await.unwrap();
    people.erase(ANN, "by letter", by(4, 4)).await.unwrap();
    people.erase(ANN, "once more", by(6, 6)).await.unwrap();
    assert_eq!(place.keys.get_many(&[ANN.0]).await.unwrap(), BTreeMap::new());
    assert_eq!(place.keys.get_many(&[BOB.0]).await.unwrap().len(), 1);
    for people in [Arc::clone(&people), place.people().await.unwrap()] {
        let shown = people.player(ANN).await.unwrap();
        assert_eq!((shown.name.as_str(), shown.erased), ("erased player", true));
        assert_eq!(name(&people, BOB).await, "Bossk");
        let dispute = people.get_dispute(id, None).await.unwrap();
        assert_eq!(
            (dispute.text.as_str(), dispute.answer.as_str(), dispute.erased),
            ("", "", true)
        );
        assert_eq!(dispute.verdict(), DisputeVerdict::Rejected, "what was found stays");
        let refused = people.set_name(ANN, "Ann", by(7, 7)).await.unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::PlayerErased);
        let refused = people.open_dispute(ANN, &objection(1), None, by(8, 8)).await.unwrap_err();
        assert_eq!(refused.reason(), ErrorReason::PlayerErased);
        assert_eq!(people.admit(ANN).await.unwrap_err().reason(), ErrorReason::PlayerErased);
    }
    let after = all(&place.log().await).await;
    assert_eq!(after[..before.len()], before[..], "nothing that was recorded has changed");
    assert_eq!(after.len(), before.len() + 1);
}

#[tokio::test]
async fn a_key_that_outlived_a_crash_is_destroyed_at_the_next_start() {
    let place = Fixture::new();
    let people = place.people().await.unwrap();
    people.set_name(ANN, NAME, by(1, 1)).await.unwrap();
    people.set_name(BOB, "Bossk", by(2, 2)).await.unwrap();
    // The event is recorded; then everything stops.
    let erased =
        TableRecord::from(PlayerErased { reason: "by letter".to_owned(), ..Default::default() });
    write(&people.log, ANN.into(), &erased).await;
    assert_eq!(place.keys.get_many(&[ANN.0]).await.unwrap().len(), 1);
    let people = place.people().await.unwrap();
    assert_eq!(place.keys.get_many(&[ANN.0, BOB.0]).await.unwrap().len(), 1);
    assert_eq!(name(&people, ANN).await, "erased player");
    assert_eq!(name(&people, BOB).await, "Bossk");
}

#[tokio::test]
async fn what_a_crash_kept_from_viewers_is_sent_after_it() {
    let place = Fixture::new();
    place.hand(1).await;
    let log = place.log().await;
    let taken = SeatTaken {
        seat: 3,
        player_id: ANN.0.to_vec().into(),
        transfer_id: vec![1; 16].into(),
        ..SeatTaken::default()
    };
    write(&log, TABLE.into(), &TableRecord::from(taken)).await;
    let outdated = async || {
        let log = place.log().await;
        let FoldedLog { tables, people, closed: _, games: _, hands: _, lobby: _ } =
            fold(&log, None).await.unwrap();
        let named = |player| Some(people.person(player)?.named.as_ref()?.1);
        let renamed = tables[0].renamed(named).into_iter();
        renamed.map(|(player, named)| (player, named.position)).collect::<Vec<_>>()
    };
    assert_eq!(outdated().await, []);
    place.people().await.unwrap().set_name(ANN, NAME, by(1, 1)).await.unwrap();
    let named = Position(place.log().await.size() - 1);
    assert_eq!(outdated().await, [(ANN, named)]);
    let renamed = TableRecord::from(SeatRenamed { seat: 3 });
    write(&place.log().await, TABLE.into(), &renamed).await;
    assert_eq!(outdated().await, []);
}

#[tokio::test]
async fn a_dispute_is_opened_seen_and_answered_once() {
    let place = Fixture::new();
    place.hand(1).await;
    let people = place.people().await.unwrap();
    let nowhere = people.open_dispute(ANN, &objection(2), None, by(1, 1)).await.unwrap_err();
    assert_eq!(nowhere.reason(), ErrorReason::HandUnknown);
    let opened = people.open_dispute(ANN, &objection(1), None, by(2, 2)).await.unwrap();
    assert_eq!(people.open_dispute(ANN, &objection(1), None, by(2, 2)).await.unwrap(), opened);
    let id = opened.dispute_id.parse::<DisputeId>().unwrap();
    people.open_dispute(BOB, &objection(1), None, by(3, 3)).await.unwrap();
    let list = |of: Option<PlayerId>, state| {
        let wanted = Wanted { state, own: of.is_some() };
        people.list_disputes(of, wanted, 0, 10).disputes
    };
    assert_eq!(list(None, audit::DisputeState::Unspecified).len(), 2);
    assert_eq!(list(Some(BOB), audit::DisputeState::Open).len(), 1);
    assert_eq!(list(None, audit::DisputeState::Answered), []);
    let dispute = people.get_dispute(id, Some(ANN)).await.unwrap();
    assert_eq!((dispute.text.as_str(), dispute.answer.as_str()), (WORDS, ""));
    assert_eq!((dispute.hand_no, dispute.state()), (1, audit::DisputeState::Open));
    assert!(people.get_dispute(id, Some(BOB)).await.is_err());

    let unsaid = audit::AnswerDisputeRequest { verdict: 0, ..answer(id) };
    let refused = people.answer_dispute(&unsaid, by(4, 4)).await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::BadField);
    people.answer_dispute(&answer(id), by(5, 5)).await.unwrap();
    people.answer_dispute(&answer(id), by(5, 5)).await.unwrap();
    let refused = people.answer_dispute(&answer(id), by(6, 6)).await.unwrap_err();
    assert_eq!(refused.reason(), ErrorReason::DisputeAnswered);

    let people = place.people().await.unwrap();
    let dispute = people.get_dispute(id, Some(ANN)).await.unwrap();
    assert_eq!((dispute.text.as_str(), dispute.answer.as_str()), (WORDS, REASONS));
    assert_eq!(dispute.verdict(), DisputeVerdict::Rejected);
    assert!(dispute.answer_time.is_some() && !dispute.erased);
    for event in all(&people.log).await {
        assert!(!holds(&event.payload, WORDS) && !holds(&event.payload, REASONS));
    }
}

#[tokio::test]
async fn lists_come_in_pages() {
    let place = Fixture::new();
    for hand_no in 1..=5 {
        place.hand(hand_no).await;
    }
    let people = place.people().await.unwrap();
    for (hand_no, player) in [(1, BOB), (2, ANN), (3, BOB), (4, BOB), (5, BOB)] {
        let request = objection(hand_no.into());
        let opened =
            people.open_dispute(player, &request, None, by(hand_no, hand_no)).await.unwrap();
        let id = opened.dispute_id.parse::<DisputeId>().unwrap();
        if player == BOB && hand_no != 5 {
            people.answer_dispute(&answer(id), by(20 + hand_no, 20)).await.unwrap();
        }
    }
    let pages = |state| {
        let (mut pages, mut skip) = (Vec::new(), 0);
        loop {
            let wanted = Wanted { state, own: false };
            let page = people.list_disputes(None, wanted, skip, 2);
            pages.push(page.disputes.iter().map(|it| it.hand_no).collect::<Vec<_>>());
            match page.next_page_token.parse() {
                Ok(next) => skip = next,
                Err(_) => return pages,
            }
        }
    };
    assert_eq!(pages(audit::DisputeState::Open), [[2, 5]]);
    assert_eq!(pages(audit::DisputeState::Answered), [vec![1, 3], vec![4]]);
    assert_eq!(pages(audit::DisputeState::Unspecified), [vec![1, 2], vec![3, 4], vec![5]]);
}

#[tokio::test]
async fn a_lost_key_takes_a_name_with_it_and_nothing_else() {
    let place = Fixture::new();
    place.people().await.unwrap().set_name(ANN, NAME, by(1, 1)).await.unwrap();
    place.keys.delete(&[ANN.0]).await.unwrap();
    let people = place.people().await.unwrap();
    let shown = people.player(ANN).await.unwrap();
    assert_eq!((shown.name.as_str(), shown.erased), ("", false));
    people.admit(ANN).await.unwrap();
    people.set_name(ANN, "Ann", by(2, 2)).await.unwrap();
    assert_eq!(name(&place.people().await.unwrap(), ANN).await, "Ann");
}

#[tokio::test]
async fn another_people_key_is_reported_at_the_start() {
    let mut place = Fixture::new();
    let people = place.people().await.unwrap();
    people.set_name(ANN, NAME, by(1, 1)).await.unwrap();
    people.set_name(BOB, "Bossk", by(2, 2)).await.unwrap();
    let before = place.keys.get_many(&[ANN.0, BOB.0]).await.unwrap();
    place.key = [6; 32];
    let refused = place.people().await.err().unwrap();
    assert!(matches!(refused, PeopleError::WrongKey), "{refused}");
    // With the older key beside it every key is rewrapped, and the older one is not needed again.
    place.previous = vec![[4; 32], [5; 32]];
    let people = place.people().await.unwrap();
    assert_eq!(
        (name(&people, ANN).await.as_str(), name(&people, BOB).await.as_str()),
        (NAME, "Bossk")
    );
    let after = place.keys.get_many(&[ANN.0, BOB.0]).await.unwrap();
    assert!(before[&ANN.0] != after[&ANN.0] && before[&BOB.0] != after[&BOB.0]);
    place.previous = Vec::new();
    assert_eq!(name(&place.people().await.unwrap(), ANN).await, NAME);
    assert_eq!(place.keys.get_many(&[ANN.0, BOB.0]).await.unwrap(), after);
}

//! Verdicts on whole hands: classes, witnesses, keys with an end, and files that contradict each
//! other.

use crate::bundle::{Bundle, BundleError, Contradiction, Histories, TrustedKeys, Witnesses};
use crate::hand::{self, Check, HandVerdict, Report};
use crate::tests::bundles::hostile::check_work;
use crate::tests::fixture::AnyRecord::Table;
use crate::tests::fixture::{
    EntropyBehaviour, HandOptions, LogName, ORIGINS, TableFixture, log_key, trusted,
};
use merkle::Checkpoint;
use merkle::note::{KeyName, LogKey, Note, WitnessKey};
use primitives::UnixMicros;
use proto::event::v1 as event;
use rules::TableSettings;
use wire::TableRecord;

fn table() -> TableFixture {
    let mut table = TableFixture::seated(7, "dice", 3);
    assert!(table.play());
    table
}

fn report(bundle: &Bundle) -> Report {
    hand::audit(&bundle.records(&trusted()))
}

/// fairness/SPEC.md §15.3, §15.4.
#[test]
fn a_played_hand_is_proved_and_says_what_was_checked() {
    let bundle = table().bundle(1);
    let report = report(&bundle);
    assert_eq!(report.verdict, HandVerdict::Proved, "{report:#?}");
    let [happened, word, part] = &report.sentences;
    assert!(happened.starts_with("Hand 1 was played to its end: "), "{happened}");
    assert!(word.contains("Nobody but the room has seen this log"), "{word}");
    assert!(word.contains("the numbers of seats 1 and 3 are in it"), "{word}");
    assert!(word.contains("the house marks no seat as its own"), "{word}");
    assert!(part.starts_with("Only you can know"), "{part}");
}

/// fairness/SPEC.md §15.4.
#[test]
fn seats_of_the_house_are_marked() {
    let options = HandOptions { house_seats: [2, 3].into(), ..HandOptions::default() };
    let mut table = TableFixture::seated(7, "dice", 3).with_options(options);
    for entry in &mut table.script.entries {
        if let Table(TableRecord::SeatTaken(taken)) = &mut entry.recorded {
            taken.house = [2, 3].contains(&taken.seat);
        }
    }
    assert!(table.play());
    let report = report(&table.bundle(1));
    assert_eq!(report.verdict, HandVerdict::Proved, "{report:#?}");
    let words = "the house marks seats 2 and 3 as its own: a house that cheats marks none";
    assert!(report.sentences[1].contains(words), "{}", report.sentences[1]);
}

/// fairness/SPEC.md §15.3.
#[test]
fn without_keys_nothing_is_said() {
    let bundle = table().bundle(1);
    let report = hand::audit(&bundle.records(&TrustedKeys::none()));
    assert_eq!(report.verdict, HandVerdict::Refused);
    assert!(!report.sentences.concat().contains("proved"), "{:?}", report.sentences);
}

/// fairness/SPEC.md §15.3.
#[test]
fn a_burnt_hand_is_broken_off_and_names_its_breaker() {
    let entropy = [(1, EntropyBehaviour::Withholds)].into();
    let options = HandOptions { entropy, ..HandOptions::default() };
    let mut table = TableFixture::seated(8, "dice", 2).with_options(options);
    let _ = table.play();
    let report = report(&table.bundle(1));
    assert_eq!(report.verdict, HandVerdict::BrokenOff, "{report:#?}");
    let happened = &report.sentences[0];
    assert!(happened.contains("before the antes by seat 1, withholding entropy"), "{happened}");
}

/// fairness/SPEC.md §15.3.
#[test]
fn a_hand_without_anybodys_number_is_not_proved() {
    let entropy = [(1, EntropyBehaviour::Absent)].into();
    let options = HandOptions { entropy, ..HandOptions::default() };
    let settings = TableSettings { contributors_min: 0, ..TableSettings::default() };
    let mut table = TableFixture::seated_with(9, "dice", 2, settings).with_options(options);
    assert!(table.play());
    let report = report(&table.bundle(1));
    assert!(report.passed(), "{report:#?}");
    assert_eq!(report.verdict, HandVerdict::Failed);
    assert!(report.sentences[0].contains("the house alone made its chance"));
}

/// fairness/SPEC.md §3.12.
#[test]
fn every_verdict_on_a_room_for_developers_says_so_first() {
    const SEED: &str = "For developers alone: an option fixed the dealer's seeds, so whoever knows it \
        knew every card beforehand. ";
    const CLOCKS: &str = "Clocks of this table run 4 times as fast as its settings say. ";
    let entropy = |behaviour| [(1, behaviour)].into();
    let marks =
        [(1, 1, SEED.to_owned()), (0, 4, CLOCKS.to_owned()), (1, 4, format!("{SEED}{CLOCKS}"))];
    for (insecure_fixed_seed, time_scale, mark) in marks {
        let usual = TableSettings::default();
        let settings = TableSettings { insecure_fixed_seed, time_scale, ..usual };
        for behaviour in [EntropyBehaviour::Reveals, EntropyBehaviour::Withholds] {
            let options = HandOptions { entropy: entropy(behaviour), ..HandOptions::default() };
            let mut table = TableFixture::seated_with(9, "dice", 2, settings).with_options(options);
            let _ = table.play();
            let mut bundle = table.bundle(1);
            let honest = report(&bundle);
            assert!(honest.passed() && honest.sentences[0].starts_with(&mark), "{honest:#?}");
            // A failed one too: the mark stands in what the hand was opened with.
            bundle.dealer.proof.clear();
            let failed = report(&bundle);
            assert_eq!(failed.verdict, HandVerdict::Failed);
            assert!(failed.sentences[0].starts_with(&mark), "{failed:#?}");
            assert!(!failed.sentences[1].contains("developers"), "once is enough");
        }
    }
}

/// fairness/SPEC.md §15.3.
#[test]
fn a_seed_that_is_owed_is_not_finished_until_it_is_overdue() {
    let mut records = table().bundle(1).records(&trusted());
    let seed = event::EventType::SeedOpened as u16;
    let opened = event::EventType::HandRevealed as u16;
    let settled = event::EventType::HandSettled as u16;
    records.dealer.retain(|record| record.kind != seed);
    records.hand.retain(|record| record.kind != opened);
    let position = records.hand.iter().position(|record| record.kind == settled).unwrap();
    records.hand.truncate(position + 1);
    assert_eq!(hand::audit(&records).verdict, HandVerdict::NotFinished);
    let last = records.table.last_mut().unwrap();
    last.recorded_at = last.recorded_at.plus(std::time::Duration::from_secs(3700));
    let late = hand::audit(&records);
    assert_eq!(late.verdict, HandVerdict::Failed, "{late:#?}");
}

fn cosign(bundle: &mut Bundle, witness: &WitnessKey, time: u64) {
    for log in [&mut bundle.table, &mut bundle.dealer] {
        let mut note = Note::parse(log.checkpoint.as_bytes()).unwrap();
        let signature = witness.cosign(&Checkpoint::parse(note.text()).unwrap(), time);
        note.push(signature).unwrap();
        log.checkpoint = note.to_string();
    }
}

/// fairness/SPEC.md §15.4.
#[test]
fn witnesses_are_counted_and_demanded() {
    let witness =
        |name: &str, secret| WitnessKey::new(KeyName::try_new(name).unwrap(), &[secret; 32]);
    let (seen, blind) = (witness("w.example/1", 20), witness("w.example/2", 21));
    let keys = format!("{}\n{}\n", seen.public(), blind.public());
    let mut bundle = table().bundle(1);
    let verdict = |bundle: &Bundle, required| {
        let witnesses = Witnesses::parse(&keys, Some(required)).unwrap();
        hand::audit(&bundle.witnessed_records(&trusted(), &witnesses))
    };
    assert_eq!(verdict(&bundle, 1).verdict, HandVerdict::NotFinished);
    cosign(&mut bundle, &seen, 1_700_000_100);
    let one = verdict(&bundle, 1);
    assert_eq!(one.verdict, HandVerdict::Proved, "{one:#?}");
    assert!(one.sentences[1].contains("w.example/1"), "{:?}", one.sentences);
    assert!(!one.sentences[1].contains("w.example/2"), "{:?}", one.sentences);
    assert_eq!(verdict(&bundle, 2).verdict, HandVerdict::NotFinished);
    assert!(Witnesses::parse(&format!("{}\n", log_key(LogName::Table).public()), None).is_err());
    // A signature under a witness's name that is not its own counts for nothing.
    let other = witness("w.example/2", 22);
    cosign(&mut bundle, &other, 1_700_000_100);
    assert_eq!(verdict(&bundle, 2).verdict, HandVerdict::NotFinished);
}

/// A witness with another key since is one witness, by its name. Its time is the later one of the two
/// logs, of each the newest.
/// fairness/SPEC.md §15.4.
#[test]
fn a_witness_with_another_key_since_is_counted_by_its_name() {
    let witness = |secret| WitnessKey::new(KeyName::try_new("w.example").unwrap(), &[secret; 32]);
    let (old, new) = (witness(20), witness(21));
    let mut bundle = table().bundle(1);
    let mut sign = |log: usize, key: &WitnessKey, time| {
        let logs = [&mut bundle.table, &mut bundle.dealer];
        let checkpoint = &mut logs[log].checkpoint;
        let mut note = Note::parse(checkpoint.as_bytes()).unwrap();
        note.push(key.cosign(&Checkpoint::parse(note.text()).unwrap(), time)).unwrap();
        *checkpoint = note.to_string();
    };
    sign(0, &new, 1_700_000_300);
    sign(1, &old, 1_700_000_100);
    sign(1, &old, 1_700_000_200);
    let keys = format!("{} until 1000\n{}\n", old.public(), new.public());
    let witnesses = Witnesses::parse(&keys, None).unwrap();
    let report = hand::audit(&bundle.witnessed_records(&trusted(), &witnesses));
    assert_eq!(report.verdict, HandVerdict::Proved, "{report:#?}");
    let at = UnixMicros(1_700_000_300_000_000);
    let words = format!("1 of the trusted witnesses have seen this log: w.example at {at};");
    assert!(report.sentences[1].contains(&words), "{:?}", report.sentences);
}

/// fairness/SPEC.md §10.1, §17.
#[test]
fn a_key_counts_for_its_own_log_up_to_its_end() {
    let bundle = table().bundle(1);
    let keys = |ends: [&str; 3]| {
        let logs = [LogName::Table, LogName::Dealer, LogName::Wallet];
        let lines = logs.into_iter().zip(ends);
        lines.map(|(log, end)| format!("{}{end}\n", log_key(log).public())).collect::<String>()
    };
    let failed = |text: &str| {
        let report = hand::audit(&bundle.records(&TrustedKeys::parse(text).unwrap()));
        report.checks.failed().collect::<Vec<_>>()
    };
    assert_eq!(failed(&keys(["", "", ""])), []);
    assert_eq!(failed(&keys(["", " until 100000", ""])), []);
    assert_eq!(failed(&keys(["", " until 1", ""])), [Check::Keys, Check::Closing]);
    // Three keys of the table's log, two of them retired, prove no hand.
    let mut of_table = bundle.clone();
    of_table.dealer.key.clone_from(&bundle.table.key);
    let report = hand::audit(&of_table.records(&trusted()));
    assert!(report.checks.failed().any(|check| check == Check::Keys));
}

/// fairness/SPEC.md §15.3.
#[test]
fn two_histories_of_one_log_contradict_each_other() {
    let honest = table();
    let mut forked = TableFixture::seated(7, "dice", 3);
    forked.advance(std::time::Duration::from_millis(5));
    assert!(forked.play());
    let mut histories = Histories::default();
    assert_eq!(histories.add("one", &honest.bundle(1)), []);
    assert_eq!(histories.add("two", &honest.bundle(1)), []);
    let found = histories.add("three", &forked.bundle(1));
    let says = |what: &str| found.iter().any(|it| it.with == "one" && it.what.contains(what));
    assert!(says("specimen.example/table has two records at position"), "{found:?}");
    assert!(says("two records of version") && says("two trees of"), "{found:?}");
}

/// A log goes on under its name when its key changes.
/// fairness/SPEC.md §15.3.
#[test]
fn two_histories_under_two_keys_of_one_log_contradict_each_other() {
    let (mut honest, mut forked) = (table().bundle(1), TableFixture::seated(7, "dice", 3));
    forked.advance(std::time::Duration::from_millis(5));
    assert!(forked.play());
    let name = KeyName::try_new(ORIGINS[0]).unwrap();
    honest.table.key = LogKey::new(name, &[77; 32]).public().to_string();
    let mut histories = Histories::default();
    assert_eq!(histories.add("one", &honest), []);
    let found = histories.add("two", &forked.bundle(1));
    assert!(found.iter().any(|it| it.what.contains("table has two records")), "{found:?}");
}

/// fairness/SPEC.md §15.3.
#[test]
fn a_checkpoint_that_was_seen_contradicts_another_tree_of_its_size() {
    let (honest, mut forked) = (table(), TableFixture::seated(7, "dice", 3));
    forked.advance(std::time::Duration::from_millis(5));
    assert!(forked.play());
    let seen = honest.bundle(1).table.checkpoint;
    let mut histories = Histories::default();
    assert_eq!(histories.add_checkpoint("seen", &seen, &trusted()), Some(Vec::new()));
    assert_eq!(histories.add_checkpoint("seen", &seen, &TrustedKeys::none()), None);
    assert_eq!(histories.add("one", &honest.bundle(1)), []);
    let found = histories.add("two", &forked.bundle(1));
    let says = |it: &Contradiction| it.with == "seen" && it.what.contains("two trees of");
    assert!(found.iter().any(says), "{found:?}");
}

/// A hand that nobody is left in goes on by itself for as many rounds as its rules allow, which is a
/// bounded number.
/// fairness/SPEC.md §15.5.
#[test]
fn the_longest_hand_that_nobody_is_in_is_audited_in_bounded_work() {
    let rules = rules::RuleSet::defaults(rules::variant("dice").unwrap()).canonical();
    assert!(
        rules::RuleSet::from_canonical(&rules.replace("max_rounds = 12", "max_rounds = 1001"))
            .is_err()
    );
    let mut table =
        TableFixture::with_rules(7, rules.replace("max_rounds = 12", "max_rounds = 1000"));
    (1..=3).for_each(|seat| table.sit(seat, 2000));
    assert!(table.play());
    let report = report(&table.bundle(1));
    assert_eq!(report.verdict, HandVerdict::Proved, "{report:#?}");
    assert!(report.work.steps < 200_000, "{:?}", report.work);
}

/// fairness/SPEC.md §15.5.
#[test]
fn work_is_bounded_by_the_size_of_the_file() {
    for variant in rules::ALL {
        let least = u32::from(*variant.player_counts.start());
        let mut table = TableFixture::seated(7, variant.id, least);
        assert!(table.play());
        let bundle = table.bundle(1);
        let (work, bytes) = (report(&bundle).work, bundle.encode());
        check_work(work, &bytes);
        let records = bundle.logs().iter().map(|(_, log)| log.records.len() as u64).sum::<u64>();
        assert!(work.steps > 3 * records && work.bytes > bytes.len() as u64, "{work:?}");
        assert!(work.signatures > 5, "{}: {work:?}", variant.id);
    }
}

/// fairness/SPEC.md §15.1, §15.5.
#[test]
fn files_that_are_too_long_or_too_new_are_refused_by_name() {
    let long = vec![0; crate::bundle::MAX_BYTES + 1];
    assert_eq!(Bundle::parse(&long), Err(BundleError::TooLong(long.len())));
    let bytes = table().bundle(1).encode();
    let newer = reencode(&bytes, |contents| contents.format = crate::bundle::FORMAT + 1);
    let error = Bundle::parse(&newer).unwrap_err();
    assert_eq!(error.to_string(), "written by a newer room: take its verify.html");
    // A field of a number that this format has not.
    let unknown = contents_changed(&newer, |contents| contents.extend([0x98, 0x06, 1]));
    assert_eq!(Bundle::parse(&unknown), Err(BundleError::NewerFormat));
}

/// fairness/SPEC.md §15.5.
#[test]
fn a_small_file_with_many_empty_records_is_refused_before_it_is_decoded() {
    let bytes = table().bundle(1).encode();
    let crowded = reencode(&bytes, |contents| {
        contents.logs[0].records = vec![proto::audit::v1::LogRecord::default(); 600_000];
    });
    assert!(crowded.len() < 2_000_000);
    assert_eq!(Bundle::parse(&crowded), Err(BundleError::TooMany));
}

fn reencode(bytes: &[u8], change: impl FnOnce(&mut proto::audit::v1::BundleContents)) -> Vec<u8> {
    use prost::Message as _;
    contents_changed(bytes, |contents| {
        let mut inner = proto::audit::v1::BundleContents::decode(&contents[..]).unwrap();
        change(&mut inner);
        *contents = inner.encode_to_vec();
    })
}

fn contents_changed(bytes: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    use prost::Message as _;
    use sha2::Digest as _;
    let outer = proto::audit::v1::HandBundle::decode(bytes).unwrap();
    let mut contents = outer.contents.to_vec();
    change(&mut contents);
    let sha256 = sha2::Sha256::digest(&contents).to_vec();
    proto::audit::v1::HandBundle { contents, sha256 }.encode_to_vec()
}

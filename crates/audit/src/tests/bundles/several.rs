//! Files that are judged together: two histories of one log, and differences that are none.
//!
//! `tests/golden/several/expected.json` has a line for each group of files, with the verdict and the
//! failed checks of each; every verifier must give them.

use std::time::Duration;

use merkle::Checkpoint;
use merkle::note::{KeyName, Note, WitnessKey};

use super::honest::{everybody, silent};
use super::{file, folder, keys};
use crate::bundle::{Bundle, TrustedKeys};
use crate::hand::{self, Check, HandVerdict, Report};
use crate::joint::JointAudit;
use crate::tests::fixture::{EntropyBehaviour, HandOptions, SuspensionEnd, TableFixture};

struct Group {
    name: &'static str,
    files: Vec<(&'static str, Bundle)>,
    /// Verdicts in the order of the files.
    verdicts: Vec<HandVerdict>,
}

/// A table with a played hand, so many milliseconds later than another.
fn table(later: u64) -> TableFixture {
    let mut room = TableFixture::seated(7, "dice", 3);
    room.advance(Duration::from_millis(later));
    assert!(room.play());
    room
}

fn group(
    name: &'static str,
    files: Vec<(&'static str, Bundle)>,
    verdicts: &[HandVerdict],
) -> Group {
    Group { name, files, verdicts: verdicts.to_vec() }
}

fn groups() -> Vec<Group> {
    let mut all = contradictions();
    all.extend(differences());
    all
}

/// History of the table as far as the next hand.
fn grown(table: &TableFixture) -> TableFixture {
    let mut grown = table.clone();
    assert!(grown.play());
    grown
}

/// Two histories of one log.
fn contradictions() -> Vec<Group> {
    use HandVerdict::{Failed, Proved};
    let (one, other) = (table(0), table(5));
    let [with_seat_1, with_seat_2] = [1, 2].map(|seat| {
        let mut room = one.clone();
        room.toggle_sit_out(seat);
        room.bundle(1)
    });
    let again = grown(&one).bundle(1);
    vec![
        group(
            "two-forks-of-a-hand",
            vec![("one", one.bundle(1)), ("other", other.bundle(1))],
            &[Failed, Failed],
        ),
        group(
            "two-trees-of-one-size",
            vec![("one", with_seat_1), ("other", with_seat_2)],
            &[Failed, Failed],
        ),
        group(
            "a-fork-among-three",
            vec![("one", one.bundle(1)), ("again", again), ("other", other.bundle(1))],
            &[Failed, Failed, Failed],
        ),
        group(
            "what-is-not-proved-convicts-nobody",
            vec![("honest", one.bundle(1)), ("forged", unproved(other.bundle(1)))],
            &[Proved, Failed],
        ),
    ]
}

/// Differences that contradict nothing.
fn differences() -> Vec<Group> {
    use HandVerdict::{NotFinished, Proved};
    let one = table(0);
    let grown = grown(&one);
    let [before, after] = [SuspensionEnd::Open, SuspensionEnd::Continued].map(suspended);
    vec![
        group(
            "a-log-that-grew",
            vec![("first", one.bundle(1)), ("again", grown.bundle(1)), ("second", grown.bundle(2))],
            &[Proved, Proved, Proved],
        ),
        group(
            "a-checkpoint-cosigned-later",
            vec![("alone", one.bundle(1)), ("cosigned", cosigned(one.bundle(1)))],
            &[Proved, Proved],
        ),
        group(
            "secrets-withheld-and-shown",
            vec![("suspended", before.bundle(1)), ("played", after.bundle(1))],
            &[NotFinished, Proved],
        ),
    ]
}

fn suspended(end: SuspensionEnd) -> TableFixture {
    let silent = silent(Some(30), end);
    let options = HandOptions { entropy: everybody(EntropyBehaviour::Reveals), ..silent };
    let mut room = TableFixture::seated(40, "kessel", 3).with_options(options);
    assert!(room.play());
    room
}

fn cosigned(mut bundle: Bundle) -> Bundle {
    let witness = WitnessKey::new(KeyName::try_new("w.example/1").unwrap(), &[20; 32]);
    let mut note = Note::parse(bundle.table.checkpoint.as_bytes()).unwrap();
    note.push(witness.cosign(&Checkpoint::parse(note.text()).unwrap(), 1_700_000_100)).unwrap();
    bundle.table.checkpoint = note.to_string();
    bundle
}

/// The bundle with a proof that leads to another root.
fn unproved(mut bundle: Bundle) -> Bundle {
    bundle.table.proof.push([7; 32]);
    bundle
}

fn judged(group: &Group, trusted: &TrustedKeys) -> Vec<Report> {
    let mut joint = JointAudit::default();
    for (name, bundle) in &group.files {
        let bundle = Bundle::parse(&bundle.encode()).unwrap();
        joint.add(name, &bundle, hand::audit(&bundle.records(trusted)));
    }
    joint.into_reports()
}

fn line(group: &Group, reports: &[Report]) -> String {
    let file = |((name, _), report): (&(&str, Bundle), &Report)| {
        let failed: Vec<String> =
            report.checks.failed().map(|check| format!("\"{}\"", check.name())).collect();
        let (verdict, failed) = (report.verdict.name(), failed.join(","));
        format!(r#"{{"file":"{name}.sabacc","verdict":"{verdict}","failed":[{failed}]}}"#)
    };
    let files: Vec<String> = group.files.iter().zip(reports).map(file).collect();
    format!(r#"{{"group":"{}","files":[{}]}}"#, group.name, files.join(","))
}

/// fairness/SPEC.md §15.3.
#[test]
fn files_are_judged_in_the_light_of_each_other() {
    let trusted = TrustedKeys::parse(&keys()).unwrap();
    let (mut lines, mut there) = (Vec::new(), 0);
    for group in groups() {
        let reports = judged(&group, &trusted);
        let verdicts: Vec<HandVerdict> = reports.iter().map(|report| report.verdict).collect();
        assert_eq!(verdicts, group.verdicts, "{}: {reports:#?}", group.name);
        for report in reports.iter().filter(|report| report.verdict == HandVerdict::Failed) {
            assert_eq!(report.checks.failed().collect::<Vec<_>>(), [Check::Inclusion]);
            assert!(report.sentences[0].contains("is NOT proved"), "{:?}", report.sentences);
        }
        for (name, bundle) in &group.files {
            file(&format!("../several/{}/{name}.sabacc", group.name), &bundle.encode());
            there += 1;
        }
        lines.push(line(&group, &reports));
    }
    file("../several/expected.json", format!("[\n{}\n]\n", lines.join(",\n")).as_bytes());
    let groups = std::fs::read_dir(folder().join("../several")).unwrap();
    let found = groups.flat_map(|it| std::fs::read_dir(it.unwrap().path())).flatten().count();
    assert_eq!(found, there, "no file is left that is not made any more");
}

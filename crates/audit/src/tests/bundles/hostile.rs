//! Files of whoever means harm: to verifiers that read them, or to whoever believes what a verifier
//! says of them. Every verifier, in any language, must do with each file what the list says.
//!
//! The list is `tests/golden/hostile/expected.json`, one line for each file, with its kind:
//!
//! | kind | what is done with it |
//! |---|---|
//! | `bundle` | it is audited with the keys of the golden bundles, without witnesses |
//! | `keys` | it is read as a keys file |
//! | `witness_keys` | it is read as a file of witnesses' keys |
//! | `note` | it is parsed as a signed note |
//! | `checkpoint` | it is opened as a checkpoint with the first of the golden bundles' keys |
//! | `evidence` | it is read as an evidence file |
//!
//! A bundle's line has its verdict, the checks that failed and those that could not be made; another
//! file is `accepted` or `refused`. A name that ends in `.short` is of a file that is written in short,
//! by lines: `TIMES HEX` are bytes that stand there so often, `= FROM LENGTH` is that part of
//! `bundles/honest.sabacc`.
//!
//! `SABACC_WRITE_BUNDLES=1 cargo test -p audit bundles` writes the files and the list.

mod evidence;
mod files;
mod keys;
mod logs;
mod notes;
mod order;
mod records;
mod short;
mod sweep;

use std::sync::OnceLock;

use fairness::evidence as evidence_file;
use merkle::note::Note;
use merkle::{Checkpoint, parse_keys_file};

use super::{file, folder, keys as golden_keys};
use crate::bundle::{Bundle, MAX_BYTES, TrustedKeys, Witnesses};
use crate::hand::{self, HandVerdict, Report, Work};
use crate::report::Verdict;
use crate::tests::fixture::{Entry, LogName, TableFixture, log_key};

/// What a file claims to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bundle,
    Keys,
    WitnessKeys,
    Note,
    Checkpoint,
    Evidence,
}

/// A file, and whether a reader may take it for good.
#[derive(Debug, Clone)]
struct Hostile {
    kind: Kind,
    name: String,
    bytes: Vec<u8>,
    is_good: bool,
}

impl Hostile {
    fn new(kind: Kind, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Hostile {
        Hostile { kind, name: name.into(), bytes: bytes.into(), is_good: false }
    }

    /// The same file, which is unusual and good.
    fn good(self) -> Hostile {
        Hostile { is_good: true, ..self }
    }

    /// Path in the folder of hostile files.
    fn path(&self) -> String {
        let name = &self.name;
        match self.kind {
            Kind::Bundle => format!("bundles/{name}.sabacc"),
            Kind::Keys => format!("keys/{name}.txt"),
            Kind::WitnessKeys => format!("keys/{name}.witnesses.txt"),
            Kind::Note => format!("notes/{name}.txt"),
            Kind::Checkpoint => format!("checkpoints/{name}.txt"),
            Kind::Evidence => format!("evidence/{name}.txt"),
        }
    }
}

/// What becomes of a file.
#[derive(Debug)]
enum Outcome {
    Judged(Box<Report>),
    Accepted,
    Refused,
}

impl Outcome {
    fn of(hostile: &Hostile, trusted: &TrustedKeys) -> Outcome {
        let Hostile { kind, bytes, .. } = hostile;
        let text = str::from_utf8(bytes).ok();
        let is_accepted = match kind {
            Kind::Bundle => match Bundle::parse(bytes) {
                Ok(bundle) => {
                    let report = audited(&bundle, trusted);
                    check_work(report.work, bytes);
                    return Outcome::Judged(Box::new(report));
                }
                Err(_) => false,
            },
            Kind::Keys => text.is_some_and(|text| parse_keys_file(text).is_ok()),
            Kind::WitnessKeys => text.is_some_and(|text| Witnesses::parse(text, None).is_ok()),
            Kind::Note => Note::parse(bytes).is_ok(),
            Kind::Checkpoint => {
                Checkpoint::open(bytes, log_key(LogName::Table).public(), &[]).is_ok()
            }
            Kind::Evidence => evidence_file::parse(bytes, MAX_BYTES).is_ok(),
        };
        if is_accepted { Outcome::Accepted } else { Outcome::Refused }
    }

    /// Whether a reader takes the file for good.
    fn is_good(&self) -> bool {
        match self {
            Outcome::Judged(report) => match report.verdict {
                HandVerdict::Proved | HandVerdict::BrokenOff => true,
                HandVerdict::NotFinished | HandVerdict::Failed | HandVerdict::Refused => false,
            },
            Outcome::Accepted => true,
            Outcome::Refused => false,
        }
    }

    /// The outcome as it stands in the list, without the braces.
    fn json(&self) -> String {
        match self {
            Outcome::Judged(report) => {
                let failed = names(report, |verdict| matches!(verdict, Verdict::Failed(_)));
                let missing = names(report, |verdict| matches!(verdict, Verdict::NotPossible(_)));
                let verdict = report.verdict.name();
                format!(r#""verdict":"{verdict}","failed":[{failed}],"not_possible":[{missing}]"#)
            }
            Outcome::Accepted => r#""verdict":"accepted""#.to_owned(),
            Outcome::Refused => r#""verdict":"refused""#.to_owned(),
        }
    }
}

/// Audits a bundle. Its story is written too: nothing in the file may make that panic.
fn audited(bundle: &Bundle, trusted: &TrustedKeys) -> Report {
    let records = bundle.records(trusted);
    let report = hand::audit(&records);
    assert!(hand::story(&records, &report).iter().all(|line| !line.what.is_empty()));
    report
}

/// Checks that the work of an audit is bounded by the size of the file; a few rounds of the rules
/// are due in any. The other verifiers have the same bounds.
pub(crate) fn check_work(work: Work, bytes: &[u8]) {
    const ALWAYS: Work = Work { steps: 20_000, bytes: 100_000, signatures: 16 };
    let length = bytes.len() as u64;
    assert!(work.steps <= ALWAYS.steps + 2 * length, "{work:?} of {length} bytes");
    assert!(work.bytes <= ALWAYS.bytes + 40 * length, "{work:?} of {length} bytes");
    assert!(work.signatures <= ALWAYS.signatures + length / 32, "{work:?} of {length} bytes");
}

fn names(report: &Report, is_wanted: impl Fn(&Verdict) -> bool) -> String {
    let wanted = report.checks.0.iter().filter(|checked| is_wanted(&checked.verdict));
    wanted.map(|checked| format!("\"{}\"", checked.check.name())).collect::<Vec<_>>().join(",")
}

fn all() -> Vec<Hostile> {
    let honest = honest().bundle(1).encode();
    let mut all = vec![Hostile::new(Kind::Bundle, "honest", honest).good()];
    all.extend(files::all());
    all.extend(logs::all());
    all.extend(records::all());
    all.extend(order::all());
    all.extend(keys::all());
    all.extend(notes::all());
    all.extend(evidence::all());
    all
}

fn line(hostile: &Hostile, path: &str, outcome: &Outcome) -> String {
    let kind = match hostile.kind {
        Kind::Bundle => "bundle",
        Kind::Keys => "keys",
        Kind::WitnessKeys => "witness_keys",
        Kind::Note => "note",
        Kind::Checkpoint => "checkpoint",
        Kind::Evidence => "evidence",
    };
    format!(r#"{{"file":"{path}","kind":"{kind}",{}}}"#, outcome.json())
}

/// Smallest file that is written in short.
const MIN_SHORT: usize = 4 * 1024;

/// Number of tables of which the shortest hand is taken.
const TABLES: u64 = 40;

/// Largest sum of all files, in bytes.
const MAX_CORPUS: usize = 1 << 20;

#[test]
fn hostile_files_get_their_verdicts() {
    let trusted = TrustedKeys::parse(&golden_keys()).unwrap();
    let honest_file = honest().bundle(1).encode();
    let (mut lines, mut names, mut wrong, mut sum) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for hostile in all() {
        let outcome = Outcome::of(&hostile, &trusted);
        let (mut path, mut written) = (hostile.path(), hostile.bytes.clone());
        if written.len() >= MIN_SHORT && hostile.bytes != honest_file {
            let short = short::write(&hostile.bytes, &honest_file);
            assert!(short::read(&short, &honest_file) == hostile.bytes, "{path}");
            (path, written) = (format!("{path}.short"), short.into_bytes());
        }
        file(&format!("../hostile/{path}"), &written);
        let line = line(&hostile, &path, &outcome);
        if outcome.is_good() != hostile.is_good {
            wrong.push(line.clone());
        }
        sum += written.len();
        lines.push(line);
        names.push(path);
    }
    println!("{} files, {sum} bytes", names.len());
    file("../hostile/expected.json", format!("[\n{}\n]\n", lines.join(",\n")).as_bytes());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(sum < MAX_CORPUS, "{sum} bytes");
    names.sort();
    assert_eq!(
        there(),
        names,
        "no file is left that is not made any more, and none has two makers"
    );
}

/// Paths of the files that are there.
fn there() -> Vec<String> {
    let hostile = folder().join("../hostile");
    let mut found = Vec::new();
    for kind in ["bundles", "checkpoints", "evidence", "keys", "notes"] {
        for entry in std::fs::read_dir(hostile.join(kind)).unwrap() {
            found.push(format!("{kind}/{}", entry.unwrap().file_name().to_str().unwrap()));
        }
    }
    found.sort();
    found
}

/// A short hand of two players, played until cards are shown.
fn honest() -> TableFixture {
    static HONEST: OnceLock<TableFixture> = OnceLock::new();
    let find = || {
        let tables = (0..TABLES).map(|number| TableFixture::seated(number, "dice", 2));
        let shows = |entry: &Entry| entry.recorded.name() == "CardsShown";
        let played = tables.filter_map(|mut room| room.play().then_some(room));
        let shown = played.filter(|room| room.script.entries.iter().any(shows));
        shown.min_by_key(|room| room.script.entries.len()).expect("cards are shown in one of them")
    };
    HONEST.get_or_init(find).clone()
}

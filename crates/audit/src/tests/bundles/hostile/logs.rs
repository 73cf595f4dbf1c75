//! Checkpoints, keys and proofs of a bundle whose records are honest.

use merkle::note::LogKey;

use super::files::{edited, wrapped};
use super::{Hostile, Kind, honest};
use crate::bundle::Bundle;
use crate::tests::fixture::{LogName, log_key};
use proto::audit::v1::BundleLog;

/// A note of the table's log about any text.
pub(super) fn signed(key: &LogKey, text: &str) -> String {
    format!("{text}\n{}\n", key.sign(text))
}

/// The text of the checkpoint of the honest hand's table, in its lines: origin, size, root.
pub(super) fn lines() -> [String; 3] {
    let note = honest().bundle(1).table.checkpoint;
    let mut lines = note.lines().map(str::to_owned);
    [lines.next(), lines.next(), lines.next()].map(Option::unwrap)
}

pub(super) fn all() -> Vec<Hostile> {
    let mut all = checkpoints();
    all.extend(proofs());
    all
}

fn checkpoints() -> Vec<Hostile> {
    let [origin, size, root] = lines();
    let key = log_key(LogName::Table);
    let of = |name, text: String| {
        let mut bundle = honest().bundle(1);
        bundle.table.checkpoint = signed(&key, &text);
        Hostile::new(Kind::Bundle, name, bundle.encode())
    };
    let sized = |name, size: &str| of(name, format!("{origin}\n{size}\n{root}\n"));
    vec![
        sized("checkpoint-of-5000-digits", &"9".repeat(5000)),
        sized("checkpoint-of-1000000-digits", &"9".repeat(1_000_000)),
        sized("checkpoint-of-the-largest-size", "9223372036854775807"),
        sized("checkpoint-of-2-63-records", "9223372036854775808"),
        sized("checkpoint-of-size-0", "0"),
        sized("checkpoint-of-another-number", &format!("0{size}")),
        of("checkpoint-without-a-root", format!("{origin}\n{size}\n")),
        of("checkpoint-with-delete", format!("{origin}\n{size}\n{root}\nmore\u{7f}\n")),
        of("checkpoint-with-more", format!("{origin}\n{size}\n{root}\nmore\u{80}\u{2028}\n"))
            .good(),
        of("checkpoint-of-another-log", format!("specimen.example/wallet\n{size}\n{root}\n")),
        with("checkpoint-that-is-empty", |it| it.table.checkpoint.clear()),
        with("checkpoint-with-101-signatures", |it| {
            let line = it.table.checkpoint.lines().last().unwrap().to_owned();
            it.table.checkpoint += &format!("{line}\n").repeat(100);
        }),
        with("checkpoint-with-a-signature-twice", |it| {
            let line = it.table.checkpoint.lines().last().unwrap().to_owned();
            it.table.checkpoint += &format!("{line}\n");
        })
        .good(),
        with("checkpoint-with-mark", |it| it.table.checkpoint.insert(0, '\u{feff}')),
        with("checkpoint-ended-by-cr", |it| {
            it.table.checkpoint = it.table.checkpoint.replace('\n', "\r\n");
        }),
        with("key-with-control-characters", |it| it.table.key.insert_str(0, "\u{1b}[2J\n")),
        with("key-that-is-empty", |it| it.table.key.clear()),
        with("key-of-1-mb", |it| it.table.key = "+".repeat(1 << 20)),
    ]
}

fn with(name: &str, edit: impl FnOnce(&mut Bundle)) -> Hostile {
    let mut bundle = honest().bundle(1);
    edit(&mut bundle);
    Hostile::new(Kind::Bundle, name, bundle.encode())
}

fn proofs() -> Vec<Hostile> {
    let of = |name: &str, edit: &dyn Fn(&mut BundleLog)| {
        Hostile::new(Kind::Bundle, name, edited(|it| edit(&mut it.logs[0])))
    };
    vec![
        of("proof-of-30000-hashes", &|it| it.proof = vec![vec![7; 32]; 30_000]),
        of("records-of-versions-far-apart", &|it| {
            for (record, version) in it.records.iter_mut().rev().zip((0..=u64::MAX).rev()) {
                record.version = version;
            }
        }),
        of("records-none-of-the-table", &|it| it.records.clear()),
        Hostile::new(
            Kind::Bundle,
            "records-none-at-all",
            edited(|it| {
                it.logs.iter_mut().for_each(|log| log.records.clear());
            }),
        ),
        Hostile::new(
            Kind::Bundle,
            "records-of-another-hand",
            edited(|it| it.hand_id = vec![9; 16]),
        ),
        Hostile::new(Kind::Bundle, "contents-with-a-byte-more", {
            use prost::Message as _;
            wrapped([&super::files::contents().encode_to_vec()[..], &[0]].concat())
        }),
    ]
}

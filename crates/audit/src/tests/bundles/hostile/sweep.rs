//! One change to each record of a hand in turn, at each of its fields: far more files than are kept.
//!
//! `SABACC_SWEEP=FOLDER cargo test -p audit sweep` writes every so many of them into a folder with a
//! list, which the other verifiers read as they read the corpus with the same variable: what they
//! judge differently belongs into it.

use std::path::Path;

use bytes::Bytes;
use primitives::UnixMicros;
use wire::Record as _;

use super::{Hostile, Kind, Outcome, golden_keys, honest, line};
use crate::bundle::TrustedKeys;
use crate::tests::bundles::honest::{silent, zero_net_of_two};
use crate::tests::fixture::{AnyRecord, Entry, Script, SuspensionEnd, TableFixture};

/// Of so many changes one is written; no divisor of the number of changes to a field.
const STRIDE: usize = 13;

/// Numbers that are put into a field.
const NUMBERS: [u64; 7] = [0, 1, 2, 255, 1 << 31, u32::MAX as u64, u64::MAX];

/// Returns the payload with one field changed, in every way.
fn edited(payload: &[u8]) -> Vec<Vec<u8>> {
    let Some(fields) = fields(payload) else { return Vec::new() };
    let mut all = Vec::new();
    for (at, (tag, value)) in fields.iter().enumerate() {
        let mut put = |with: &[Field]| {
            let changed = [&fields[..at], with, &fields[at + 1..]].concat();
            all.push(encoded(&changed));
        };
        put(&[]);
        put(&[fields[at].clone(), fields[at].clone()]);
        match value {
            Value::Number(number) => {
                for other in [number.wrapping_add(1), number ^ 256].into_iter().chain(NUMBERS) {
                    put(&[(*tag, Value::Number(other))]);
                }
            }
            Value::Bytes(bytes) => {
                let mut flipped = bytes.clone();
                flipped.iter_mut().take(1).for_each(|byte| *byte ^= 1);
                let shorter = bytes[..bytes.len().saturating_sub(1)].to_vec();
                let longer = [&bytes[..], b"0"].concat();
                for other in [flipped, shorter, longer].into_iter().chain(edited(bytes)) {
                    put(&[(*tag, Value::Bytes(other))]);
                }
            }
        }
    }
    all
}

type Field = (u64, Value);

#[derive(Clone)]
enum Value {
    Number(u64),
    Bytes(Vec<u8>),
}

/// Splits a message into its fields; `None` if it is none.
fn fields(mut message: &[u8]) -> Option<Vec<Field>> {
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = prost::encoding::decode_varint(&mut message).ok()?;
        let value = match key & 7 {
            0 => Value::Number(prost::encoding::decode_varint(&mut message).ok()?),
            2 => {
                let length = prost::encoding::decode_varint(&mut message).ok()?;
                let (bytes, rest) = message.split_at_checked(usize::try_from(length).ok()?)?;
                message = rest;
                Value::Bytes(bytes.to_vec())
            }
            _ => return None,
        };
        found.push((key >> 3, value));
    }
    Some(found)
}

fn encoded(fields: &[Field]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (tag, value) in fields {
        match value {
            Value::Number(0) => {}
            Value::Number(number) => {
                prost::encoding::encode_varint(tag << 3, &mut bytes);
                prost::encoding::encode_varint(*number, &mut bytes);
            }
            Value::Bytes(content) => {
                prost::encoding::encode_varint(tag << 3 | 2, &mut bytes);
                prost::encoding::encode_varint(content.len() as u64, &mut bytes);
                bytes.extend(content);
            }
        }
    }
    bytes
}

/// The record with another payload, where that is one.
fn with_payload(room: &TableFixture, at: usize, payload: Vec<u8>) -> Option<AnyRecord> {
    let Entry { log, .. } = room.script.entries[at];
    let alone = Script { entries: vec![room.script.entries[at].clone()], ..Script::default() };
    let mut event = alone.events(log).remove(0);
    event.payload = Bytes::from(payload);
    let record = AnyRecord::decode(log, &event).ok()?;
    let again = match &record {
        AnyRecord::Table(it) => it.payload(),
        AnyRecord::Dealer(it) => it.payload(),
        AnyRecord::Wallet(it) => it.payload(),
    };
    (again == event.payload).then_some(record)
}

/// All rooms that differ from this one in one record.
fn variations(room: &TableFixture) -> Vec<(String, TableFixture)> {
    let mut all = Vec::new();
    for at in 0..room.script.entries.len() {
        let entry = &room.script.entries[at];
        let mut put = |what: &str, edit: &dyn Fn(&mut Vec<Entry>)| {
            let mut other = room.clone();
            edit(&mut other.script.entries);
            all.push((format!("{at:03}-{}-{what}", entry.recorded.name()), other));
        };
        put("out", &|it| drop(it.remove(at)));
        put("twice", &|it| it.insert(at, entry.clone()));
        put("later", &|it| {
            let next = (at + 1..it.len()).find(|next| it[*next].log == it[at].log);
            let next = next.unwrap_or(at);
            let (one, other) = (it[at].at, it[next].at);
            it.swap(at, next);
            (it[at].at, it[next].at) = (one, other);
        });
        for (what, time) in
            [("at-0", 0), ("at-end", u64::MAX), ("hour", entry.at.0 + 3_600_000_000)]
        {
            put(what, &|it| it[at].at = UnixMicros(time));
        }
        let payload = match &entry.recorded {
            AnyRecord::Table(it) => it.payload(),
            AnyRecord::Dealer(it) => it.payload(),
            AnyRecord::Wallet(it) => it.payload(),
        };
        for (number, payload) in edited(&payload).into_iter().enumerate() {
            if let Some(record) = with_payload(room, at, payload) {
                put(&format!("{number:03}"), &|it| it[at].recorded = record.clone());
            }
        }
    }
    all
}

fn rooms() -> Vec<(&'static str, TableFixture)> {
    let played = |variant, options| {
        let mut room = TableFixture::seated(40, variant, 2).with_options(options);
        assert!(room.play());
        room
    };
    vec![
        ("dice", honest()),
        ("agreed", played("dice", silent(Some(6), SuspensionEnd::Agreed))),
        ("left", played("spike", silent(None, SuspensionEnd::Left))),
        ("open", played("kessel", silent(Some(30), SuspensionEnd::Open))),
        ("zero", zero_net_of_two()),
    ]
}

#[test]
fn a_sweep_over_every_field() {
    #[expect(clippy::disallowed_methods, reason = "a test's own switch")]
    let folder = std::env::var_os("SABACC_SWEEP");
    let Some(folder) = folder else { return };
    let bundles = Path::new(&folder).join("bundles");
    std::fs::create_dir_all(&bundles).unwrap();
    let trusted = TrustedKeys::parse(&golden_keys()).unwrap();
    let mut lines = Vec::new();
    for (name, room) in rooms() {
        for (what, other) in variations(&room).into_iter().step_by(STRIDE) {
            let bytes = other.bundle(1).encode();
            let hostile = Hostile::new(Kind::Bundle, format!("{name}-{what}"), bytes);
            let path = hostile.path();
            lines.push(line(&hostile, &path, &Outcome::of(&hostile, &trusted)));
            std::fs::write(Path::new(&folder).join(path), &hostile.bytes).unwrap();
        }
    }
    let list = format!("[\n{}\n]\n", lines.join(",\n"));
    std::fs::write(Path::new(&folder).join("expected.json"), list).unwrap();
}

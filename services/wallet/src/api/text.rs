//! Times, and statements as files.
//!
//! A reason is text that an operator wrote, and a spreadsheet takes what begins with `=`, `+`, `-` or
//! `@` for a formula: in a CSV such a reason begins with an apostrophe, which spreadsheets take for
//! "this is text". Numbers are not touched.

use std::fmt::Write as _;

use base64ct::{Base64, Encoding as _};
use ledger::{Account, Exclusion};
use primitives::UnixMicros;
use prost_types::Timestamp;
use proto::wallet::v1::TransferKind;
use wire::BadField;

use crate::repo::EntryRead;

/// The end of the times that a protobuf timestamp may name: 9999-12-31T23:59:59.999999Z.
const LAST: UnixMicros = UnixMicros(253_402_300_799_999_999);

pub(super) fn timestamp(at: UnixMicros) -> Timestamp {
    let at = at.min(LAST);
    let seconds = i64::try_from(at.0 / 1_000_000).unwrap_or(i64::MAX);
    let nanos = i32::try_from(at.0 % 1_000_000 * 1000).unwrap_or_default();
    Timestamp { seconds, nanos }
}

/// For good is the last time there is.
pub(super) fn end(exclusion: Exclusion) -> Timestamp {
    timestamp(exclusion.end().unwrap_or(LAST))
}

/// A time that is sent, to the microsecond.
pub(super) fn time(field: &str, timestamp: Timestamp) -> Result<UnixMicros, BadField> {
    let Timestamp { seconds, nanos } = timestamp;
    let bad = || BadField::new(field, "a time from 1970 to 9999, nanos from 0 to 999999999");
    let seconds = u64::try_from(seconds).map_err(|_| bad())?;
    let nanos = u64::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000).ok_or_else(bad)?;
    let micros = seconds.checked_mul(1_000_000).and_then(|it| it.checked_add(nanos / 1000));
    micros.map(UnixMicros).filter(|time| *time <= LAST).ok_or_else(bad)
}

pub(super) const CSV_HEADER: &str =
    "position,recorded_at,kind,amount,balance,transfer_id,hand_id,table_id,reason\r\n";

/// An entry's line.
pub(super) fn csv(to: &mut String, entry: &EntryRead) {
    let kind = kind(entry.kind).as_str_name().trim_start_matches("TRANSFER_KIND_");
    let transfer = entry.transfer.map(|id| id.to_string()).unwrap_or_default();
    let table = table_of(entry).map(|table| table.to_string()).unwrap_or_default();
    let EntryRead { position, amount, balance, recorded_at, reason, .. } = entry;
    // No kind of transfer that belongs to a hand touches a player's account.
    let hand = "";
    write!(
        to,
        "{},{},{kind},{amount},{balance},{transfer},{hand},{table},",
        position.0,
        precise(*recorded_at)
    )
    .expect("writing into a String cannot fail");
    quoted(to, reason.as_deref().unwrap_or_default());
    to.push_str("\r\n");
}

fn quoted(to: &mut String, text: &str) {
    let guarded = if text.starts_with(['=', '+', '-', '@']) { "'" } else { "" };
    if text.contains(['"', ',', '\r', '\n']) {
        to.push('"');
        to.push_str(guarded);
        to.push_str(&text.replace('"', "\"\""));
        to.push('"');
    } else {
        to.push_str(guarded);
        to.push_str(text);
    }
}

/// An entry by the protobuf JSON mapping.
pub(super) fn json(to: &mut String, entry: &EntryRead) {
    let transfer = entry.transfer.map(|id| Base64::encode_string(&id.0)).unwrap_or_default();
    let EntryRead { position, amount, balance, recorded_at, reason, .. } = entry;
    write!(
        to,
        "{{\"transferId\":\"{transfer}\",\"recordedAt\":\"{}\",\"kind\":\"{}\",\
         \"amount\":\"{amount}\",\"balance\":\"{balance}\"",
        precise(*recorded_at),
        kind(entry.kind).as_str_name(),
    )
    .expect("writing into a String cannot fail");
    if let Some(table) = table_of(entry) {
        write!(to, ",\"tableId\":\"{}\"", Base64::encode_string(&table.0))
            .expect("writing into a String cannot fail");
    }
    if let Some(reason) = reason {
        to.push_str(",\"reason\":");
        escaped(to, reason);
    }
    write!(to, ",\"position\":\"{}\"}}", position.0).expect("writing into a String cannot fail");
}

fn escaped(to: &mut String, text: &str) {
    to.push('"');
    for character in text.chars() {
        match character {
            '"' => to.push_str("\\\""),
            '\\' => to.push_str("\\\\"),
            control if control.is_control() => {
                write!(to, "\\u{:04x}", u32::from(control))
                    .expect("writing into a String cannot fail");
            }
            plain => to.push(plain),
        }
    }
    to.push('"');
}

/// RFC 3339, to the microsecond.
fn precise(at: UnixMicros) -> String {
    let mut text = at.to_string();
    text.pop();
    write!(text, "{:03}Z", at.0 % 1000).expect("writing into a String cannot fail");
    text
}

/// What a transfer is for, as the API says it.
pub(super) fn kind(number: i16) -> TransferKind {
    TransferKind::try_from(i32::from(number)).unwrap_or(TransferKind::Unspecified)
}

/// The table that an entry of a player's account belongs to: that of the seat at its other end.
pub(super) fn table_of(entry: &EntryRead) -> Option<primitives::TableId> {
    entry.other.as_ref().and_then(Account::table)
}

#[cfg(test)]
mod tests {
    use eventlog::Position;
    use ledger::Amount;
    use primitives::{Credits, PlayerId, RequestId, TableId};

    use super::*;

    fn entry(reason: Option<&str>) -> EntryRead {
        EntryRead {
            position: Position(7),
            amount: Amount::debit(Credits::of(40)),
            balance: Amount::credit(Credits::of(60)),
            kind: 3,
            reason: reason.map(str::to_owned),
            other: Some(Account::Seat(TableId([0xAA; 16]), PlayerId([1; 16]))),
            recorded_at: UnixMicros(1_700_000_000_123_456),
            transfer: Some(RequestId([2; 16])),
        }
    }

    #[test]
    fn a_line_has_its_columns_and_reasons_are_text() {
        let rows = [
            (None, ""),
            (Some("welcome"), "welcome"),
            (Some("a, \"b\""), "\"a, \"\"b\"\"\""),
            (Some("=1+1"), "'=1+1"),
            (Some("@x,y"), "\"'@x,y\""),
        ];
        for (reason, written) in rows {
            let mut line = String::new();
            csv(&mut line, &entry(reason));
            let expected = format!(
                "7,2023-11-14T22:13:20.123456Z,BUY_IN,-40,60,\
                 02020202-0202-0202-0202-020202020202,,\
                 aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa,{written}\r\n"
            );
            assert_eq!(line, expected);
        }
        assert_eq!(CSV_HEADER.matches(',').count(), 8);
    }

    #[test]
    fn an_entry_is_json_as_protobuf_maps_it() {
        let mut text = String::new();
        json(&mut text, &entry(Some("a \"b\" \\ \u{7}")));
        assert_eq!(
            text,
            "{\"transferId\":\"AgICAgICAgICAgICAgICAg==\",\
             \"recordedAt\":\"2023-11-14T22:13:20.123456Z\",\"kind\":\"TRANSFER_KIND_BUY_IN\",\
             \"amount\":\"-40\",\"balance\":\"60\",\"tableId\":\"qqqqqqqqqqqqqqqqqqqqqg==\",\
             \"reason\":\"a \\\"b\\\" \\\\ \\u0007\",\"position\":\"7\"}"
        );
    }

    #[test]
    fn times_are_taken_where_they_can_be_told() {
        let good = Timestamp { seconds: 1, nanos: 2_999 };
        assert_eq!(time("until", good), Ok(UnixMicros(1_000_002)));
        assert_eq!(time("until", end(Exclusion::ForGood)), Ok(LAST));
        for (seconds, nanos) in [(-1, 0), (0, -1), (0, 1_000_000_000), (253_402_300_800, 0)] {
            assert!(time("until", Timestamp { seconds, nanos }).is_err());
        }
    }
}

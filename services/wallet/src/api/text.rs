//! Times, and lines of statements as text.
//!
//! A reason is text that an operator wrote, and a spreadsheet takes text that begins with `=`, `+`,
//! `-` or `@` for a formula. In a CSV such a reason begins with an apostrophe, which spreadsheets
//! take for "this is text". Numbers are not changed.

use std::fmt::Write as _;

use ledger::Exclusion;
use primitives::{HandId, UnixMicros};
use prost_types::Timestamp;
use proto::wallet::v1::TransferKind;
use wire::BadField;
use wire::time::rfc3339;

use crate::repo::{Holdings, StatementLine};

/// Last time that a protobuf timestamp may name: 9999-12-31T23:59:59.999999Z.
const MAX_TIMESTAMP: UnixMicros = UnixMicros(253_402_300_799_999_999);

pub(super) fn timestamp(at: UnixMicros) -> Timestamp {
    let at = at.min(MAX_TIMESTAMP);
    let seconds = i64::try_from(at.0 / 1_000_000).unwrap_or(i64::MAX);
    let nanos = i32::try_from(at.0 % 1_000_000 * 1000).unwrap_or_default();
    Timestamp { seconds, nanos }
}

/// End of an exclusion as a timestamp; the last possible time for one without an end.
pub(super) fn exclusion_end(exclusion: Exclusion) -> Timestamp {
    timestamp(exclusion.end().unwrap_or(MAX_TIMESTAMP))
}

/// Parses a timestamp, to the microsecond.
pub(super) fn parse_time(field: &str, timestamp: Timestamp) -> Result<UnixMicros, BadField> {
    let Timestamp { seconds, nanos } = timestamp;
    let bad = || BadField::new(field, "a time from 1970 to 9999, nanos from 0 to 999999999");
    let seconds = u64::try_from(seconds).map_err(|_| bad())?;
    let nanos = u64::try_from(nanos).ok().filter(|nanos| *nanos < 1_000_000_000).ok_or_else(bad)?;
    let micros = seconds.checked_mul(1_000_000).and_then(|it| it.checked_add(nanos / 1000));
    micros.map(UnixMicros).filter(|time| *time <= MAX_TIMESTAMP).ok_or_else(bad)
}

pub(super) const CSV_HEADER: &str = "position,record_time,kind,amount_credits,at_table_credits,balance_credits,total_credits,transfer_id,hand_id,table_id,reason\r\n";

/// Writes a line as CSV, with the player's credits after it.
pub(super) fn write_csv_line(to: &mut String, line: &StatementLine, now: Holdings) {
    let kind = transfer_kind(line.kind).as_str_name().trim_start_matches("TRANSFER_KIND_");
    let transfer = line.transfer.map(|id| id.to_string()).unwrap_or_default();
    let hand = hand_of(line).map(|hand| hand.to_string()).unwrap_or_default();
    let table = line.table.map(|table| table.to_string()).unwrap_or_default();
    let StatementLine { position, amount, at_table, recorded_at, reason, .. } = line;
    let Holdings { balance, total } = now;
    write!(
        to,
        "{},{},{kind},{amount},{at_table},{balance},{total},{transfer},{hand},{table},",
        position.0,
        recorded_at.map(rfc3339).unwrap_or_default()
    )
    .expect("writing into a String cannot fail");
    write_csv_text(to, reason.as_deref().unwrap_or_default());
    to.push_str("\r\n");
}

fn write_csv_text(to: &mut String, text: &str) {
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

/// Writes a line as JSON, by the protobuf JSON mapping of an entry, with the player's credits after
/// it.
pub(super) fn write_json_line(to: &mut String, line: &StatementLine, now: Holdings) {
    let transfer = line.transfer.map(|id| id.to_string()).unwrap_or_default();
    let StatementLine { position, amount, at_table, recorded_at, reason, table, .. } = line;
    let Holdings { balance, total } = now;
    write!(
        to,
        "{{\"transferId\":\"{transfer}\",{}\"kind\":\"{}\",\
         \"amountCredits\":\"{amount}\",\"balanceCredits\":\"{balance}\",\"atTableCredits\":\"{at_table}\",\
         \"totalCredits\":\"{total}\"",
        recorded_at
            .map(|at| format!("\"recordTime\":\"{}\",", rfc3339(at)))
            .unwrap_or_default(),
        transfer_kind(line.kind).as_str_name(),
    )
    .expect("writing into a String cannot fail");
    let ids = [
        ("handId", hand_of(line).map(|hand| hand.to_string())),
        ("tableId", table.map(|table| table.to_string())),
    ];
    for (name, id) in ids {
        if let Some(id) = id {
            write!(to, ",\"{name}\":\"{id}\"").expect("writing into a String cannot fail");
        }
    }
    if let Some(reason) = reason {
        to.push_str(",\"reason\":");
        write_json_string(to, reason);
    }
    write!(to, ",\"position\":\"{}\"}}", position.0).expect("writing into a String cannot fail");
}

fn write_json_string(to: &mut String, text: &str) {
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

/// Kind of a transfer, as the API names it.
pub(super) fn transfer_kind(number: i16) -> TransferKind {
    TransferKind::try_from(i32::from(number)).unwrap_or(TransferKind::Unspecified)
}

/// Hand of a line: a settlement's id is its hand's.
pub(super) fn hand_of(line: &StatementLine) -> Option<HandId> {
    let settles = transfer_kind(line.kind) == TransferKind::Settlement;
    line.transfer.filter(|_| settles).map(|id| HandId(id.0))
}

#[cfg(test)]
mod tests {
    use eventlog::Position;
    use ledger::Amount;
    use primitives::{Credits, RequestId, TableId};

    use super::*;

    const NOW: Holdings = Holdings { balance: 60, total: 100 };

    fn line(reason: Option<&str>) -> StatementLine {
        let amount = Amount::debit(Credits::of(40));
        StatementLine {
            position: Position(7),
            amount,
            at_table: amount.negated(),
            kind: 3,
            reason: reason.map(str::to_owned),
            table: Some(TableId([0xAA; 16])),
            recorded_at: Some(UnixMicros(1_700_000_000_123_456)),
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
            let mut written_line = String::new();
            write_csv_line(&mut written_line, &line(reason), NOW);
            let expected = format!(
                "7,2023-11-14T22:13:20.123456Z,BUY_IN,-40,40,60,100,\
                 02020202-0202-0202-0202-020202020202,,\
                 aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa,{written}\r\n"
            );
            assert_eq!(written_line, expected);
        }
        assert_eq!(CSV_HEADER.matches(',').count(), 10);
    }

    #[test]
    fn a_settlement_names_its_hand() {
        let settled = StatementLine { kind: 5, amount: Amount::ZERO, ..line(None) };
        let mut text = String::new();
        write_json_line(&mut text, &settled, NOW);
        assert!(text.contains("\"handId\":\"02020202-0202-0202-0202-020202020202\""), "{text}");
        let mut text = String::new();
        write_csv_line(&mut text, &settled, NOW);
        let id = "02020202-0202-0202-0202-020202020202";
        assert!(text.contains(&format!(",0,40,60,100,{id},{id},")), "{text}");
        assert_eq!(hand_of(&line(None)), None);
    }

    #[test]
    fn an_entry_is_json_as_protobuf_maps_it() {
        let mut text = String::new();
        write_json_line(&mut text, &line(Some("a \"b\" \\ \u{7}")), NOW);
        assert_eq!(
            text,
            "{\"transferId\":\"02020202-0202-0202-0202-020202020202\",\
             \"recordTime\":\"2023-11-14T22:13:20.123456Z\",\"kind\":\"TRANSFER_KIND_BUY_IN\",\
             \"amountCredits\":\"-40\",\"balanceCredits\":\"60\",\"atTableCredits\":\"40\",\"totalCredits\":\"100\",\"tableId\":\"aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa\",\
             \"reason\":\"a \\\"b\\\" \\\\ \\u0007\",\"position\":\"7\"}"
        );
    }

    #[test]
    fn times_are_taken_where_they_can_be_read() {
        let good = Timestamp { seconds: 1, nanos: 2_999 };
        assert_eq!(parse_time("until", good), Ok(UnixMicros(1_000_002)));
        assert_eq!(parse_time("until", exclusion_end(Exclusion::ForGood)), Ok(MAX_TIMESTAMP));
        for (seconds, nanos) in [(-1, 0), (0, -1), (0, 1_000_000_000), (253_402_300_800, 0)] {
            assert!(parse_time("until", Timestamp { seconds, nanos }).is_err());
        }
    }
}

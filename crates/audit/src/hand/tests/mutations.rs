//! Every record left out, doubled, or changed in one byte.

use super::*;

/// Indices of the hand's own records, from the dealer's commitment on.
fn own_records(honest: &TableFixture) -> Vec<usize> {
    let entries = &honest.script.entries;
    let first = entries.iter().position(|it| it.log == LogName::Dealer).unwrap();
    let last = |it: &AnyRecord| matches!(it, Table(TableRecord::HandFinished(_)));
    let last = entries.iter().rposition(|it| last(&it.recorded)).unwrap();
    let own = hand_id(honest.table, 1).into();
    let ours = |index: &usize| {
        let entry = &entries[*index];
        let opens = matches!(entry.recorded, Wallet(WalletRecord::AccountOpened(_)));
        let next = |it: &pb::HandCommitted| it.hand_no == 2;
        let next = matches!(&entry.recorded, Table(TableRecord::HandCommitted(it)) if next(it));
        (entry.log != LogName::Dealer || entry.stream == own) && !opens && !next
    };
    (first..=last).filter(ours).collect()
}

#[test]
fn no_record_can_be_left_out() {
    let honest = room();
    for index in own_records(&honest) {
        let name = honest.script.entries[index].recorded.name();
        let report = after(|entries| {
            entries.remove(index);
        });
        assert!(!report.passed(), "{name} at {index} is not missed");
    }
}

#[test]
fn no_record_can_be_listed_twice() {
    let honest = room();
    for index in own_records(&honest) {
        let report = after(|entries| entries.insert(index, entries[index].clone()));
        let name = honest.script.entries[index].recorded.name();
        assert!(!report.passed(), "{name} at {index} twice is not noticed");
    }
}

/// Clears the fields that no check covers: the caller of the dealer, a time bank that is charged
/// too little, and the size of a bet that nobody matched, since such a bet is returned.
fn checked_part(recorded: &AnyRecord) -> AnyRecord {
    let mut part = recorded.clone();
    if let Dealer(DealerRecord::CardsOpened(opened)) = &mut part {
        opened.caller.clear();
    }
    if let Table(TableRecord::MoveDecided(decided)) = &mut part {
        decided.bank_used_ms = 0;
        decided.r#move.as_mut().unwrap().amount_credits = 0;
    }
    part
}

#[test]
fn no_byte_can_be_changed() {
    let honest = room();
    let notes = audit(&proved(&honest, 1)).notes;
    let entries = &honest.script.entries;
    for index in own_records(&honest) {
        let entry = &entries[index];
        let honest_event = entry.recorded.on_stream(entry.stream);
        let whole = honest_event.payload;
        // One byte in four, different ones in each record.
        for byte in (index % 4..whole.len()).step_by(4) {
            let mut payload = whole.to_vec();
            payload[byte] ^= 1;
            let mut event = honest.script.events(LogName::Table).remove(0);
            (event.kind, event.payload) = (honest_event.kind, payload.into());
            let Ok(changed) = AnyRecord::decode(entry.log, &event) else { continue };
            if checked_part(&changed) == checked_part(&entry.recorded) {
                continue;
            }
            let report = after(|entries| entries[index].recorded = changed);
            // A default that is passed off as the player's own decision is noted if it came too
            // late.
            let noticed = !report.passed() || report.notes != notes;
            let name = entry.recorded.name();
            assert!(noticed, "{name} at {index}, byte {byte}, is not noticed");
        }
    }
}

#[test]
fn what_this_program_cannot_read_is_no_pass() {
    let mut records = proved(&room(), 1);
    let last = records.hand.last_mut().unwrap();
    // A field with an unknown number and content.
    last.payload = [&last.payload[..], &[0x7a, 2, b'S', b'1']].concat().into();
    let report = audit(&records);
    assert_eq!(fails(&report), []);
    assert!(matches!(report.checks.of(Check::Streams), Some(Verdict::NotPossible(_))));
}

//! One break in each test, and exactly the check that is there for it fails.

use primitives::UnixMicros;
use proto::common::v1::CardRef;
use proto::dealer::v1::{self as dealer, OpeningReason};

use super::*;
use crate::tests::fixture::BANK_SECONDS;

/// Returns the first event of a kind that matches, to be changed.
macro_rules! the {
    ($entries:expr, $log:ident($record:ident::$kind:ident)) => {
        the!($entries, $log($record::$kind), |_: &pb::$kind| true)
    };
    ($entries:expr, $log:ident($record:ident::$kind:ident), $fits:expr) => {
        $entries
            .iter_mut()
            .find_map(|entry| match &mut entry.recorded {
                AnyRecord::$log($record::$kind(it)) if $fits(it) => Some(it),
                _ => None,
            })
            .unwrap()
    };
}

fn index_of(entries: &[Entry], test: impl Fn(&AnyRecord) -> bool) -> usize {
    entries.iter().position(|entry| test(&entry.recorded)).unwrap()
}

/// Checks that exactly these checks fail after `edit`.
fn check(failing: &[Check], edit: impl FnOnce(&mut Vec<Entry>)) {
    let report = after(edit);
    assert_eq!(fails(&report), failing, "{report:#?}");
}

fn delay(entry: &mut Entry, seconds: u64) {
    entry.at = UnixMicros(entry.at.0 + seconds * 1_000_000);
}

fn reveal(cards: &[CardRef], seat: u32, reason: OpeningReason) -> AnyRecord {
    let cards = cards.iter().map(|it| dealer::Handle { op: it.op, position: it.position });
    let opening =
        dealer::Opening { cards: cards.collect(), audience_seat: seat, reason: reason.into() };
    let caller = "operator/curious".to_owned();
    Dealer(pb::CardsOpened { opening: Some(opening), caller }.into())
}

/// Inserts a record of the dealer right after the entry at `index`.
fn insert_reveal(entries: &mut Vec<Entry>, index: usize, recorded: AnyRecord) {
    let (stream, at) = (at_hand(entries), entries[index].at);
    entries.insert(index + 1, Entry { log: LogName::Dealer, stream, at, recorded });
}

fn at_hand(entries: &[Entry]) -> primitives::StreamId {
    entries[index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedCommitted(_))))].stream
}

/// fairness/SPEC.md §10.1.
#[test]
fn streams() {
    let broken = |edit: fn(&mut HandRecords)| {
        let mut records = proved(&room(), 1);
        edit(&mut records);
        assert_eq!(fails(&audit(&records)), [Check::Streams]);
    };
    broken(|it| it.hand.last_mut().unwrap().previous[0] ^= 1);
    broken(|it| it.dealer.last_mut().unwrap().previous[0] ^= 1);
    broken(|it| it.hand.last_mut().unwrap().version.0 += 1);
    broken(|it| it.table.last_mut().unwrap().recorded_at = UnixMicros(1));
    broken(|it| it.table[0].stream = primitives::StreamId([3; 16]));
    broken(|it| it.wallet[0].stream = primitives::StreamId([3; 16]));
    check(&[Check::Streams], |entries| {
        let again = entries
            [index_of(entries, |it| matches!(it, Table(TableRecord::HandRevealed(_))))]
        .clone();
        entries.push(again);
    });
    check(&[Check::Streams], |entries| {
        the!(entries, Table(TableRecord::HandStarted)).hand_id = vec![9; 16].into();
    });
}

/// fairness/SPEC.md §10.2.
#[test]
fn commitment() {
    check(&[Check::Commitment], |entries| {
        the!(entries, Table(TableRecord::HandCommitted)).commitment.as_mut().unwrap().commitment
            [0] ^= 1;
    });
    // A signature that is not the dealer's, wherever it stands.
    check(&[Check::Commitment], |entries| {
        the!(entries, Dealer(DealerRecord::SeedCommitted))
            .commitment
            .as_mut()
            .unwrap()
            .signature[0] ^= 1;
        the!(entries, Table(TableRecord::HandCommitted)).commitment.as_mut().unwrap().signature
            [0] ^= 1;
        the!(entries, Table(TableRecord::HandOpened)).commitment.as_mut().unwrap().signature[0] ^=
            1;
    });
    check(&[Check::Commitment], |entries| {
        let rules = &mut the!(entries, Table(TableRecord::HandOpened)).rule_set;
        *rules = rules.replace("max_rounds = 12", "max_rounds = 13");
        assert!(rules.contains("13"));
        let rules = rules.clone();
        the!(entries, Table(TableRecord::TableCreated)).rule_set = rules;
    });
    // Noted after the opening, and so after seats' commitments: their time begins with it.
    check(&[Check::Commitment, Check::Closing], |entries| {
        let opened = index_of(entries, |it| matches!(it, Table(TableRecord::HandOpened(_))));
        let noted = index_of(entries, |it| matches!(it, Table(TableRecord::HandCommitted(_))));
        let mut noted = entries.remove(noted);
        noted.at = entries[opened - 1].at;
        entries.insert(opened, noted);
    });
    check(&[Check::Commitment], |entries| {
        let committed =
            index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedCommitted(_))));
        delay(&mut entries[committed], 5);
        let closed =
            index_of(entries, |it| matches!(it, Dealer(DealerRecord::CommitmentsClosed(_))));
        entries[closed..].iter_mut().for_each(|entry| delay(entry, 10));
    });
    let mut records = proved(&room(), 1);
    records.dealer_keys = vec![TextKey { key: [1; 32], until: None }];
    assert_eq!(fails(&audit(&records)), [Check::Commitment, Check::Closing]);
}

/// fairness/SPEC.md §10.3.
#[test]
fn transcript() {
    let flip = |bytes: &mut bytes::Bytes| {
        let mut flipped = bytes.to_vec();
        flipped[0] ^= 1;
        *bytes = flipped.into();
    };
    check(&[Check::Transcript], |entries| {
        flip(&mut the!(entries, Table(TableRecord::HandSealed)).transcript)
    });
    check(&[Check::Transcript], |entries| {
        flip(&mut the!(entries, Dealer(DealerRecord::SeedSealed)).transcript)
    });
    check(&[Check::Transcript], |entries| {
        the!(entries, Dealer(DealerRecord::SeedSealed)).beacon = vec![1; 41].into();
    });
    check(&[Check::Transcript], |entries| {
        the!(entries, Table(TableRecord::HandSealed)).rows[0].entropy[0] ^= 1;
    });
    // A seat's entropy is left out by both.
    check(&[Check::Transcript], |entries| {
        the!(entries, Table(TableRecord::HandSealed)).rows.remove(0);
        the!(entries, Dealer(DealerRecord::SeedSealed)).rows.remove(0);
    });
}

/// fairness/SPEC.md §10.4.
#[test]
fn seed() {
    check(&[Check::Seed], |entries| {
        the!(entries, Table(TableRecord::HandRevealed)).seed = vec![5; 64].into();
    });
    check(&[Check::Seed], |entries| {
        the!(entries, Dealer(DealerRecord::SeedOpened)).seed = vec![5; 64].into();
        the!(entries, Table(TableRecord::HandRevealed)).seed = vec![5; 64].into();
    });
    // The seed was open while there was still something to decide.
    check(&[Check::Seed], |entries| {
        let settled = index_of(entries, |it| matches!(it, Table(TableRecord::HandSettled(_))));
        let later_on = entries[settled..].iter_mut().filter(|it| it.log != LogName::Dealer);
        later_on.for_each(|entry| delay(entry, 2));
    });
}

/// fairness/SPEC.md §10.5.
#[test]
fn operations() {
    let rolls = |it: &pb::OperationPerformed| it.result.as_ref().unwrap().values.len() == 2;
    let rolled = |it: &pb::ChanceUsed| it.result.as_ref().unwrap().values.len() == 2;
    let other = |result: &mut Option<dealer::OperationResult>| {
        let value = &mut result.as_mut().unwrap().values[0];
        *value = *value % 6 + 1;
    };
    check(&[Check::Operations], |entries| {
        other(&mut the!(entries, Dealer(DealerRecord::OperationPerformed), rolls).result);
    });
    check(&[Check::Operations], |entries| {
        other(&mut the!(entries, Dealer(DealerRecord::OperationPerformed), rolls).result);
        other(&mut the!(entries, Table(TableRecord::ChanceUsed), rolled).result);
    });
    // Rolled once more than the hand shows.
    check(&[Check::Operations], |entries| {
        let last = entries
            .iter()
            .rposition(|it| matches!(it.recorded, Dealer(DealerRecord::OperationPerformed(_))));
        let mut again = entries[last.unwrap()].clone();
        if let Dealer(DealerRecord::OperationPerformed(done)) = &mut again.recorded {
            done.operation.as_mut().unwrap().index += 1;
            done.result.as_mut().unwrap().index += 1;
        }
        entries.insert(last.unwrap() + 1, again);
    });
}

/// fairness/SPEC.md §10.5.
#[test]
fn cards() {
    check(&[Check::Cards], |entries| {
        let shown = &mut the!(entries, Table(TableRecord::CardsShown)).cards[0].card;
        *shown = if shown == "S1" { "S2" } else { "S1" }.to_owned();
    });
    check(&[Check::Cards], |entries| {
        the!(entries, Table(TableRecord::CardsShown)).cards.pop();
    });
    check(&[Check::Cards], |entries| {
        the!(entries, Table(TableRecord::CardsShown)).seat += 5;
    });
    check(&[Check::Cards], |entries| {
        the!(entries, Table(TableRecord::CardsMoved)).cards[0].card = "S1".to_owned();
    });
    check(&[Check::Cards], |entries| {
        the!(entries, Table(TableRecord::CardsMoved)).cards[0].position += 1;
    });
    check(&[Check::Cards], |entries| {
        let decided = the!(entries, Table(TableRecord::MoveDecided));
        decided.r#move.as_mut().unwrap().cards.push("S1".to_owned());
    });
}

/// fairness/SPEC.md §3.9, §10.5.
#[test]
fn openings() {
    let first = |entries: &mut Vec<Entry>| the!(entries, Table(TableRecord::CardsMoved)).clone();
    let bottom = [CardRef { op: 0, position: 75, card: String::new(), salt: Vec::new() }];
    let last_move = |entries: &[Entry]| {
        entries
            .iter()
            .rposition(|it| matches!(it.recorded, Table(TableRecord::MoveDecided(_))))
            .unwrap()
    };
    // A card that nobody was dealt, for every reason there is.
    for (seat, reason) in [
        (1, OpeningReason::Deal),
        (0, OpeningReason::Rule),
        (0, OpeningReason::Show),
        (1, OpeningReason::Recovery),
        (1, OpeningReason::Unspecified),
    ] {
        check(&[Check::Openings], |entries| {
            let index = last_move(entries);
            insert_reveal(entries, index, reveal(&bottom, seat, reason));
        });
    }
    // A dealt card is revealed a second time, and to another audience.
    for (seat, reason) in [
        (0, OpeningReason::Deal),
        (0, OpeningReason::Rule),
        (99, OpeningReason::Deal),
        (99, OpeningReason::Recovery),
        (0, OpeningReason::Recovery),
    ] {
        check(&[Check::Openings], |entries| {
            let moved = first(entries);
            let index = last_move(entries);
            insert_reveal(entries, index, reveal(&moved.cards, seat, reason));
        });
    }
    check(&[Check::Openings], |entries| {
        let moved = first(entries);
        let index = last_move(entries);
        insert_reveal(entries, index, reveal(&moved.cards, moved.seat, OpeningReason::Deal));
    });
    // A shown hand, before the others had decided.
    check(&[Check::Openings], |entries| {
        let shown = the!(entries, Table(TableRecord::CardsShown)).cards.clone();
        let decided = index_of(entries, |it| matches!(it, Table(TableRecord::MoveDecided(_))));
        insert_reveal(entries, decided - 1, reveal(&shown[..1], 0, OpeningReason::Show));
    });
    check(&[Check::Openings], |entries| {
        let index = index_of(entries, |it| matches!(it, Dealer(DealerRecord::CardsOpened(_))));
        entries.remove(index);
    });
    // Opened before the decision that the card was dealt for.
    check(&[Check::Openings], |entries| {
        let draws = |pair: &[Entry]| {
            matches!(pair[0].recorded, Table(TableRecord::MoveDecided(_)))
                && matches!(pair[1].recorded, Dealer(DealerRecord::CardsOpened(_)))
        };
        let decided = entries.windows(2).position(draws).unwrap();
        entries[decided..].iter_mut().for_each(|entry| delay(entry, 1));
        entries[decided + 1].at = entries[decided - 1].at;
    });
}

#[test]
fn who_lost_his_memory_may_ask_again_and_it_is_noted() {
    let report = after(|entries| {
        let moved = the!(entries, Table(TableRecord::CardsMoved)).clone();
        let end = entries.len() - 1;
        insert_reveal(entries, end, reveal(&moved.cards, moved.seat, OpeningReason::Recovery));
    });
    assert!(report.passed(), "{report:#?}");
    let noted = |what: &str| report.notes.iter().any(|note| note.contains(what));
    assert!(noted("after a loss of memory") && noted("operator/curious, service/table"));
}

/// fairness/SPEC.md §10.6.
#[test]
fn decisions() {
    check(&[Check::Decisions], |entries| {
        the!(entries, Table(TableRecord::MoveDecided)).turn += 1;
    });
    check(&[Check::Decisions], |entries| {
        let bets = |it: &pb::MoveDecided| it.r#move.as_ref().unwrap().amount_credits > 0;
        the!(entries, Table(TableRecord::MoveDecided), bets)
            .r#move
            .as_mut()
            .unwrap()
            .amount_credits = 1_000_000;
    });
    check(&[Check::Decisions], |entries| {
        the!(entries, Table(TableRecord::MoveDecided)).seat += 1;
    });
    // The clock, in its own time and counted as such, but not its own move. Later signatures are
    // over another chain.
    check(&[Check::Decisions, Check::Signatures], |entries| {
        let bets = |it: &pb::MoveDecided| it.r#move.as_ref().unwrap().amount_credits > 0;
        let index =
            index_of(entries, |it| matches!(it, Table(TableRecord::MoveDecided(it)) if bets(it)));
        entries[index..].iter_mut().for_each(|entry| delay(entry, 60));
        let seat = the!(entries, Table(TableRecord::MoveDecided), bets).seat;
        the!(entries, Table(TableRecord::MoveDecided), bets).by_clock = true;
        let (mut bank, mut missed) = (BANK_SECONDS * 1000, 0);
        for (position, entry) in entries.iter_mut().enumerate() {
            if let Table(TableRecord::MoveDecided(it)) = &mut entry.recorded
                && it.seat == seat
            {
                let all = position == index || (position > index && it.by_clock);
                it.bank_used_ms = if all { bank } else { it.bank_used_ms.min(bank) };
                bank -= it.bank_used_ms;
                missed = if it.by_clock { missed + 1 } else { 0 };
            }
        }
        let finished = the!(entries, Table(TableRecord::HandFinished));
        let place = finished.seats.iter().position(|it| it.seat == seat).unwrap();
        finished.misses[place] = missed;
    });
}

fn by_clock(it: &AnyRecord) -> bool {
    matches!(it, Table(TableRecord::MoveDecided(it)) if it.by_clock)
}

/// fairness/SPEC.md §10.6.
#[test]
fn clocks() {
    check(&[Check::Clocks], |entries| {
        let index = index_of(entries, by_clock);
        let second = |entry: &mut Entry| entry.at = UnixMicros(entry.at.0 - 1_000_000);
        entries[index..].iter_mut().for_each(second);
    });
    check(&[Check::Clocks], |entries| {
        the!(entries, Table(TableRecord::MoveDecided), |it: &pb::MoveDecided| !it.by_clock)
            .bank_used_ms += 30_000;
    });
    check(&[Check::Clocks], |entries| {
        the!(entries, Table(TableRecord::MoveDecided), |it: &pb::MoveDecided| it.by_clock)
            .bank_used_ms -= 1;
    });
    check(&[Check::Clocks], |entries| {
        the!(entries, Table(TableRecord::HandFinished)).misses[0] += 7
    });
    let resumed = |seconds: u64, turns: u32| {
        move |entries: &mut Vec<Entry>| {
            let index = index_of(entries, by_clock);
            let turn = the!(entries, Table(TableRecord::MoveDecided), |it: &pb::MoveDecided| it
                .by_clock)
            .turn
                + turns;
            let (stream, at) = (entries[index].stream, entries[index - 1].at);
            let deadline_micros = at.0 + seconds * 1_000_000;
            let recorded = Table(pb::ClockResumed { turn, deadline_micros }.into());
            entries[index..].iter_mut().for_each(|entry| delay(entry, 30));
            entries.insert(index, Entry { log: LogName::Table, stream, at, recorded });
        }
    };
    check(&[], resumed(55, 0));
    check(&[Check::Clocks], resumed(1, 0));
    check(&[Check::Clocks], resumed(55, 1));
    check(&[Check::Clocks], resumed(79, 0));
}

/// fairness/SPEC.md §10.6.
#[test]
fn settlement() {
    check(&[Check::Settlement], |entries| {
        the!(entries, Table(TableRecord::HandSettled)).lines[0].text.push('0');
    });
    check(&[Check::Settlement], |entries| {
        the!(entries, Table(TableRecord::HandSettled)).lines.pop();
    });
    check(&[Check::Settlement], |entries| {
        // Two players' stacks are exchanged, everywhere but in the wallet.
        the!(entries, Table(TableRecord::HandSettled)).finishing_stacks.swap(0, 1);
        let seats = &mut the!(entries, Table(TableRecord::HandFinished)).seats;
        (seats[0].stack, seats[1].stack) = (seats[1].stack, seats[0].stack);
    });
    check(&[Check::Settlement], |entries| {
        the!(entries, Table(TableRecord::HandSettled)).sabacc_paid[0] += 1;
        the!(entries, Table(TableRecord::HandFinished)).sabacc_paid[0] += 1;
    });
}

/// fairness/SPEC.md §10.6.
#[test]
fn transfer() {
    let settles = |it: &pb::TransferPosted| !it.hand_id.is_empty();
    check(&[Check::Transfer], |entries| {
        let legs = &mut the!(entries, Wallet(WalletRecord::TransferPosted), settles).legs;
        (legs[0].amount, legs[1].amount) = (legs[0].amount + 1, legs[1].amount - 1);
    });
    check(&[Check::Transfer], |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), settles).legs[0].account =
            "house/rake".to_owned();
    });
    check(&[Check::Transfer], |entries| {
        the!(entries, Wallet(WalletRecord::TransferPosted), settles).kind = 6;
    });
    check(&[Check::Transfer], |entries| {
        the!(entries, Table(TableRecord::SettlementPosted)).position += 1;
    });
    check(&[Check::Transfer], |entries| {
        let settles = |it: &AnyRecord| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if !it.hand_id.is_empty());
        let index = index_of(entries, settles);
        entries.insert(index, entries[index].clone());
    });
}

/// fairness/SPEC.md §10.6.
#[test]
fn conserved() {
    check(&[Check::Conserved], |entries| {
        the!(entries, Table(TableRecord::HandFinished)).seats[0].stack += 1;
    });
    check(&[Check::Conserved], |entries| {
        the!(entries, Table(TableRecord::HandFinished)).sabacc_pot += 1;
    });
    // Made out of nothing, these show in every ledger.
    check(&[Check::Settlement, Check::Conserved], |entries| {
        the!(entries, Table(TableRecord::HandSettled)).finishing_stacks[0] += 1;
        the!(entries, Table(TableRecord::HandFinished)).seats[0].stack += 1;
    });
    check(&[Check::Transfer, Check::Conserved], |entries| {
        let settles = |it: &pb::TransferPosted| !it.hand_id.is_empty();
        the!(entries, Wallet(WalletRecord::TransferPosted), settles).legs[0].amount += 1;
    });
}

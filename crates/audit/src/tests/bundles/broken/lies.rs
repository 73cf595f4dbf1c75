//! False records under valid proofs.

use crate::hand::Check;
use crate::tests::fixture::AnyRecord::{Dealer, Table, Wallet};
use crate::tests::fixture::{Entry, LogName, SuspensionEnd, TableFixture};
use primitives::UnixMicros;
use proto::dealer::v1 as dealer;
use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord, WalletRecord};

use super::{
    Golden, aborts, broken_hand, closing, delay, index_of, openings, played, rich, signatures,
    starts, streams, the,
};
use crate::tests::bundles::honest::{delayed, silent};

pub(super) fn all() -> Vec<Golden> {
    let mut all = commitment();
    all.extend(closing::all());
    all.extend(transcript());
    all.extend(signatures::all());
    all.extend(starts::all());
    all.extend(streams::all());
    all.extend(aborts::all());
    all.extend(seed());
    all.extend(operations());
    all.extend(cards());
    all.extend(openings::all());
    all.extend(decisions());
    all.extend(clocks());
    all.extend(credits());
    all
}

fn commitment() -> Vec<Golden> {
    let honest = rich();
    let breaks = |name, edit: &dyn Fn(&mut Vec<Entry>)| {
        broken_hand(name, honest.clone(), Check::Commitment, edit)
    };
    vec![
        breaks("commitment-after-opening", &commitment_after_opening),
        breaks("commitment-dealer-late", &|entries| {
            let committed =
                index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedCommitted(_))));
            delay(&mut entries[committed], 5_000_000);
            let closed =
                index_of(entries, |it| matches!(it, Dealer(DealerRecord::CommitmentsClosed(_))));
            entries[closed..].iter_mut().for_each(|entry| delay(entry, 10_000_000));
        }),
        breaks("commitment-second", &|entries| {
            let first =
                index_of(entries, |it| matches!(it, Dealer(DealerRecord::SeedCommitted(_))));
            let (_, other) = honest.signed_commitment(1, [42; 64]);
            let mut entry = entries[first].clone();
            entry.recorded = Dealer(honest.seed_committed(1, other).into());
            entries.insert(first + 1, entry);
        }),
        breaks("commitment-noted-twice", &|entries| {
            let first = index_of(entries, |it| matches!(it, Table(TableRecord::HandCommitted(_))));
            let (_, other) = honest.signed_commitment(1, [42; 64]);
            let mut entry = entries[first].clone();
            let noted = pb::HandCommitted { hand_no: 1, commitment: Some(other) };
            entry.recorded = Table(noted.into());
            entries.insert(first + 1, entry);
        }),
        breaks("commitment-other-rules", &|entries| {
            let rules = &mut the!(entries, Table(TableRecord::HandOpened)).rule_set;
            *rules = rules.replace("max_rounds = 12", "max_rounds = 13");
            let rules = rules.clone();
            the!(entries, Table(TableRecord::TableCreated)).rule_set = rules;
        }),
        breaks("commitment-not-signed", &|entries| {
            the!(entries, Dealer(DealerRecord::SeedCommitted))
                .commitment
                .as_mut()
                .unwrap()
                .signature[0] ^= 1;
            the!(entries, Table(TableRecord::HandCommitted))
                .commitment
                .as_mut()
                .unwrap()
                .signature[0] ^= 1;
            the!(entries, Table(TableRecord::HandOpened)).commitment.as_mut().unwrap().signature
                [0] ^= 1;
        }),
        breaks("commitment-noted-another", &|entries| {
            the!(entries, Table(TableRecord::HandCommitted))
                .commitment
                .as_mut()
                .unwrap()
                .commitment[0] ^= 1;
        }),
        breaks("commitment-entropy-before-it", &|entries| {
            let noted = index_of(entries, |it| matches!(it, Table(TableRecord::HandCommitted(_))));
            let given =
                index_of(entries, |it| matches!(it, Table(TableRecord::EntropyCommitted(_))));
            let mut given = entries.remove(given);
            given.at = entries[noted].at;
            entries.insert(noted, given);
        }),
    ]
}

/// Moves the record of the dealer's commitment behind the opening of the hand.
fn commitment_after_opening(entries: &mut Vec<Entry>) {
    let opened = index_of(entries, |it| matches!(it, Table(TableRecord::HandOpened(_))));
    let noted = index_of(entries, |it| matches!(it, Table(TableRecord::HandCommitted(_))));
    // The seats' commitments come after it, as they must.
    let mut moved = entries.remove(noted);
    moved.at = entries[opened - 1].at;
    let mut opened = entries.remove(opened - 1);
    opened.at = entries[noted - 1].at;
    let started = index_of(entries, |it| matches!(it, Table(TableRecord::HandStarted(_))));
    let mut started = entries.remove(started);
    started.at = opened.at;
    moved.at = opened.at;
    entries.splice(noted..noted, [started, opened, moved]);
}

fn transcript() -> Vec<Golden> {
    let honest = rich();
    let breaks = |name, edit: &dyn Fn(&mut Vec<Entry>)| {
        broken_hand(name, honest.clone(), Check::Transcript, edit)
    };
    vec![
        breaks("transcript-entropy-does-not-open", &|entries| {
            let entropy = &mut the!(entries, Table(TableRecord::EntropyRevealed)).entropy;
            let mut other = entropy.to_vec();
            other[0] ^= 1;
            *entropy = other.into();
        }),
        breaks("transcript-logs-differ", &|entries| {
            the!(entries, Table(TableRecord::HandSealed)).rows[0].entropy[0] ^= 1;
        }),
        breaks("transcript-other-hash", &|entries| {
            let transcript = vec![3; 32];
            the!(entries, Table(TableRecord::HandSealed)).transcript = transcript.into();
        }),
        breaks("transcript-beacon", &|entries| {
            the!(entries, Dealer(DealerRecord::SeedSealed)).beacon = vec![1; 41].into();
        }),
        breaks("transcript-seat-left-out", &|entries| {
            the!(entries, Table(TableRecord::HandSealed)).rows.remove(1);
            the!(entries, Dealer(DealerRecord::SeedSealed)).rows.remove(1);
        }),
        breaks("transcript-sealed-before-all-revealed", &|entries| {
            let revealed = entries
                .iter()
                .rposition(|it| matches!(it.recorded, Table(TableRecord::EntropyRevealed(_))));
            entries.remove(revealed.unwrap());
        }),
        breaks("transcript-revealed-without-commitment", &|entries| {
            let revealed =
                index_of(entries, |it| matches!(it, Table(TableRecord::EntropyRevealed(_))));
            let mut entry = entries[revealed].clone();
            if let Table(TableRecord::EntropyRevealed(it)) = &mut entry.recorded {
                it.seat = 2;
            }
            entries.insert(revealed, entry);
        }),
    ]
}

fn seed() -> Vec<Golden> {
    let delayed = || {
        let mut room = TableFixture::seated_with(40, "dice", 3, delayed());
        assert!(room.play());
        room
    };
    vec![
        broken_hand("seed-wrong", rich(), Check::Seed, |entries| {
            the!(entries, Dealer(DealerRecord::SeedOpened)).seed = vec![5; 64].into();
        }),
        broken_hand("seed-refused-by-the-table", rich(), Check::Seed, |entries| {
            let seed = vec![5; 64].into();
            the!(entries, Dealer(DealerRecord::SeedOpened)).seed = vec![5; 64].into();
            let revealed =
                index_of(entries, |it| matches!(it, Table(TableRecord::HandRevealed(_))));
            entries[revealed].recorded = Table(pb::SeedRefused { seed }.into());
        }),
        broken_hand("seed-refused-though-right", rich(), Check::Seed, |entries| {
            let seed = the!(entries, Table(TableRecord::HandRevealed)).seed.clone();
            let revealed =
                index_of(entries, |it| matches!(it, Table(TableRecord::HandRevealed(_))));
            entries[revealed].recorded = Table(pb::SeedRefused { seed }.into());
        }),
        broken_hand("seed-table-noted-another", rich(), Check::Seed, |entries| {
            the!(entries, Table(TableRecord::HandRevealed)).seed = vec![5; 64].into();
        }),
        broken_hand("seed-opened-in-play", rich(), Check::Seed, |entries| {
            let settled = index_of(entries, |it| matches!(it, Table(TableRecord::HandSettled(_))));
            let rest = entries[settled..].iter_mut().filter(|it| it.log != LogName::Dealer);
            rest.for_each(|entry| delay(entry, 2_000_000));
        }),
        broken_hand("seed-opened-before-its-delay", delayed(), Check::Seed, |entries| {
            for kind in ["SeedOpened", "HandRevealed"] {
                let index = index_of(entries, |it| it.name() == kind);
                entries[index].at = UnixMicros(entries[index].at.0 - 10_000_000);
            }
        }),
    ]
}

fn operations() -> Vec<Golden> {
    let rolls = |it: &pb::OperationPerformed| it.result.as_ref().unwrap().values.len() == 2;
    let rolled = |it: &pb::ChanceUsed| it.result.as_ref().unwrap().values.len() == 2;
    let other = |result: &mut Option<dealer::OperationResult>| {
        let value = &mut result.as_mut().unwrap().values[0];
        *value = *value % 6 + 1;
    };
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Operations, edit);
    vec![
        breaks("operations-other-result", &|entries| {
            other(&mut the!(entries, Dealer(DealerRecord::OperationPerformed), rolls).result);
            other(&mut the!(entries, Table(TableRecord::ChanceUsed), rolled).result);
        }),
        breaks("operations-logs-differ", &|entries| {
            other(&mut the!(entries, Dealer(DealerRecord::OperationPerformed), rolls).result);
        }),
        breaks("operations-one-too-many", &|entries| {
            let last = entries
                .iter()
                .rposition(|it| matches!(it.recorded, Dealer(DealerRecord::OperationPerformed(_))));
            let mut again = entries[last.unwrap()].clone();
            if let Dealer(DealerRecord::OperationPerformed(done)) = &mut again.recorded {
                done.operation.as_mut().unwrap().index += 1;
                done.result.as_mut().unwrap().index += 1;
            }
            entries.insert(last.unwrap() + 1, again);
        }),
        breaks("operations-other-root", &|entries| {
            let root = vec![4; 32];
            the!(entries, Dealer(DealerRecord::OperationPerformed)).result.as_mut().unwrap().root =
                root.clone();
            the!(entries, Table(TableRecord::ChanceUsed)).result.as_mut().unwrap().root = root;
        }),
        breaks("operations-roots-differ", &|entries| {
            the!(entries, Table(TableRecord::ChanceUsed)).result.as_mut().unwrap().root[0] ^= 1;
        }),
        breaks("operations-no-root", &|entries| {
            the!(entries, Dealer(DealerRecord::OperationPerformed))
                .result
                .as_mut()
                .unwrap()
                .root
                .clear();
            the!(entries, Table(TableRecord::ChanceUsed)).result.as_mut().unwrap().root.clear();
        }),
    ]
}

fn cards() -> Vec<Golden> {
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Cards, edit);
    vec![
        breaks("cards-changed", &|entries| {
            let shown = &mut the!(entries, Table(TableRecord::CardsShown)).cards[0].card;
            *shown = if shown == "S1" { "S2" } else { "S1" }.to_owned();
        }),
        breaks("cards-not-all-shown", &|entries| {
            the!(entries, Table(TableRecord::CardsShown)).cards.pop();
        }),
        breaks("cards-wrong-salt", &|entries| {
            the!(entries, Table(TableRecord::CardsShown)).cards[0].salt[0] ^= 1;
        }),
        breaks("cards-no-salt", &|entries| {
            the!(entries, Table(TableRecord::CardsShown)).cards[0].salt.clear();
        }),
        breaks("cards-hidden-written-down", &|entries| {
            let shown = the!(entries, Table(TableRecord::CardsShown)).cards[0].clone();
            let place = (shown.op, shown.position);
            let dealt =
                |it: &pb::CardsMoved| it.cards.iter().any(|card| (card.op, card.position) == place);
            let cards = &mut the!(entries, Table(TableRecord::CardsMoved), dealt).cards;
            let card = cards.iter_mut().find(|card| (card.op, card.position) == place).unwrap();
            *card = shown;
        }),
        breaks("cards-salt-of-a-hidden-card", &|entries| {
            the!(entries, Table(TableRecord::CardsMoved)).cards[0].salt = vec![6; 32];
        }),
        breaks("cards-another-place", &|entries| {
            the!(entries, Table(TableRecord::CardsMoved)).cards[0].position += 1;
        }),
    ]
}

fn decisions() -> Vec<Golden> {
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Decisions, edit);
    let bets = |it: &pb::MoveDecided| it.r#move.as_ref().unwrap().amount_credits > 0;
    vec![
        breaks("decisions-changed", &|entries| {
            the!(entries, Table(TableRecord::MoveDecided), bets)
                .r#move
                .as_mut()
                .unwrap()
                .amount_credits = 1_000_000;
        }),
        breaks("decisions-another-seat", &|entries| {
            the!(entries, Table(TableRecord::MoveDecided)).seat += 1;
        }),
        breaks("decisions-another-turn", &|entries| {
            the!(entries, Table(TableRecord::MoveDecided)).turn += 1;
        }),
    ]
}

/// A suspended hand with other times of its suspension.
fn suspended(
    name: &str,
    after: Option<u32>,
    end: SuspensionEnd,
    edit: impl FnOnce(&mut pb::HandSuspended),
) -> Golden {
    broken_hand(name, played(silent(after, end)), Check::Clocks, |entries| {
        edit(the!(entries, Table(TableRecord::HandSuspended)));
    })
}

fn clocks() -> Vec<Golden> {
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Clocks, edit);
    let by_clock = |it: &pb::MoveDecided| it.by_clock;
    vec![
        suspended("clocks-suspended-too-short-before-antes", None, SuspensionEnd::TooLong, |it| {
            it.until_micros -= 3_600_000_000;
        }),
        suspended("clocks-suspended-for-ever", Some(9), SuspensionEnd::Open, |it| {
            it.until_micros = u64::MAX;
        }),
        suspended("clocks-suspended-without-silence", Some(9), SuspensionEnd::Open, |it| {
            it.since_micros += 5_000_000;
        }),
        breaks("clocks-moved", &|entries| {
            let index = index_of(
                entries,
                |it| matches!(it, Table(TableRecord::MoveDecided(it)) if it.by_clock),
            );
            let second = |entry: &mut Entry| entry.at = UnixMicros(entry.at.0 - 1_000_000);
            entries[index..].iter_mut().for_each(second);
        }),
        breaks("clocks-bank-overcharged", &|entries| {
            the!(entries, Table(TableRecord::MoveDecided), |it: &pb::MoveDecided| !it.by_clock)
                .bank_used_ms += 30_000;
        }),
        breaks("clocks-bank-not-used-up", &|entries| {
            the!(entries, Table(TableRecord::MoveDecided), by_clock).bank_used_ms -= 1;
        }),
        breaks("clocks-misses", &|entries| {
            the!(entries, Table(TableRecord::HandFinished)).misses[0] += 7
        }),
    ]
}

fn credits() -> Vec<Golden> {
    let settles = |it: &pb::TransferPosted| !it.hand_id.is_empty();
    let of =
        |check| move |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), check, edit);
    let (settlement, transfer) = (of(Check::Settlement), of(Check::Transfer));
    let conserved = of(Check::Conserved);
    vec![
        conserved("conserved-other-house-mark", &|entries| {
            let seat = &mut the!(entries, Table(TableRecord::HandFinished)).seats[0];
            seat.house = !seat.house;
        }),
        settlement("settlement-other-line", &|entries| {
            the!(entries, Table(TableRecord::HandSettled)).lines[0].text.push('0');
        }),
        settlement("settlement-other-stacks", &|entries| {
            the!(entries, Table(TableRecord::HandSettled)).finishing_stacks.swap(0, 1);
            let seats = &mut the!(entries, Table(TableRecord::HandFinished)).seats;
            (seats[0].stack, seats[1].stack) = (seats[1].stack, seats[0].stack);
        }),
        transfer("transfer-other-amount", &|entries| {
            let legs = &mut the!(entries, Wallet(WalletRecord::TransferPosted), settles).legs;
            (legs[0].amount, legs[1].amount) = (legs[0].amount + 1, legs[1].amount - 1);
        }),
        transfer("transfer-other-kind", &|entries| {
            the!(entries, Wallet(WalletRecord::TransferPosted), settles).kind = 6;
        }),
        transfer("transfer-twice", &|entries| {
            let index = index_of(
                entries,
                |it| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if !it.hand_id.is_empty()),
            );
            entries.insert(index, entries[index].clone());
        }),
        transfer("transfer-another-position", &|entries| {
            the!(entries, Table(TableRecord::SettlementPosted)).position += 1;
        }),
        conserved("conserved-table-goes-on-with-more", &|entries| {
            the!(entries, Table(TableRecord::HandFinished)).seats[0].stack += 1;
        }),
        conserved("conserved-pot", &|entries| {
            the!(entries, Table(TableRecord::HandFinished)).sabacc_pot += 1;
        }),
        conserved("conserved-called-aborted", &|entries| {
            the!(entries, Table(TableRecord::HandFinished)).aborted = true;
        }),
    ]
}

//! False records under valid proofs.

use crate::hand::Check;
use crate::tests::fixture::{EntropyBehaviour, Entry, HandOptions, LogName, TableFixture};
use primitives::UnixMicros;
use proto::common::v1::CardRef;
use proto::dealer::v1::{self as dealer, OpeningReason};
use proto::event::v1::{self as pb, AtFault};
use wire::Recorded;

use super::{Golden, broken_hand, burnt, delay, golden, index_of, played, rich, the, void};
use crate::tests::bundles::honest::everybody;

pub(super) fn all() -> Vec<Golden> {
    let mut all = commitment();
    all.extend(transcript());
    all.extend(aborts());
    all.extend(seed());
    all.extend(operations());
    all.extend(cards());
    all.extend(openings());
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
        breaks("commitment-after-opening", &|entries| {
            let opened = index_of(entries, |it| matches!(it, Recorded::HandOpened(_)));
            let noted = index_of(entries, |it| matches!(it, Recorded::HandCommitted(_)));
            // The seats' commitments come after it, as they must.
            let mut moved = entries.remove(noted);
            moved.at = entries[opened - 1].at;
            let mut opened = entries.remove(opened - 1);
            opened.at = entries[noted - 1].at;
            let started = index_of(entries, |it| matches!(it, Recorded::HandStarted(_)));
            let mut started = entries.remove(started);
            started.at = opened.at;
            moved.at = opened.at;
            entries.splice(noted..noted, [started, opened, moved]);
        }),
        breaks("commitment-dealer-late", &|entries| {
            let committed = index_of(entries, |it| matches!(it, Recorded::SeedCommitted(_)));
            delay(&mut entries[committed], 5_000_000);
            let sealed = index_of(entries, |it| matches!(it, Recorded::SeedSealed(_)));
            entries[sealed..].iter_mut().for_each(|entry| delay(entry, 10_000_000));
        }),
        breaks("commitment-second", &|entries| {
            let first = index_of(entries, |it| matches!(it, Recorded::SeedCommitted(_)));
            let (_, other) = honest.signed_commitment(1, [42; 64]);
            let mut entry = entries[first].clone();
            entry.recorded = honest.seed_committed(1, other).into();
            entries.insert(first + 1, entry);
        }),
        breaks("commitment-noted-twice", &|entries| {
            let first = index_of(entries, |it| matches!(it, Recorded::HandCommitted(_)));
            let (_, other) = honest.signed_commitment(1, [42; 64]);
            let mut entry = entries[first].clone();
            entry.recorded = pb::HandCommitted { hand_no: 1, commitment: Some(other) }.into();
            entries.insert(first + 1, entry);
        }),
        breaks("commitment-other-rules", &|entries| {
            let rules = &mut the!(entries, HandOpened).rule_set;
            *rules = rules.replace("max_rounds = 12", "max_rounds = 13");
        }),
        breaks("commitment-not-signed", &|entries| {
            the!(entries, SeedCommitted).commitment.as_mut().unwrap().signature[0] ^= 1;
            the!(entries, HandCommitted).commitment.as_mut().unwrap().signature[0] ^= 1;
            the!(entries, HandOpened).commitment.as_mut().unwrap().signature[0] ^= 1;
        }),
        breaks("commitment-noted-another", &|entries| {
            the!(entries, HandCommitted).commitment.as_mut().unwrap().commitment[0] ^= 1;
        }),
        breaks("commitment-entropy-before-it", &|entries| {
            let noted = index_of(entries, |it| matches!(it, Recorded::HandCommitted(_)));
            let given = index_of(entries, |it| matches!(it, Recorded::EntropyCommitted(_)));
            let mut given = entries.remove(given);
            given.at = entries[noted].at;
            entries.insert(noted, given);
        }),
    ]
}

fn transcript() -> Vec<Golden> {
    let honest = rich();
    let breaks = |name, edit: &dyn Fn(&mut Vec<Entry>)| {
        broken_hand(name, honest.clone(), Check::Transcript, edit)
    };
    let dropped = played(HandOptions {
        entropy: [(1, EntropyBehaviour::Dropped)].into(),
        ..HandOptions::default()
    });
    let alone = played(HandOptions { without_entropy: true, ..HandOptions::default() });
    vec![
        golden("transcript-commitment-dropped", dropped.bundle(1), &[Check::Transcript]),
        golden("transcript-no-part-for-seats", alone.bundle(1), &[Check::Transcript]),
        breaks("transcript-entropy-does-not-open", &|entries| {
            let entropy = &mut the!(entries, EntropyRevealed).entropy;
            let mut other = entropy.to_vec();
            other[0] ^= 1;
            *entropy = other.into();
        }),
        breaks("transcript-logs-differ", &|entries| {
            the!(entries, HandSealed).rows[0].entropy[0] ^= 1;
        }),
        breaks("transcript-other-hash", &|entries| {
            let transcript = vec![3; 32];
            the!(entries, HandSealed).transcript = transcript.into();
        }),
        breaks("transcript-beacon", &|entries| {
            the!(entries, SeedSealed).beacon = vec![1; 41].into();
        }),
        breaks("transcript-seat-left-out", &|entries| {
            the!(entries, HandSealed).rows.remove(1);
            the!(entries, SeedSealed).rows.remove(1);
        }),
        breaks("transcript-closed-early", &|entries| {
            the!(entries, HandOpened).entropy_deadline_micros += 5_000_000;
        }),
        breaks("transcript-sealed-before-all-revealed", &|entries| {
            let revealed =
                entries.iter().rposition(|it| matches!(it.recorded, Recorded::EntropyRevealed(_)));
            entries.remove(revealed.unwrap());
        }),
        breaks("transcript-committed-twice", &|entries| {
            let given = index_of(entries, |it| matches!(it, Recorded::EntropyCommitted(_)));
            entries.insert(given, entries[given].clone());
        }),
        breaks("transcript-revealed-without-commitment", &|entries| {
            let revealed = index_of(entries, |it| matches!(it, Recorded::EntropyRevealed(_)));
            let mut entry = entries[revealed].clone();
            if let Recorded::EntropyRevealed(it) = &mut entry.recorded {
                it.seat = 2;
            }
            entries.insert(revealed, entry);
        }),
    ]
}

fn aborts() -> Vec<Golden> {
    vec![
        broken_hand("transcript-burnt-for-another-seat", burnt(), Check::Transcript, |entries| {
            the!(entries, HandAborted).seats = vec![3];
        }),
        broken_hand(
            "transcript-burnt-without-ground",
            burnt_without_ground(),
            Check::Transcript,
            |_| (),
        ),
        broken_hand("transcript-burnt-too-early", burnt(), Check::Transcript, |entries| {
            the!(entries, EntropyClosed).deadline_micros += 5_000_000;
        }),
        broken_hand("transcript-aborted-by-nobody", void(), Check::Transcript, |entries| {
            the!(entries, HandAborted).set_at_fault(AtFault::Unspecified);
        }),
        broken_hand("seed-of-aborted-hand-opened-early", void(), Check::Seed, |entries| {
            let aborted = index_of(entries, |it| matches!(it, Recorded::HandAborted(_)));
            let rest = entries[aborted..].iter_mut().filter(|it| it.log == LogName::Table);
            rest.for_each(|entry| delay(entry, 2_000_000));
        }),
        broken_hand("seed-of-aborted-hand-not-discarded", void(), Check::Seed, |entries| {
            the!(entries, SeedOpened).discarded = false;
        }),
        broken_hand(
            "operations-more-than-was-due-at-the-abort",
            void(),
            Check::Operations,
            |entries| {
                let opened = index_of(entries, |it| matches!(it, Recorded::SeedOpened(_)));
                let last = entries
                    .iter()
                    .rposition(|it| matches!(it.recorded, Recorded::OperationPerformed(_)))
                    .unwrap();
                let mut again = entries[last].clone();
                again.at = entries[opened].at;
                if let Recorded::OperationPerformed(done) = &mut again.recorded {
                    done.operation.as_mut().unwrap().index += 1;
                    done.result.as_mut().unwrap().index += 1;
                }
                entries.insert(opened, again);
            },
        ),
        broken_hand("transfer-for-an-aborted-hand", void(), Check::Transfer, transfer_after_abort),
        broken_hand("conserved-refund-not-exact", void(), Check::Conserved, |entries| {
            let seats = &mut the!(entries, HandFinished).seats;
            (seats[0].stack, seats[1].stack) = (seats[0].stack - 10, seats[1].stack + 10);
        }),
        broken_hand("conserved-aborted-as-if-played", void(), Check::Conserved, |entries| {
            the!(entries, HandFinished).aborted = false;
        }),
    ]
}

/// Adds another hand's transfer to an aborted hand, moved to its table and player.
fn transfer_after_abort(entries: &mut Vec<Entry>) {
    let (source, mut rich) = (rich(), None);
    for entry in source.script.entries {
        if matches!(&entry.recorded, Recorded::TransferPosted(it) if !it.hand_id.is_empty()) {
            rich = Some(entry);
        }
    }
    let (mut entry, id) = (rich.unwrap(), the!(entries, HandStarted).hand_id.clone());
    let table = the!(entries, HandOpened).table_id.clone();
    let player = the!(entries, HandOpened).roster[0].player_id.clone();
    let player = primitives::PlayerId::try_from(&player[..]).unwrap();
    let here = primitives::TableId::try_from(&table[..]).unwrap();
    if let Recorded::TransferPosted(it) = &mut entry.recorded {
        (it.transfer_id, it.hand_id, it.table_id) = (id.clone(), id, table);
        it.legs.truncate(2);
        it.legs[0].account = format!("seat/{here}/{player}");
        it.legs[1].account = "house/rake".to_owned();
        (it.legs[0].amount, it.legs[1].amount) = (-10, 10);
    }
    entry.stream = here.into();
    entry.at = entries.last().unwrap().at;
    entries.push(entry);
}

/// The table burns the hand as if seat 2 had withheld its entropy, although every seat revealed it.
fn burnt_without_ground() -> TableFixture {
    let abort = Some((AtFault::Seat, None));
    let mut room = played(HandOptions {
        entropy: everybody(EntropyBehaviour::Reveals),
        abort,
        ..HandOptions::default()
    });
    the!(room.script.entries, HandAborted).seats = vec![2];
    room
}

fn seed() -> Vec<Golden> {
    let delayed = || played(HandOptions { reveal_delay_seconds: 86_400, ..HandOptions::default() });
    vec![
        broken_hand("seed-wrong", rich(), Check::Seed, |entries| {
            the!(entries, SeedOpened).seed = vec![5; 64].into();
        }),
        broken_hand("seed-refused-by-the-table", rich(), Check::Seed, refused),
        broken_hand("seed-table-noted-another", rich(), Check::Seed, |entries| {
            the!(entries, HandRevealed).seed = vec![5; 64].into();
        }),
        broken_hand("seed-opened-in-play", rich(), Check::Seed, |entries| {
            let settled = index_of(entries, |it| matches!(it, Recorded::HandSettled(_)));
            let rest = entries[settled..].iter_mut().filter(|it| it.log != LogName::Dealer);
            rest.for_each(|entry| delay(entry, 2_000_000));
        }),
        broken_hand("seed-opened-after-posting", rich(), Check::Seed, |entries| {
            let opened = index_of(entries, |it| matches!(it, Recorded::SeedOpened(_)));
            delay(&mut entries[opened], 2_000_000);
        }),
        broken_hand("seed-opened-before-its-delay", delayed(), Check::Seed, |entries| {
            for kind in ["SeedOpened", "HandRevealed"] {
                let index = index_of(entries, |it| it.name() == kind);
                entries[index].at = UnixMicros(entries[index].at.0 - 10_000_000);
            }
        }),
    ]
}

/// The dealer opens another seed than it had committed to, and the table acts on it as it must: no
/// transfer is posted, and all players have their credits from before the hand.
fn refused(entries: &mut Vec<Entry>) {
    let seed: bytes::Bytes = vec![5; 64].into();
    the!(entries, SeedOpened).seed = seed.clone();
    let opened = the!(entries, HandOpened).clone();
    let revealed = index_of(entries, |it| matches!(it, Recorded::HandRevealed(_)));
    entries[revealed].recorded = pb::SeedRefused { seed }.into();
    let mut aborted = entries[revealed].clone();
    let evidence = "the seed that was opened is not the one that was committed to".to_owned();
    let at_fault = AtFault::Dealer.into();
    aborted.recorded = pb::HandAborted { at_fault, seats: Vec::new(), evidence }.into();
    entries.insert(revealed + 1, aborted);
    let finished = the!(entries, HandFinished);
    finished.sabacc_paid.fill(0);
    finished.aborted = true;
    finished.sabacc_won = false;
    (finished.sabacc_pot, finished.carried_pot) = (opened.sabacc_pot, opened.carried_pot);
    finished.seats = opened.roster;
    entries.retain(|entry| {
        !matches!(&entry.recorded, Recorded::TransferPosted(it) if !it.hand_id.is_empty())
            && !matches!(entry.recorded, Recorded::SettlementPosted(_))
    });
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
            other(&mut the!(entries, OperationPerformed, rolls).result);
            other(&mut the!(entries, ChanceUsed, rolled).result);
        }),
        breaks("operations-logs-differ", &|entries| {
            other(&mut the!(entries, OperationPerformed, rolls).result);
        }),
        breaks("operations-one-too-many", &|entries| {
            let last = entries
                .iter()
                .rposition(|it| matches!(it.recorded, Recorded::OperationPerformed(_)));
            let mut again = entries[last.unwrap()].clone();
            if let Recorded::OperationPerformed(done) = &mut again.recorded {
                done.operation.as_mut().unwrap().index += 1;
                done.result.as_mut().unwrap().index += 1;
            }
            entries.insert(last.unwrap() + 1, again);
        }),
        breaks("operations-other-root", &|entries| {
            let root = vec![4; 32];
            the!(entries, OperationPerformed).result.as_mut().unwrap().root = root.clone();
            the!(entries, ChanceUsed).result.as_mut().unwrap().root = root;
        }),
        breaks("operations-roots-differ", &|entries| {
            the!(entries, ChanceUsed).result.as_mut().unwrap().root[0] ^= 1;
        }),
        breaks("operations-no-root", &|entries| {
            the!(entries, OperationPerformed).result.as_mut().unwrap().root.clear();
            the!(entries, ChanceUsed).result.as_mut().unwrap().root.clear();
        }),
    ]
}

fn cards() -> Vec<Golden> {
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Cards, edit);
    vec![
        breaks("cards-changed", &|entries| {
            let shown = &mut the!(entries, CardsShown).cards[0].card;
            *shown = if shown == "S1" { "S2" } else { "S1" }.to_owned();
        }),
        breaks("cards-not-all-shown", &|entries| {
            the!(entries, CardsShown).cards.pop();
        }),
        breaks("cards-wrong-salt", &|entries| {
            the!(entries, CardsShown).cards[0].salt[0] ^= 1;
        }),
        breaks("cards-no-salt", &|entries| {
            the!(entries, CardsShown).cards[0].salt.clear();
        }),
        breaks("cards-hidden-written-down", &|entries| {
            let shown = the!(entries, CardsShown).cards[0].clone();
            let place = (shown.op, shown.position);
            let dealt =
                |it: &pb::CardsMoved| it.cards.iter().any(|card| (card.op, card.position) == place);
            let cards = &mut the!(entries, CardsMoved, dealt).cards;
            let card = cards.iter_mut().find(|card| (card.op, card.position) == place).unwrap();
            *card = shown;
        }),
        breaks("cards-salt-of-a-hidden-card", &|entries| {
            the!(entries, CardsMoved).cards[0].salt = vec![6; 32];
        }),
        breaks("cards-another-place", &|entries| {
            the!(entries, CardsMoved).cards[0].position += 1;
        }),
    ]
}

fn reveal(cards: &[CardRef], seat: u32, reason: OpeningReason) -> Recorded {
    let cards = cards.iter().map(|it| dealer::Handle { op: it.op, position: it.position });
    let opening =
        dealer::Opening { cards: cards.collect(), audience_seat: seat, reason: reason.into() };
    pb::CardsOpened { opening: Some(opening), caller: "operator/curious".to_owned() }.into()
}

/// Inserts a record of the dealer right after the entry at `index`.
fn insert_reveal(entries: &mut Vec<Entry>, index: usize, recorded: Recorded) {
    let stream = entries[index_of(entries, |it| matches!(it, Recorded::SeedCommitted(_)))].stream;
    let at = entries[index].at;
    entries.insert(index + 1, Entry { log: LogName::Dealer, stream, at, recorded });
}

fn openings() -> Vec<Golden> {
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Openings, edit);
    let bottom = [CardRef { op: 0, position: 75, card: String::new(), salt: Vec::new() }];
    let last_move = |entries: &[Entry]| {
        entries.iter().rposition(|it| matches!(it.recorded, Recorded::MoveDecided(_))).unwrap()
    };
    vec![
        breaks("openings-peek-at-the-pile", &|entries| {
            let index = last_move(entries);
            insert_reveal(entries, index, reveal(&bottom, 1, OpeningReason::Deal));
        }),
        breaks("openings-peek-at-a-hand", &|entries| {
            let moved = the!(entries, CardsMoved).clone();
            let index = last_move(entries);
            let other = if moved.seat == 1 { 2 } else { 1 };
            insert_reveal(entries, index, reveal(&moved.cards, other, OpeningReason::Recovery));
        }),
        breaks("openings-twice", &|entries| {
            let moved = the!(entries, CardsMoved).clone();
            let index = last_move(entries);
            insert_reveal(entries, index, reveal(&moved.cards, moved.seat, OpeningReason::Deal));
        }),
        breaks("openings-never", &|entries| {
            let index = index_of(entries, |it| matches!(it, Recorded::CardsOpened(_)));
            entries.remove(index);
        }),
        breaks("openings-shown-too-early", &|entries| {
            let shown = the!(entries, CardsShown).cards.clone();
            let decided = index_of(entries, |it| matches!(it, Recorded::MoveDecided(_)));
            insert_reveal(entries, decided - 1, reveal(&shown[..1], 0, OpeningReason::Show));
        }),
    ]
}

fn decisions() -> Vec<Golden> {
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Decisions, edit);
    let bets = |it: &pb::MoveDecided| it.r#move.as_ref().unwrap().amount > 0;
    vec![
        breaks("decisions-changed", &|entries| {
            the!(entries, MoveDecided, bets).r#move.as_mut().unwrap().amount = 1_000_000;
        }),
        breaks("decisions-another-seat", &|entries| {
            the!(entries, MoveDecided).seat += 1;
        }),
        breaks("decisions-another-turn", &|entries| {
            the!(entries, MoveDecided).turn += 1;
        }),
    ]
}

fn clocks() -> Vec<Golden> {
    let breaks =
        |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), Check::Clocks, edit);
    let by_clock = |it: &pb::MoveDecided| it.by_clock;
    vec![
        breaks("clocks-moved", &|entries| {
            let index =
                index_of(entries, |it| matches!(it, Recorded::MoveDecided(it) if it.by_clock));
            let second = |entry: &mut Entry| entry.at = UnixMicros(entry.at.0 - 1_000_000);
            entries[index..].iter_mut().for_each(second);
        }),
        breaks("clocks-bank-overcharged", &|entries| {
            the!(entries, MoveDecided, |it: &pb::MoveDecided| !it.by_clock).bank_used_ms += 30_000;
        }),
        breaks("clocks-bank-not-used-up", &|entries| {
            the!(entries, MoveDecided, by_clock).bank_used_ms -= 1;
        }),
        breaks("clocks-misses", &|entries| the!(entries, HandFinished).misses[0] += 7),
    ]
}

fn credits() -> Vec<Golden> {
    let settles = |it: &pb::TransferPosted| !it.hand_id.is_empty();
    let of =
        |check| move |name, edit: &dyn Fn(&mut Vec<Entry>)| broken_hand(name, rich(), check, edit);
    let (settlement, transfer) = (of(Check::Settlement), of(Check::Transfer));
    let conserved = of(Check::Conserved);
    vec![
        settlement("settlement-other-line", &|entries| {
            the!(entries, HandSettled).lines[0].text.push('0');
        }),
        settlement("settlement-other-stacks", &|entries| {
            the!(entries, HandSettled).finishing_stacks.swap(0, 1);
            let seats = &mut the!(entries, HandFinished).seats;
            (seats[0].stack, seats[1].stack) = (seats[1].stack, seats[0].stack);
        }),
        transfer("transfer-other-amount", &|entries| {
            let legs = &mut the!(entries, TransferPosted, settles).legs;
            (legs[0].amount, legs[1].amount) = (legs[0].amount + 1, legs[1].amount - 1);
        }),
        transfer("transfer-other-kind", &|entries| {
            the!(entries, TransferPosted, settles).kind = 6;
        }),
        transfer("transfer-twice", &|entries| {
            let index = index_of(
                entries,
                |it| matches!(it, Recorded::TransferPosted(it) if !it.hand_id.is_empty()),
            );
            entries.insert(index, entries[index].clone());
        }),
        transfer("transfer-another-position", &|entries| {
            the!(entries, SettlementPosted).position += 1;
        }),
        conserved("conserved-table-goes-on-with-more", &|entries| {
            the!(entries, HandFinished).seats[0].stack += 1;
        }),
        conserved("conserved-pot", &|entries| {
            the!(entries, HandFinished).sabacc_pot += 1;
        }),
        conserved("conserved-called-aborted", &|entries| {
            the!(entries, HandFinished).aborted = true;
        }),
    ]
}

//! What the world owes a table, read off its state.
//!
//! There is no list of things to do: a table's state says what must happen next, and the same state
//! says the same after a crash. Each debt is paid under a request id made from the state, so that
//! paying it twice is paying it once.

use std::time::Duration;

use primitives::{HandId, PlayerId, SeatNo, TableId, UnixMicros};
use rules::Next;
use sha2::{Digest, Sha256};

use crate::play::{Play, Stage};
use crate::table::{Closing, Funding, Table};

/// Something to do outside the table, or at its own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Debt {
    /// The dealer commits to a hand to come.
    Commit { hand_no: u64 },
    /// The wallet moves a buy-in to a seat.
    Fund { seat: SeatNo },
    /// The wallet pays a seat out.
    CashOut { seat: SeatNo },
    /// A hand starts.
    Start,
    /// The dealer binds the seats' entropy.
    Seal,
    /// The dealer uses chance. `version` tells one use from the next.
    Chance { version: u64 },
    /// A player who is leaving leaves the hand.
    Leave { seat: SeatNo },
    /// Hands are shown and the settlement is put on record.
    Settle,
    /// The wallet posts the settlement.
    Post,
    /// The dealer opens the seed.
    Reveal,
    /// A player without a hand in play is paid out: he leaves, or the table closes.
    PayOut { seat: SeatNo },
    /// The shares of the Sabacc Pot are worked out.
    Share,
    /// The wallet moves the shares.
    Refund,
    /// The wallet pays out the share of somebody who had left.
    PayAbsent { player: PlayerId },
    /// The table closes.
    Close,
}

/// All debts, and when the next one becomes due by itself.
pub fn debts(
    table: &Table,
    play: Option<&Play>,
    now: UnixMicros,
) -> (Vec<Debt>, Option<UnixMicros>) {
    let mut debts = Vec::new();
    let mut later = None;
    let closing = table.closing != Closing::Open;
    for (&number, seat) in &table.seats {
        match seat.funding {
            Funding::BuyingIn { .. } => debts.push(Debt::Fund { seat: number }),
            Funding::CashingOut { .. } => debts.push(Debt::CashOut { seat: number }),
            Funding::AtTable => {
                let refunded = table.closing == Closing::Refunded;
                let free = play.is_none_or(|play| !play.replay.seats.contains(&number));
                // While the pot is being shared the stack may still grow.
                let sharing = matches!(table.closing, Closing::Refunding { .. });
                if free && !sharing && (seat.leaving || refunded) {
                    debts.push(Debt::PayOut { seat: number });
                }
            }
        }
    }
    let next_hand = table.hand_no + 1;
    if !table.committed.contains_key(&next_hand) && !closing {
        debts.push(Debt::Commit { hand_no: next_hand });
    }
    match play {
        Some(play) => hand_debts(table, play, closing, &mut debts),
        None if closing => closing_debts(table, &mut debts),
        None => {
            let pause = Duration::from_millis(u64::from(table.config.pause_ms));
            let start = table.finished_at.map_or(now, |at| at.plus(pause));
            if table.committed.contains_key(&next_hand) && table.ready().nth(1).is_some() {
                if start <= now { debts.push(Debt::Start) } else { later = Some(start) }
            }
        }
    }
    (debts, later)
}

fn hand_debts(table: &Table, play: &Play, closing: bool, debts: &mut Vec<Debt>) {
    match play.stage {
        Stage::Opened => debts.push(Debt::Seal),
        Stage::Playing => match rules::next(&play.replay.hand) {
            Next::Chance(_) => debts.push(Debt::Chance { version: play.version }),
            Next::Decision(_) => debts.extend(leaver(table, play)),
            // The commitment to the next hand is on record before this one is settled.
            Next::Done(_) if closing || table.committed.contains_key(&(play.hand_no + 1)) => {
                debts.push(Debt::Settle);
            }
            Next::Done(_) => {}
        },
        Stage::Settled => debts.push(Debt::Post),
        Stage::Posted => debts.push(Debt::Reveal),
        Stage::Revealed => {}
    }
}

/// The first player who is leaving the table and has not left the hand yet.
fn leaver(table: &Table, play: &Play) -> Option<Debt> {
    play.replay.seats.iter().enumerate().find_map(|(index, number)| {
        let leaving = table.seats.get(number).is_some_and(|seat| seat.leaving);
        (leaving && !play.left[index]).then_some(Debt::Leave { seat: *number })
    })
}

fn closing_debts(table: &Table, debts: &mut Vec<Debt>) {
    let moving = table.seats.values().any(|seat| seat.funding != Funding::AtTable);
    match &table.closing {
        Closing::Open | Closing::Closed => {}
        // Whoever is just leaving is gone first, so that his share finds him as absent.
        Closing::Asked if moving || table.seats.values().any(|seat| seat.leaving) => {}
        Closing::Asked => debts.push(Debt::Share),
        Closing::Refunding { .. } => debts.push(Debt::Refund),
        Closing::Refunded => {
            debts.extend(table.absent.keys().map(|&player| Debt::PayAbsent { player }));
            if table.seats.is_empty() && table.absent.is_empty() {
                debts.push(Debt::Close);
            }
        }
    }
}

/// A request id made from what it is for: the same state asks under the same id.
#[must_use]
pub fn request_id(what: &str, id: &[u8; 16], number: u64) -> [u8; 16] {
    let hash = Sha256::new()
        .chain_update(b"sabacc/request-id/v1")
        .chain_update(u32::try_from(what.len()).unwrap_or(u32::MAX).to_be_bytes())
        .chain_update(what)
        .chain_update(id)
        .chain_update(number.to_be_bytes())
        .finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    id
}

/// The request id of a debt to the dealer about a hand.
#[must_use]
pub fn hand_request(what: &str, hand: HandId, version: u64) -> Vec<u8> {
    request_id(what, hand.bytes(), version).to_vec()
}

/// The request id of a debt about a table.
#[must_use]
pub fn table_request(what: &str, table: TableId, number: u64) -> [u8; 16] {
    request_id(what, table.bytes(), number)
}

//! Ids of requests that the table service derives.
//!
//! The same state gives the same id, so a request that is sent twice takes effect once. Each id
//! names everything that it depends on: the request, the table or hand, the seat's player, and a
//! number that tells one time from the next. The ids are UUIDs of version 8, which only services
//! may send. Dealer and wallet keep this caller's ids apart from those of others. A settlement is
//! requested under its hand's own id, since it happens once and others look it up by that id.
//!
//! Specification: ARCHITECTURE.md §2.9.

use primitives::{HandId, PlayerId, RequestId, TableId};

/// Id of a request about a hand; `version` tells one from the next.
#[must_use]
pub(crate) fn of_hand(what: &str, hand: HandId, version: u64) -> [u8; 16] {
    derive(what, &[hand.bytes(), &version.to_be_bytes()])
}

/// Id of a request about a table; `number` tells one from the next.
#[must_use]
pub(crate) fn of_table(what: &str, table: TableId, number: u64) -> [u8; 16] {
    derive(what, &[table.bytes(), &number.to_be_bytes()])
}

/// Id of the buy-in for a player's request to sit down at a table.
#[must_use]
pub(crate) fn buy_in(table: TableId, player: PlayerId, request: RequestId) -> [u8; 16] {
    derive("buy-in", &[table.bytes(), player.bytes(), request.bytes()])
}

/// Id of the payment of an absent player's share of the pots, after the table's last hand.
#[must_use]
pub(crate) fn pay_absent(table: TableId, player: PlayerId, hand_no: u64) -> [u8; 16] {
    derive("absent", &[table.bytes(), player.bytes(), &hand_no.to_be_bytes()])
}

/// Id of the refund of a closing table's pots to the players after `after`.
#[must_use]
pub(crate) fn refund(table: TableId, hand_no: u64, after: Option<PlayerId>) -> [u8; 16] {
    let after = after.as_ref().map_or(&[][..], |player| &player.bytes()[..]);
    derive("refund", &[table.bytes(), &hand_no.to_be_bytes(), after])
}

/// Id of one of the requests that another one is split into.
#[must_use]
pub(crate) fn part_of(request: &[u8], number: u64) -> [u8; 16] {
    derive("part", &[request, &number.to_be_bytes()])
}

fn derive(what: &str, parts: &[&[u8]]) -> [u8; 16] {
    eventlog::derived_id(what, parts).0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_id_names_everything_that_it_depends_on() {
        let (tables, players) =
            ([1, 2].map(|n| TableId([n; 16])), [3, 4].map(|n| PlayerId([n; 16])));
        let requests = [5, 6].map(|n| RequestId([n; 16]));
        let mut ids = Vec::new();
        for table in tables {
            for number in [1, 2] {
                ids.push(of_table("commit", table, number));
                let after = players.map(Some).into_iter().chain([None]);
                ids.extend(after.map(|after| refund(table, number, after)));
                ids.extend(players.map(|player| pay_absent(table, player, number)));
                let hand = fairness::hand_id(table, number);
                for version in [0, 1] {
                    ids.extend(["seal", "chance"].map(|what| of_hand(what, hand, version)));
                }
            }
            for player in players {
                ids.extend(requests.map(|request| buy_in(table, player, request)));
            }
        }
        ids.extend([1, 2].map(|number| part_of(&ids[0], number)));
        let different: BTreeSet<_> = ids.iter().collect();
        assert_eq!(different.len(), ids.len());
        assert!(ids.iter().all(|id| RequestId(*id).is_derived()));
    }
}

//! Ids of requests that the table service derives.
//!
//! The same state gives the same id, so a request that is sent twice takes effect once. Each id
//! names everything that it depends on: the request, the table or hand, the seat's player, and a
//! number that tells one time from the next. The ids are UUIDs of version 8, which only services
//! may send. Dealer and wallet keep this caller's ids apart from those of others. A settlement is
//! requested under its hand's own id, since it happens once and others look it up by that id.
//!
//! Each id begins with a time, `at`, and depends on it. The time follows from recorded events, or
//! from the player's own request. It is the same for as long as the request may be sent again, also
//! after a restart: never the present time, and never that of the table's newest event.
//!
//! Specification: ARCHITECTURE.md §2.9.

use primitives::{HandId, PlayerId, RequestId, TableId, UnixMicros};

/// Id of a request about a hand; `version` tells one from the next. `at` is the time of the hand's
/// opening, or that from which on its seed is to be opened.
#[must_use]
pub(crate) fn of_hand(what: &str, at: UnixMicros, hand: HandId, version: u64) -> [u8; 16] {
    derive(what, at, &[hand.bytes(), &version.to_be_bytes()])
}

/// Id of a request about a table; `number` tells one from the next.
#[must_use]
pub(crate) fn of_table(what: &str, at: UnixMicros, table: TableId, number: u64) -> [u8; 16] {
    derive(what, at, &[table.bytes(), &number.to_be_bytes()])
}

/// Id of the buy-in for a player's request to sit down at a table. Its time is that of the player's
/// own id; zero where that has none, since a repeat brings nothing else that is fixed.
#[must_use]
pub(crate) fn buy_in(table: TableId, player: PlayerId, request: RequestId) -> [u8; 16] {
    let at = request.created_at().unwrap_or_default();
    derive("buy-in", at, &[table.bytes(), player.bytes(), request.bytes()])
}

/// Id of the payment of an absent player's share of the pots, after the table's last hand. `at` is
/// the time at which that hand started.
#[must_use]
pub(crate) fn pay_absent(
    at: UnixMicros,
    table: TableId,
    player: PlayerId,
    hand_no: u64,
) -> [u8; 16] {
    derive("absent", at, &[table.bytes(), player.bytes(), &hand_no.to_be_bytes()])
}

/// Id of the refund of a closing table's pots to the players after `after`. `at` is the time at
/// which the table's last hand started.
#[must_use]
pub(crate) fn refund(
    at: UnixMicros,
    table: TableId,
    hand_no: u64,
    after: Option<PlayerId>,
) -> [u8; 16] {
    let after = after.as_ref().map_or(&[][..], |player| &player.bytes()[..]);
    derive("refund", at, &[table.bytes(), &hand_no.to_be_bytes(), after])
}

/// Id of one of the requests that another one is split into. It has the time of that one, or zero
/// where that has none.
#[must_use]
pub(crate) fn part_of(request: &[u8], number: u64) -> [u8; 16] {
    let at = RequestId::try_from(request).ok().and_then(RequestId::leading_time);
    derive("part", at.unwrap_or_default(), &[request, &number.to_be_bytes()])
}

fn derive(what: &str, at: UnixMicros, parts: &[&[u8]]) -> [u8; 16] {
    eventlog::derived_id(what, at, parts).0
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const NOW: UnixMicros = UnixMicros(1_700_000_000_123_456);
    const NOW_TO_THE_MILLISECOND: UnixMicros = UnixMicros(1_700_000_000_123_000);

    #[test]
    fn an_id_names_everything_that_it_depends_on() {
        let (tables, players) =
            ([1, 2].map(|n| TableId([n; 16])), [3, 4].map(|n| PlayerId([n; 16])));
        let requests = [5, 6].map(|n| RequestId([n; 16]));
        let mut ids = Vec::new();
        for table in tables {
            for number in [1, 2] {
                ids.push(of_table("commit", NOW, table, number));
                let after = players.map(Some).into_iter().chain([None]);
                ids.extend(after.map(|after| refund(NOW, table, number, after)));
                ids.extend(players.map(|player| pay_absent(NOW, table, player, number)));
                let hand = fairness::hand_id(table, number);
                for version in [0, 1] {
                    ids.extend(["seal", "chance"].map(|what| of_hand(what, NOW, hand, version)));
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

    #[test]
    fn an_id_begins_with_its_time() {
        let (table, player) = (TableId([1; 16]), PlayerId([3; 16]));
        let hand = of_hand("chance", NOW, fairness::hand_id(table, 1), 7);
        let request = RequestId::derived(NOW, [5; 16]);
        let mut of_player = request;
        of_player.0[6] = 0x70;
        let timed = [
            hand,
            of_table("commit", NOW, table, 2),
            pay_absent(NOW, table, player, 1),
            refund(NOW, table, 1, Some(player)),
            buy_in(table, player, of_player),
            part_of(&hand, 1),
        ];
        for id in timed {
            assert_eq!(RequestId(id).leading_time(), Some(NOW_TO_THE_MILLISECOND));
        }
        for untimed in [buy_in(table, player, RequestId([5; 16])), part_of(&[5; 16], 1)] {
            assert_eq!(RequestId(untimed).leading_time(), None);
        }
    }
}

//! Conversion of settlements for viewers.

use primitives::{Credits, SeatNo};
use proto::table::v1 as pb;
use proto::table::v1::SettlementKind;
use rules::{Pot, SettlementItem};

use crate::moves::seat_of;

/// Converts one movement of credits. `seats` are those of the hand, p1's first.
#[must_use]
pub fn write(item: &SettlementItem, seats: &[SeatNo]) -> pb::SettlementItem {
    let of = |kind: SettlementKind, amount: Credits| pb::SettlementItem {
        kind: kind.into(),
        amount_credits: amount.get(),
        text: item.to_string(),
        ..pb::SettlementItem::default()
    };
    match *item {
        SettlementItem::Returned { player, amount } => pb::SettlementItem {
            seat: seat_of(player, seats),
            ..of(SettlementKind::Returned, amount)
        },
        SettlementItem::PaysSabacc { player, amount, short } => pb::SettlementItem {
            seat: seat_of(player, seats),
            short_credits: short.get(),
            ..of(SettlementKind::PaysSabacc, amount)
        },
        SettlementItem::Eliminated { player } => pb::SettlementItem {
            seat: seat_of(player, seats),
            ..of(SettlementKind::Eliminated, Credits::ZERO)
        },
        SettlementItem::Wins { player, pot, amount } => pb::SettlementItem {
            seat: seat_of(player, seats),
            ..in_layer(pot, of(SettlementKind::Wins, amount))
        },
        SettlementItem::MovesToSabacc { pot, amount } => {
            in_layer(pot, of(SettlementKind::MovesToSabacc, amount))
        }
        SettlementItem::Carries { amount } => of(SettlementKind::Carries, amount),
        SettlementItem::Rake { amount } => of(SettlementKind::Rake, amount),
    }
}

fn in_layer(pot: Pot, item: pb::SettlementItem) -> pb::SettlementItem {
    let (layer, side) = match pot {
        Pot::Main => (pb::PotLayer::Main, 0),
        Pot::Side(side) => (pb::PotLayer::Side, u32::from(side)),
        Pot::Credits => (pb::PotLayer::Credits, 0),
        Pot::Sabacc => (pb::PotLayer::Sabacc, 0),
    };
    pb::SettlementItem { layer: layer.into(), side, ..item }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::Player;

    #[test]
    fn every_item_says_who_what_where_and_how_much() {
        let seats: Vec<SeatNo> = [2, 5].map(|seat| SeatNo::try_new(seat).unwrap()).to_vec();
        let player = Player::try_new(1).unwrap();
        let (amount, short) = (Credits::of(30), Credits::of(4));
        let check = |item: SettlementItem, then: (u32, SettlementKind, pb::PotLayer, u32)| {
            let message = write(&item, &seats);
            assert_eq!(
                (message.seat, message.kind(), message.layer(), message.side),
                then,
                "{item}"
            );
            assert_eq!(message.text, item.to_string());
            let is_paid = !matches!(item, SettlementItem::Eliminated { .. });
            assert_eq!(message.amount_credits, if is_paid { 30 } else { 0 }, "{item}");
            let is_short = matches!(item, SettlementItem::PaysSabacc { .. });
            assert_eq!(message.short_credits, if is_short { 4 } else { 0 }, "{item}");
        };
        let nowhere = pb::PotLayer::Unspecified;
        check(
            SettlementItem::Returned { player, amount },
            (5, SettlementKind::Returned, nowhere, 0),
        );
        check(
            SettlementItem::PaysSabacc { player, amount, short },
            (5, SettlementKind::PaysSabacc, nowhere, 0),
        );
        check(SettlementItem::Eliminated { player }, (5, SettlementKind::Eliminated, nowhere, 0));
        check(
            SettlementItem::Wins { player, pot: Pot::Side(2), amount },
            (5, SettlementKind::Wins, pb::PotLayer::Side, 2),
        );
        check(
            SettlementItem::MovesToSabacc { pot: Pot::Main, amount },
            (0, SettlementKind::MovesToSabacc, pb::PotLayer::Main, 0),
        );
        check(SettlementItem::Carries { amount }, (0, SettlementKind::Carries, nowhere, 0));
        check(SettlementItem::Rake { amount }, (0, SettlementKind::Rake, nowhere, 0));
    }
}

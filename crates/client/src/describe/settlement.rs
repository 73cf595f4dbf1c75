//! Text for the lines of a settlement.

use proto::table::v1 as pb;
use proto::table::v1::SettlementKind;

use super::SeatNames;

/// Describes one movement of credits.
pub(super) fn describe_item(item: &pb::SettlementItem, name: SeatNames<'_>) -> String {
    let pb::SettlementItem { seat, kind: _, layer: _, side, amount_credits, short_credits, text } =
        item;
    let (who, amount, pot) = (name(*seat), amount_credits, describe_layer(item.layer(), *side));
    match item.kind() {
        // A kind of a later version: its text is all that is known.
        SettlementKind::Unspecified => text.clone(),
        SettlementKind::Returned => format!("{who} gets {amount} back"),
        SettlementKind::PaysSabacc if *short_credits == 0 => format!("{who} pays sabacc {amount}"),
        SettlementKind::PaysSabacc => format!("{who} pays sabacc {amount} short {short_credits}"),
        SettlementKind::Eliminated => format!("{who} is eliminated"),
        SettlementKind::Wins => format!("{who} wins {pot} {amount}"),
        SettlementKind::MovesToSabacc => format!("{pot} moves to sabacc {amount}"),
        SettlementKind::Carries => format!("{amount} carried to the next hand"),
        SettlementKind::Rake => format!("rake {amount}"),
    }
}

fn describe_layer(layer: pb::PotLayer, side: u32) -> String {
    match layer {
        pb::PotLayer::Unspecified => "a pot".to_owned(),
        pb::PotLayer::Main => "main".to_owned(),
        pb::PotLayer::Side => format!("side-{side}"),
        pb::PotLayer::Credits => "credits".to_owned(),
        pb::PotLayer::Sabacc => "sabacc".to_owned(),
    }
}

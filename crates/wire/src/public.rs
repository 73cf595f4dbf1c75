//! Conversion of messages of the log and of services to their public twins, which have ids as text.

use primitives::StreamId;
use proto::{common::v1 as common, dealer::v1 as dealer, event::v1 as event, table::v1 as table};

/// Writes an id that stands in a record as 16 bytes; empty where none stands there.
#[must_use]
pub fn id_text(bytes: &[u8]) -> String {
    StreamId::try_from(bytes).map_or_else(|_| String::new(), |id| id.to_string())
}

#[must_use]
pub fn closing(closing: &dealer::Closing) -> common::Closing {
    let dealer::Closing { closing, rows, key_id, signature } = closing;
    common::Closing {
        closing: closing.clone(),
        rows: rows.iter().map(closing_row).collect(),
        key_id: key_id.clone(),
        signature: signature.clone(),
    }
}

fn closing_row(row: &dealer::ClosingRow) -> common::ClosingRow {
    let dealer::ClosingRow { seat, player_id, commitment } = row;
    common::ClosingRow {
        seat: *seat,
        player_id: id_text(player_id),
        commitment: commitment.clone(),
    }
}

#[must_use]
pub fn entropy_row(row: &dealer::EntropyRow) -> common::EntropyRow {
    let dealer::EntropyRow { seat, player_id, status, commitment, entropy } = row;
    common::EntropyRow {
        seat: *seat,
        player_id: id_text(player_id),
        status: *status,
        commitment: commitment.clone(),
        entropy: entropy.clone(),
    }
}

#[must_use]
pub fn effect(effect: &event::Effect) -> table::Effect {
    let event::Effect { kind, hand_no, seat, player_id, version } = effect;
    table::Effect {
        kind: *kind,
        hand_no: *hand_no,
        seat: *seat,
        player_id: id_text(player_id),
        version: *version,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "01010101-0101-0101-0101-010101010101";

    #[test]
    fn ids_of_records_are_text_and_the_rest_is_as_it_was() {
        let row = dealer::ClosingRow { seat: 3, player_id: vec![1; 16], commitment: vec![2; 32] };
        let signed = dealer::Closing {
            closing: vec![3; 32],
            rows: vec![row],
            key_id: vec![4; 8],
            signature: vec![5; 64],
        };
        let message = closing(&signed);
        assert_eq!((message.rows[0].seat, message.rows[0].player_id.as_str()), (3, TEXT));
        assert_eq!(message.rows[0].commitment, [2; 32]);
        assert_eq!(
            (message.closing, message.key_id, message.signature),
            (vec![3; 32], vec![4; 8], vec![5; 64])
        );
    }

    #[test]
    fn an_effect_without_a_player_has_no_id() {
        let of_nobody = event::Effect { hand_no: 7, ..event::Effect::default() };
        assert_eq!(effect(&of_nobody), table::Effect { hand_no: 7, ..table::Effect::default() });
        let player_id = vec![1; 16].into();
        assert_eq!(effect(&event::Effect { player_id, ..of_nobody }).player_id, TEXT);
    }
}

//! Messages with fields that this program's schema does not have: an old client at a newer room, and
//! a new client at an older one. `services/sabacc/tests/rooms/contract` sends such requests to every
//! method.

use prost::Message as _;
use prost::encoding::{WireType, encode_key, encode_varint};
use proto::table::v1 as pb;
use proto::table::v1::watch_table_response::Message;

/// A number that no field has.
const NEW: u32 = 2047;

fn field(number: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_key(number, WireType::LengthDelimited, &mut bytes);
    encode_varint(content.len() as u64, &mut bytes);
    bytes.extend(content);
    bytes
}

/// A message with new fields of every wire type before and behind it.
fn newer(message: &[u8]) -> Vec<u8> {
    let mut new = field(NEW, b"later");
    for (kind, content) in [
        (WireType::Varint, &[0x96, 0x01][..]),
        (WireType::ThirtyTwoBit, &[1; 4]),
        (WireType::SixtyFourBit, &[1; 8]),
    ] {
        encode_key(NEW, kind, &mut new);
        new.extend(content);
    }
    [&new, message, &new].concat()
}

#[test]
fn fields_of_a_newer_room_are_passed_over_at_every_depth() {
    let seat = pb::SeatView { seat: 3, stack_credits: 500, ..pb::SeatView::default() };
    let bare = pb::TableView { name: "Demo".into(), hand_no: 7, ..pb::TableView::default() };
    let seats = field(6, &newer(&seat.encode_to_vec()));
    let snapshot = field(1, &newer(&[bare.encode_to_vec(), seats].concat()));
    let answer = newer(&[snapshot, field(6, b"token")].concat());
    let view = pb::TableView { seats: vec![seat], ..bare };
    let expected = pb::WatchTableResponse {
        message: Some(Message::Snapshot(Box::new(view))),
        resume_token: b"token".to_vec(),
    };
    assert_eq!(pb::WatchTableResponse::decode(&*answer).unwrap(), expected);
}

#[test]
fn a_newer_kind_of_update_keeps_its_number_and_a_newer_value_its_own() {
    let update = pb::TableUpdate { sequence: 9, ..pb::TableUpdate::default() };
    let newer = [update.encode_to_vec(), field(NEW, b"what happened")].concat();
    let read = pb::TableUpdate::decode(&*newer).unwrap();
    assert_eq!((read.sequence, read.what), (9, None));
    let seat = pb::SeatView { state: 99, ..pb::SeatView::default() };
    let read = pb::SeatView::decode(&*seat.encode_to_vec()).unwrap();
    assert_eq!((read.state, read.state()), (99, pb::SeatState::Unspecified));
}

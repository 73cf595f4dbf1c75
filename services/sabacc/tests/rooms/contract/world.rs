//! Room that the contract is held against, and what requests need of it: players, tables, hands.

use base64ct::{Base64, Encoding as _};
use chassis::auth::Role;
use client::Client;
use primitives::TableId;
use prost_reflect::{DescriptorPool, DynamicMessage, MethodDescriptor, SerializeOptions};
use proto::table::v1 as pb;
use serde_json::Value;
use system::ids::IdMaker;
use tokio::sync::{Mutex, OnceCell};
use tonic::Code;

use super::protocol::{Call, Connection, Protocol};
use crate::entropy::TwoSeats;
use crate::harness::{Room, RoomHarness};
use crate::people::{Guest, Party, operator, slow_table};

/// Milliseconds in which seats contribute entropy: the fewest, since guests bring none.
const SHORTEST_MS: u32 = 500;

/// Hand that has ended, with the players who were dealt in and have disputed nothing.
struct PlayedHand {
    table: TableId,
    hand_no: u64,
    players: Vec<Guest>,
}

pub(super) struct World {
    pub(super) harness: RoomHarness,
    pub(super) room: Room,
    pub(super) pool: DescriptorPool,
    /// A mebibyte.
    pub(super) noise: Vec<u8>,
    connection: Connection,
    /// Two players whose first hand has ended.
    party: OnceCell<Mutex<Party>>,
    played: Mutex<Option<PlayedHand>>,
}

/// Returns a fresh id of a command.
pub(super) fn request_id() -> String {
    IdMaker::system().request_id().to_string()
}

/// Returns bytes as JSON has them.
pub(super) fn bytes(bytes: impl AsRef<[u8]>) -> Value {
    Base64::encode_string(bytes.as_ref()).into()
}

/// Bytes without an order, the same in every run.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_u32;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_be_bytes()[0]
    };
    std::iter::repeat_with(next).take(length).collect()
}

pub(super) fn quick_table(name: &str) -> pb::TableConfig {
    pb::TableConfig { commit_ms: SHORTEST_MS, reveal_ms: SHORTEST_MS, ..slow_table(name) }
}

impl World {
    pub(super) async fn open() -> World {
        let harness = RoomHarness::new();
        // A machine with other load is slow, and what is late is no answer to compare.
        let patient = ("SABACC_LIMITS_UNARY_DEADLINE_MS", "60000");
        let room = harness.up_with(&["--no-bots"], &[("RUST_LOG", "warn"), patient]).await;
        let connection = Connection::open(&room.url).await;
        let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
        let (party, played) = (OnceCell::new(), Mutex::default());
        let noise = noise(1 << 20);
        World { harness, room, pool, noise, connection, party, played }
    }

    pub(super) fn operator(&self) -> String {
        self.harness.token(Role::Operator, "till-1")
    }

    pub(super) fn other_operator(&self) -> String {
        self.harness.token(Role::Operator, "till-2")
    }

    pub(super) fn auditor(&self) -> String {
        self.harness.token(Role::Auditor, "inspector")
    }

    pub(super) async fn player(&self) -> Guest {
        Guest::new(&self.harness, &self.room.url).await
    }

    /// Returns a player whom the room does not know.
    pub(super) fn newcomer(&self) -> Guest {
        Guest::of(&self.harness, &self.room.url, IdMaker::system().player_id())
    }

    pub(super) fn operator_client(&self) -> Client {
        operator(&self.harness, &self.room.url)
    }

    /// Opens a table for eight.
    pub(super) async fn new_table(&self) -> TableId {
        self.operator_client().create_table(quick_table("contract")).await.unwrap()
    }

    /// Seats a new player alone at a new table.
    pub(super) async fn seated(&self) -> (Guest, TableId) {
        let mut party = Party::at(&self.harness, &self.room.url, 1, quick_table("contract")).await;
        (party.guests.pop().unwrap(), party.table)
    }

    /// Seats two new players at a new table.
    pub(super) async fn playing(&self) -> Party {
        Party::at(&self.harness, &self.room.url, 2, quick_table("contract")).await
    }

    /// Seats two players who will be asked for entropy for ten seconds each time.
    pub(super) async fn contributing(&self) -> TwoSeats {
        let slow = |config: &mut pb::TableConfig| {
            (config.commit_ms, config.reveal_ms) = (10_000, 10_000);
        };
        let two = TwoSeats::new(&self.harness, &self.room, slow).await;
        two.sit_down().await;
        two
    }

    /// Two players of the same table for everybody; their first hand has ended.
    pub(super) async fn party(&self) -> &Mutex<Party> {
        let begin = async || {
            let mut party = self.playing().await;
            party.play_until(|view| view.hand_no >= 2).await;
            Mutex::new(party)
        };
        self.party.get_or_init(begin).await
    }

    /// Returns a player who may dispute a hand, its table and its number.
    pub(super) async fn disputer(&self) -> (Guest, TableId, u64) {
        let mut played = self.played.lock().await;
        loop {
            if let Some(hand) = &mut *played
                && let Some(player) = hand.players.pop()
            {
                return (player, hand.table, hand.hand_no);
            }
            let config = quick_table("disputes");
            let mut party = Party::at(&self.harness, &self.room.url, 8, config).await;
            // Those before may have begun without somebody.
            let all =
                |view: &pb::TableView| view.hand.as_ref().is_some_and(|it| it.seats.len() == 8);
            let hand_no = party.play_until(all).await.1.hand_no;
            party.play_until(|view| view.hand_no > hand_no).await;
            *played = Some(PlayedHand { table: party.table, hand_no, players: party.guests });
        }
    }

    pub(super) fn method(&self, name: &str) -> MethodDescriptor {
        let (service, method) = name.split_once('/').unwrap();
        let service = self.pool.get_service_by_name(service).unwrap();
        service.methods().find(|it| it.name() == method).unwrap()
    }

    /// Makes a call that succeeds; returns its answer in JSON.
    pub(super) async fn done(&self, name: &str, token: Option<String>, json: Value) -> Value {
        let call = Call { method: self.method(name), token, json, unknown: Vec::new() };
        let answer = self.connection.call(Protocol::Grpc, &call).await;
        assert_eq!(answer.status.code(), Code::Ok, "{name}: {:?}", answer.status);
        json_of(&answer.message.unwrap())
    }

    /// Returns a message of ours in JSON.
    pub(super) fn json(&self, name: &str, message: &impl prost::Message) -> Value {
        let descriptor = self.pool.get_message_by_name(name).unwrap();
        json_of(&DynamicMessage::decode(descriptor, &*message.encode_to_vec()).unwrap())
    }
}

/// Returns a message in JSON, by the names of the protobuf files.
pub(super) fn json_of(message: &DynamicMessage) -> Value {
    let options = SerializeOptions::new().use_proto_field_name(true);
    message.serialize_with_options(serde_json::value::Serializer, &options).unwrap()
}

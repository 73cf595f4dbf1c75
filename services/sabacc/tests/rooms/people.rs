//! Clients of a room's public port: an operator, and players who decide one after the other.

use std::collections::BTreeSet;
use std::time::Duration;

use bots::{Strategy as _, strategy};
use chassis::auth::Role;
use client::{Client, TableState, WatchMessage};
use primitives::{Credits, PlayerId, RequestId, TableId};
use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::table_service_client::TableServiceClient;
use system::ids::IdMaker;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Response, Status};

use crate::harness::{LONG_TIMEOUT, RoomHarness};

/// Pause between two looks at a table.
const PAUSE: Duration = Duration::from_millis(20);
/// Credits of each guest.
pub(crate) const BANKROLL: u64 = 100_000;

/// Player with an account.
#[derive(Clone)]
pub(crate) struct Guest {
    pub(crate) id: PlayerId,
    pub(crate) token: String,
    pub(crate) client: Client,
}

impl Guest {
    /// Creates a new player with credits.
    pub(crate) async fn new(harness: &RoomHarness, url: &str) -> Guest {
        let guest = Guest::of(harness, url, IdMaker::system().player_id());
        guest.client.open_account(None).await.unwrap();
        let purse = Credits::try_new(BANKROLL).unwrap();
        operator(harness, url).issue(guest.id, purse, "to play with").await.unwrap();
        guest
    }

    /// Returns an existing player.
    pub(crate) fn of(harness: &RoomHarness, url: &str, id: PlayerId) -> Guest {
        let token = harness.token(Role::Player, &id.to_string());
        let client = Client::connect(url, token.clone()).unwrap();
        let client = client.with_trusted_keys(harness.trusted_keys());
        Guest { id, token, client }
    }

    /// Returns this player at another address.
    pub(crate) fn connect_at(&self, url: &str) -> Guest {
        let client = Client::connect(url, self.token.clone()).unwrap();
        Guest { client, ..self.clone() }
    }

    /// Returns the credits of the account, and those at tables.
    pub(crate) async fn credits(&self) -> (u64, Vec<u64>) {
        let account = self.client.get_account(None).await.unwrap();
        (account.balance_credits, account.seats.iter().map(|seat| seat.balance_credits).collect())
    }
}

pub(crate) fn operator(harness: &RoomHarness, url: &str) -> Client {
    Client::connect(url, harness.token(Role::Operator, "test")).unwrap()
}

/// Returns the configuration of a table of the dice game with long times.
pub(crate) fn slow_table(name: &str) -> pb::TableConfig {
    pb::TableConfig {
        name: name.to_owned(),
        variant: "dice".to_owned(),
        action_seconds: 600,
        bank_seconds: Some(60),
        // Most guests call by hand, and bring nothing to chance.
        contributors_min: Some(0),
        ..pb::TableConfig::default()
    }
}

/// Guests at a table.
pub(crate) struct Party {
    pub(crate) table: TableId,
    pub(crate) guests: Vec<Guest>,
    url: String,
    /// Request ids of all acknowledged decisions.
    pub(crate) acknowledged: BTreeSet<RequestId>,
}

impl Party {
    /// Seats this number of guests at seats 1, 2 and so on.
    pub(crate) async fn new(harness: &RoomHarness, url: &str, count: u32) -> Party {
        Party::at(harness, url, count, slow_table("party")).await
    }

    /// Seats guests at a table with this configuration.
    pub(crate) async fn at(
        harness: &RoomHarness,
        url: &str,
        count: u32,
        config: pb::TableConfig,
    ) -> Party {
        let mut guests = Vec::new();
        for _ in 0..count {
            guests.push(Guest::new(harness, url).await);
        }
        Party::of(harness, url, guests, config).await
    }

    /// Seats these players at a new table with this configuration.
    pub(crate) async fn of(
        harness: &RoomHarness,
        url: &str,
        guests: Vec<Guest>,
        config: pb::TableConfig,
    ) -> Party {
        let table = operator(harness, url).create_table(config).await.unwrap();
        for (seat, guest) in (1..).zip(&guests) {
            let least = guest.client.get_table(table).await.unwrap().max_buy_in_credits;
            let buy_in = Credits::try_new(least).unwrap();
            assert_eq!(guest.client.sit_down(table, seat, buy_in).await.unwrap(), seat);
        }
        Party { table, guests, url: url.to_owned(), acknowledged: BTreeSet::new() }
    }

    /// Seats these guests at another table too.
    pub(crate) async fn at_another(&self, harness: &RoomHarness, config: pb::TableConfig) -> Party {
        let table = operator(harness, &self.url).create_table(config).await.unwrap();
        for (seat, guest) in (1..).zip(&self.guests) {
            let least = guest.client.get_table(table).await.unwrap().max_buy_in_credits;
            let buy_in = Credits::try_new(least).unwrap();
            assert_eq!(guest.client.sit_down(table, seat, buy_in).await.unwrap(), seat);
        }
        let (guests, url) = (self.guests.clone(), self.url.clone());
        Party { table, guests, url, acknowledged: BTreeSet::new() }
    }

    /// Closes the table, and plays the hand in play to its end.
    pub(crate) async fn close(&mut self, harness: &RoomHarness) {
        operator(harness, &self.url).close_table(self.table).await.unwrap();
        let playing = async {
            loop {
                let view = self.view_of(0).await;
                let hand = view.hand.filter(|hand| hand.phase() != pb::HandPhase::Over);
                match hand {
                    Some(hand) if hand.turn.is_some() => {
                        let (guest, view) = self.turn().await;
                        self.decide(guest, &view).await;
                    }
                    _ if view.seats.is_empty() => return,
                    _ => tokio::time::sleep(PAUSE).await,
                }
            }
        };
        tokio::time::timeout(LONG_TIMEOUT, playing).await.expect("the table closes");
    }

    /// Connects the guests to a new address of the room.
    pub(crate) fn reconnect(&mut self, url: &str) {
        self.guests = self.guests.iter().map(|guest| guest.connect_at(url)).collect();
        url.clone_into(&mut self.url);
    }

    /// Returns the table as a guest sees it.
    pub(crate) async fn view_of(&self, guest: usize) -> pb::TableView {
        self.guests[guest].client.get_table(self.table).await.unwrap()
    }

    /// Waits until a guest has to decide; returns the guest and their view.
    pub(crate) async fn turn(&self) -> (usize, pb::TableView) {
        let due = async {
            loop {
                let view = self.view_of(0).await;
                let turn = view.hand.and_then(|hand| hand.turn).filter(|turn| turn.seat > 0);
                if let Some(turn) = turn {
                    let guest = usize::try_from(turn.seat - 1).unwrap();
                    let view = self.view_of(guest).await;
                    if turn_of(&view).is_some_and(|own| own.turn == turn.turn) {
                        return (guest, view);
                    }
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LONG_TIMEOUT, due).await.expect("somebody has to decide")
    }

    /// Plays until it is a guest's turn and `enough` accepts their view.
    pub(crate) async fn play_until(
        &mut self,
        mut enough: impl FnMut(&pb::TableView) -> bool,
    ) -> (usize, pb::TableView) {
        for _ in 0..1000 {
            let (guest, view) = self.turn().await;
            if enough(&view) {
                return (guest, view);
            }
            self.decide(guest, &view).await;
        }
        panic!("a thousand decisions, and it has not come to that")
    }

    /// Decides as a steady player would.
    pub(crate) async fn decide(&mut self, guest: usize, view: &pb::TableView) {
        let request = IdMaker::system().request_id();
        let act = self.act_request(guest, view, request);
        self.act(guest, act).await.unwrap();
        self.acknowledged.insert(request);
    }

    /// Returns the request of a steady player's decision, under this request id.
    pub(crate) fn act_request(
        &self,
        guest: usize,
        view: &pb::TableView,
        request: RequestId,
    ) -> pb::ActRequest {
        let turn = turn_of(view).unwrap();
        let mut state = TableState::new(Some(self.guests[guest].id));
        state.apply(&WatchMessage::Snapshot(Box::new(view.clone())));
        let mut steady = strategy::by_name("steady", view.sequence).unwrap();
        pb::ActRequest {
            request_id: request.to_string(),
            table_id: self.table.to_string(),
            hand_no: view.hand_no,
            turn: turn.turn,
            decision: Some(steady.choose(&state, turn)),
            signature: Vec::new(),
        }
    }

    /// Sends a request once, without retries.
    pub(crate) async fn act(
        &self,
        guest: usize,
        request: pb::ActRequest,
    ) -> Result<Response<pb::ActResponse>, Status> {
        let token = &self.guests[guest].token;
        tables(&self.url).act(with_token(token, request)).await
    }
}

/// Returns the decision that is due.
pub(crate) fn turn_of(view: &pb::TableView) -> Option<&pb::Turn> {
    view.hand.as_ref()?.turn.as_ref().filter(|turn| !turn.legal.is_empty())
}

/// Returns the legal move of a kind.
pub(crate) fn legal(view: &pb::TableView, kind: MoveKind) -> Option<&LegalMove> {
    turn_of(view)?.legal.iter().find(|legal| legal.kind() == kind)
}

/// Returns a move without further fields.
pub(crate) fn plain(kind: MoveKind) -> Move {
    Move { kind: kind.into(), ..Move::default() }
}

/// Returns the viewer's own cards.
pub(crate) fn cards(view: &pb::TableView) -> Vec<String> {
    let places = view.hand.iter().flat_map(|hand| &hand.seats);
    let own = places.filter(|harness| harness.seat == view.your_seat);
    own.flat_map(|harness| &harness.cards).map(|card| card.code.clone()).collect()
}

/// Returns a connection without retries, opened on first use.
pub(crate) fn channel(url: &str) -> Channel {
    Endpoint::from_shared(url.to_owned()).unwrap().connect_lazy()
}

pub(crate) fn tables(url: &str) -> TableServiceClient<Channel> {
    TableServiceClient::new(channel(url))
}

/// Wraps a message in a request with a token.
pub(crate) fn with_token<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    chassis::channel::add_token(&mut request, token);
    request
}

/// Returns the demo table, once this number of hands have started.
pub(crate) async fn until_demo_hand(harness: &RoomHarness, url: &str, hands: u64) -> TableId {
    let operator = operator(harness, url);
    let found = async {
        loop {
            let tables = operator.list_tables().await.unwrap();
            let demo = tables.iter().find(|it| it.name == "Demo" && it.hand_no >= hands);
            if let Some(demo) = demo {
                return wire::field::table_id(&demo.table_id).unwrap();
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, found).await.expect("hands are played at the demo table")
}

/// Waits until this hand of a table has started.
pub(crate) async fn until_hand(harness: &RoomHarness, url: &str, table: TableId, hand: u64) {
    let operator = operator(harness, url);
    let reached = async {
        while operator.get_table(table).await.unwrap().hand_no < hand {
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, reached).await.expect("play goes on");
}

/// Closes a table, and waits until everybody is paid out.
pub(crate) async fn close(harness: &RoomHarness, url: &str, table: TableId) {
    let operator = operator(harness, url);
    operator.close_table(table).await.unwrap();
    let mut watch = operator.watch(table);
    let closed = async { while watch.next().await.unwrap().is_some() {} };
    tokio::time::timeout(LONG_TIMEOUT, closed).await.expect("the table closes");
}

//! A request id belongs to its caller: nobody can use up an id that another caller needs.

use std::time::Duration;

use primitives::{RequestId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as wallet;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use rustix::process::Signal;
use system::clock::{Clock as _, SystemClock};
use system::ids::IdMaker;
use tonic::{Request, Status};
use wire::TableRecord;

use crate::excluded::play_until_hand;
use crate::harness::{LONG_TIMEOUT, RoomHarness, RunningProgram};
use crate::people::{Guest, Party, channel, operator, slow_table, with_token};
use crate::records;
use crate::separate::SeparateServices;

fn limits(id: RequestId, day: u64) -> wallet::SetLimitsRequest {
    let limits = wallet::Limits { day: Some(day), ..wallet::Limits::default() };
    let request_id = id.to_string();
    wallet::SetLimitsRequest { request_id, limits: Some(limits), ..Default::default() }
}

async fn set_limits(
    url: &str,
    guest: &Guest,
    request: wallet::SetLimitsRequest,
) -> Result<(), Status> {
    let mut wallet = WalletServiceClient::new(channel(url));
    let request: Request<wallet::SetLimitsRequest> = with_token(&guest.token, request);
    wallet.set_limits(request).await.map(drop)
}

/// A player tries to set limits under the ids of the next hands, which are those of their
/// settlements, and under others that services derive; and sets limits under ids of their own.
async fn uses_up_what_settlements_need(party: &mut Party, url: &str) {
    let (hand_no, hostile) = (party.view_of(0).await.hand_no, party.guests[2].clone());
    let hands = (0..5).map(|ahead| RequestId(fairness::hand_id(party.table, hand_no + ahead).0));
    let times = [UnixMicros(0), SystemClock::new().now()];
    for id in hands.chain(times.map(|at| RequestId::derived(at, [7; 16]))) {
        let refused = set_limits(url, &hostile, limits(id, 1)).await.unwrap_err();
        assert_eq!(wire::status::reason_of(&refused), Some(ErrorReason::BadField), "{refused}");
    }
    let own = IdMaker::system().request_id();
    set_limits(url, &hostile, limits(own, 1_000_000)).await.unwrap();
    // The same id of another caller is another request.
    set_limits(url, &party.guests[1], limits(own, 2_000_000)).await.unwrap();
    play_until_hand(party, hand_no + 5).await;
    let view = party.view_of(0).await;
    assert!(view.stopped.is_empty(), "{:?}", view.stopped);
}

/// Closes the tables, and checks that everybody has their credits.
async fn check_paid_out(harness: &RoomHarness, mut parties: Vec<Party>) {
    for party in &mut parties {
        party.close(harness).await;
    }
    for party in &parties {
        for guest in &party.guests {
            let paid = async {
                while !guest.credits().await.1.iter().all(|credits| *credits == 0) {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::time::timeout(LONG_TIMEOUT, paid).await.expect("they are paid out");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_call_of_a_player_stops_a_table() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::new(&harness, &room.url, 3).await;
    uses_up_what_settlements_need(&mut party, &room.url).await;
    check_paid_out(&harness, vec![party]).await;
    room.running.stop(Signal::INT).await;
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "{said}");
}

/// Seats the same players at two tables: one of them leaves both, and both close after the same
/// hand.
async fn leave_both_tables(apart: &SeparateServices, url: &str) -> [primitives::TableId; 2] {
    let mut one = Party::new(&apart.harness, url, 3).await;
    let mut two = one.at_another(&apart.harness, slow_table("another")).await;
    uses_up_what_settlements_need(&mut one, url).await;
    let hand_no = one.view_of(0).await.hand_no;
    play_until_hand(&mut two, hand_no).await;
    for party in [&mut one, &mut two] {
        party.guests[2].client.stand_up(party.table).await.unwrap();
        play_until_hand(party, hand_no + 1).await;
        // Paying out takes the wallet a moment.
        let gone = async {
            while party.view_of(0).await.seats.len() > 2 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LONG_TIMEOUT, gone).await.expect("who stood up is paid out");
        assert_eq!(party.view_of(0).await.hand_no, hand_no + 1);
    }
    let tables = [one.table, two.table];
    check_paid_out(&apart.harness, vec![one, two]).await;
    tables
}

#[tokio::test(flavor = "multi_thread")]
async fn four_programs_pay_who_had_left_two_tables_and_are_stopped_by_no_call() {
    let apart = SeparateServices::new().await;
    let running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    let url = apart.url(3);
    operator(&apart.harness, &url).list_tables().await.unwrap();
    let mut both = 0;
    // If the last hand won the pot, there is nothing to share, and the test plays again.
    for _ in 0..20 {
        let tables = leave_both_tables(&apart, &url).await;
        let events = records::events(&apart.postgres.admin_url(), "table").await;
        let absent = events.iter().filter(|event| {
            let Ok(TableRecord::PotRefundDue(due)) = TableRecord::try_from(*event) else {
                return false;
            };
            let ours = tables.iter().any(|table| event.stream.0 == table.0);
            ours && due.shares.iter().any(|share| share.seat == 0)
        });
        both = both.max(absent.count());
        if both == 2 {
            break;
        }
    }
    assert_eq!(both, 2, "who had left had a share at both tables");
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    let SeparateServices { harness, postgres, .. } = apart;
    postgres.stop().await.unwrap();
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "{said}");
}

/// Two players sit down under the same id; the first cannot use it for another table.
#[tokio::test(flavor = "multi_thread")]
async fn two_players_sit_down_under_the_same_id() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let operator = operator(&harness, &room.url);
    let tables =
        [operator.create_table(slow_table("one")), operator.create_table(slow_table("two"))];
    let tables = futures_util::future::try_join_all(tables).await.unwrap();
    let id = IdMaker::system().request_id();
    let guests = [Guest::new(&harness, &room.url).await, Guest::new(&harness, &room.url).await];
    let sit = async |guest: &Guest, table: primitives::TableId| {
        let request = proto::table::v1::SitDownRequest {
            request_id: id.to_string(),
            table_id: table.to_string(),
            seat: 0,
            buy_in_credits: 1000,
        };
        crate::people::tables(&room.url).sit_down(with_token(&guest.token, request)).await
    };
    let first = sit(&guests[0], tables[0]).await.unwrap().into_inner();
    assert_eq!(sit(&guests[0], tables[0]).await.unwrap().into_inner(), first);
    sit(&guests[1], tables[0]).await.unwrap();
    // An id belongs to a caller across the whole service: at another table the content differs.
    let elsewhere = sit(&guests[0], tables[1]).await.unwrap_err();
    assert_eq!(wire::status::reason_of(&elsewhere), Some(ErrorReason::RequestIdReused));
    assert_eq!(operator.get_table(tables[0]).await.unwrap().seats.len(), 2);
    room.running.stop(Signal::INT).await;
}

/// A buy-in refused for lack of credits is refused again when the request is repeated, however many
/// were refused since.
#[tokio::test(flavor = "multi_thread")]
async fn a_refused_seat_stays_refused() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let table = operator(&harness, &room.url).create_table(slow_table("poor")).await.unwrap();
    let mut poor = Vec::new();
    for _ in 0..26 {
        let guest = Guest::of(&harness, &room.url, IdMaker::system().player_id());
        guest.client.open_account(None).await.unwrap();
        poor.push(guest);
    }
    let sit = async |guest: &Guest, id: RequestId| {
        let request = proto::table::v1::SitDownRequest {
            request_id: id.to_string(),
            table_id: table.to_string(),
            seat: 1,
            buy_in_credits: 1000,
        };
        let sat =
            crate::people::tables(&room.url).sit_down(with_token(&guest.token, request)).await;
        wire::status::reason_of(&sat.unwrap_err())
    };
    let first = IdMaker::system().request_id();
    let refused = Some(ErrorReason::InsufficientCredits);
    assert_eq!(sit(&poor[0], first).await, refused);
    assert_eq!(sit(&poor[0], first).await, refused);
    for n in 0..75 {
        assert_eq!(sit(&poor[1 + n % 25], IdMaker::system().request_id()).await, refused);
    }
    // After three refusals the player is refused before anything is written.
    let fourth = sit(&poor[1], IdMaker::system().request_id()).await;
    assert_eq!(fourth, Some(ErrorReason::RecordsSpent));
    assert_eq!(sit(&poor[0], first).await, refused);
    // As after a crash.
    room.running.kill();
    let mut room = harness.up(&["--no-bots"]).await;
    let again = proto::table::v1::SitDownRequest {
        request_id: first.to_string(),
        table_id: table.to_string(),
        seat: 1,
        buy_in_credits: 1000,
    };
    let again = crate::people::tables(&room.url).sit_down(with_token(&poor[0].token, again)).await;
    assert_eq!(wire::status::reason_of(&again.unwrap_err()), refused);
    room.running.stop(Signal::INT).await;
}

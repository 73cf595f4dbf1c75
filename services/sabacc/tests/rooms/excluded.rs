//! Players who exclude themselves or reach a limit play no further hand: the hand in play is played
//! to its end, then the seat is paid out or sits out.

use primitives::Credits;
use proto::common::v1::{ErrorReason, LimitMeasure, StandingKind};
use proto::table::v1 as pb;
use proto::wallet::v1 as wallet;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use rustix::process::Signal;
use system::ids::IdMaker;

use crate::harness::{LONG_TIMEOUT, RoomHarness, RunningProgram};
use crate::outages::finish;
use crate::people::{
    BANKROLL, Guest, Party, channel, operator, slow_table, tables, until_hand, with_token,
};
use crate::separate::SeparateServices;

fn id() -> String {
    IdMaker::system().request_id().to_string()
}

async fn exclude(url: &str, guest: &Guest) {
    let request = wallet::ExcludeRequest { request_id: id(), ..Default::default() };
    let mut wallet = WalletServiceClient::new(channel(url));
    wallet.exclude(with_token(&guest.token, request)).await.unwrap();
}

/// Plays until this hand has started, or the table waits for something else.
pub(crate) async fn play_until_hand(party: &mut Party, hand: u64) {
    for _ in 0..1000 {
        let view = party.view_of(0).await;
        if view.hand_no >= hand {
            return;
        }
        let due = view.hand.and_then(|hand| hand.turn).filter(|turn| turn.seat > 0);
        if due.is_some() {
            let (guest, view) = party.turn().await;
            party.decide(guest, &view).await;
        } else {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    panic!("hand {hand} does not begin");
}

/// The second of three players excludes themselves in mid-hand.
async fn check_exclusion(party: &mut Party, url: &str) {
    let (_, view) = party.turn().await;
    let hand_no = view.hand_no;
    let out = party.guests[1].clone();
    exclude(url, &out).await;
    let view = party.view_of(1).await;
    assert_eq!((view.hand_no, view.your_seat), (hand_no, 2), "the hand goes on");
    play_until_hand(party, hand_no + 1).await;
    let gone = async {
        loop {
            let view = party.view_of(0).await;
            let mut dealt = view.hand.iter().flat_map(|hand| &hand.seats).map(|seat| seat.seat);
            assert!(view.hand_no == hand_no || dealt.all(|seat| seat != 2), "{view:?}");
            let seats: Vec<u32> = view.seats.iter().map(|seat| seat.seat).collect();
            if seats == [1, 3] {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, gone).await.expect("the seat is given back");
    let paid = async {
        while !out.credits().await.1.is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, paid).await.expect("the seat is paid out");
    // The credits are those from before the hand and the hand's result.
    let mut entries = Vec::new();
    let mut token = String::new();
    loop {
        let page = out.client.list_entries(None, 3, &token).await.unwrap();
        entries.extend(page.entries);
        token = page.next_page_token;
        if token.is_empty() {
            break;
        }
    }
    let hands: i64 =
        entries.iter().map(|it| if it.hand_id.is_empty() { 0 } else { it.at_table_credits }).sum();
    let last = entries.last().unwrap();
    assert_eq!(last.kind(), wallet::TransferKind::CashOut, "{entries:?}");
    assert_eq!(last.total_credits, i64::try_from(BANKROLL).unwrap() + hands, "{entries:?}");
    assert_eq!(last.balance_credits, last.total_credits);
    assert!(entries.iter().any(|it| it.hand_id.len() == 36), "{entries:?}");
    // Sitting down, buying in and sitting in are refused.
    let again = out.client.sit_down(party.table, 2, Credits::of(view_min(party).await)).await;
    let refused = again.unwrap_err().to_string();
    assert!(refused.contains("keep"), "{refused}");
    let request =
        pb::SitOutRequest { request_id: id(), table_id: party.table.to_string(), sit_out: false };
    assert!(tables(url).sit_out(with_token(&out.token, request)).await.is_err());
}

async fn view_min(party: &Party) -> u32 {
    u32::try_from(party.view_of(0).await.min_buy_in_credits).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn who_excludes_themselves_in_mid_hand_is_paid_out_after_it() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::new(&harness, &room.url, 3).await;
    check_exclusion(&mut party, &room.url).await;
    room.running.stop(Signal::INT).await;
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_excludes_themselves_among_four_programs_is_paid_out_too() {
    let apart = SeparateServices::new().await;
    let mut running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    let operator = operator(&apart.harness, &apart.url(3));
    operator.list_tables().await.unwrap();
    let mut party = Party::new(&apart.harness, &apart.url(3), 3).await;
    check_exclusion(&mut party, &apart.url(3)).await;
    let limited = Party::new(&apart.harness, &apart.url(3), 3).await;
    check_limits(limited, &apart.url(3)).await;
    // Without a wallet the hand in play goes on, and none starts; with it play goes on.
    let hand_no = party.turn().await.1.hand_no;
    running[1].kill();
    let (guest, view) = party.turn().await;
    party.decide(guest, &view).await;
    running[1] = apart.start(1);
    play_until_hand(&mut party, hand_no + 1).await;
    until_hand(&apart.harness, &apart.url(3), party.table, hand_no + 1).await;
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    apart.postgres.stop().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_player_sits_out_with_the_credits_and_learns_why() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let mut party = Party::at(&harness, &room.url, 3, slow_table("frozen")).await;
    let hand_no = party.turn().await.1.hand_no;
    let frozen = party.guests[1].clone();
    let request = wallet::FreezeAccountRequest {
        request_id: id(),
        player_id: frozen.id.to_string(),
        reason: "a question".to_owned(),
    };
    let token = harness.token(chassis::auth::Role::Operator, "test");
    let mut accounts = WalletServiceClient::new(channel(&room.url));
    accounts.freeze_account(with_token(&token, request)).await.unwrap();
    play_until_hand(&mut party, hand_no + 1).await;
    let view = party.view_of(1).await;
    let seat = view.seats.iter().find(|seat| seat.seat == 2).unwrap();
    assert_eq!(seat.state(), pb::SeatState::SittingOut);
    assert!(seat.stack_credits > 0);
    assert_eq!(view.your_standing.map(|it| it.kind()), Some(StandingKind::Frozen));
    assert_eq!(party.view_of(0).await.your_standing, None, "the others are not told");
    let request =
        pb::SitOutRequest { request_id: id(), table_id: party.table.to_string(), sit_out: false };
    let refused = tables(&room.url).sit_out(with_token(&frozen.token, request)).await.unwrap_err();
    assert_eq!(wire::status::reason_of(&refused), Some(ErrorReason::BarredFromPlay), "{refused}");
    room.running.stop(Signal::INT).await;
}

/// In mid-hand two of three players set a loss limit of one credit, with more at the table, and the
/// third a time limit of a second. They are notified at the table; after the hand none of them plays
/// another.
async fn check_limits(mut party: Party, url: &str) {
    party.turn().await;
    let mut accounts = WalletServiceClient::new(channel(url));
    let day = |most| Some(wallet::Limits { day: Some(most), ..wallet::Limits::default() });
    for (number, guest) in party.guests.iter().enumerate() {
        let (loss, time) = if number < 2 { (day(1), None) } else { (None, day(1)) };
        let request =
            wallet::SetLimitsRequest { request_id: id(), loss, time, ..Default::default() };
        accounts.set_limits(with_token(&guest.token, request)).await.unwrap();
    }
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    party.turn().await;
    finish(&mut party).await;
    let sits_out = |view: &pb::TableView, number: u32| {
        let seat = view.seats.iter().find(|seat| seat.seat == number);
        seat.is_some_and(|seat| seat.state() == pb::SeatState::SittingOut)
    };
    let bitten = async {
        loop {
            let view = party.view_of(0).await;
            if (1..=3).all(|number| sits_out(&view, number)) {
                return view;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let Ok(view) = tokio::time::timeout(LONG_TIMEOUT, bitten).await else {
        panic!("the limits do not hold: {:?}", party.view_of(0).await)
    };
    assert_eq!(view.hand_no, 1, "{view:?}");
    for (number, guest) in (1..).zip(&party.guests) {
        let own = guest.client.get_table(party.table).await.unwrap();
        let standing = own.your_standing.unwrap();
        let measure = standing.limit.map(|mark| mark.measure());
        let expected = if number == 3 { LimitMeasure::Time } else { LimitMeasure::Loss };
        assert_eq!((standing.kind(), measure), (StandingKind::LimitReached, Some(expected)));
        // A looser limit takes effect a day later, so it does not help at once.
        let mut loose = wallet::SetLimitsRequest { request_id: id(), ..Default::default() };
        (loose.loss, loose.time) = (day(1_000_000), day(80_000));
        let set = accounts.set_limits(with_token(&guest.token, loose)).await.unwrap().into_inner();
        assert!(set.loss.unwrap().later_time.is_some() || set.time.unwrap().later_time.is_some());
        let back = pb::SitOutRequest {
            request_id: id(),
            table_id: party.table.to_string(),
            sit_out: false,
        };
        let refused = tables(url).sit_out(with_token(&guest.token, back)).await.unwrap_err();
        let reason = wire::status::reason_of(&refused);
        assert_eq!(reason, Some(ErrorReason::BarredFromPlay), "{refused}");
        let stack = own.seats.iter().find(|seat| seat.seat == number).unwrap().stack_credits;
        guest.client.stand_up(party.table).await.unwrap();
        let paid = async {
            while !guest.credits().await.1.is_empty() {
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LONG_TIMEOUT, paid).await.expect("whoever is barred may leave");
        // What was won in the hand may be brought again, and the limit of one credit on top.
        let most = own.max_buy_in_credits;
        let again =
            guest.client.sit_down(party.table, number, Credits::try_new(most).unwrap()).await;
        let has_won_as_much = number < 3 && stack > 2 * most - 2;
        assert!(again.is_err() || has_won_as_much, "no buy-in either: {again:?}, of {stack}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_reaches_a_loss_or_a_time_limit_plays_no_further_hand() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let party = Party::new(&harness, &room.url, 3).await;
    check_limits(party, &room.url).await;
    room.running.stop(Signal::INT).await;
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "{said}");
}

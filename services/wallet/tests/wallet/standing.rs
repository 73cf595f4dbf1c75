//! Standing of players as tables ask for it, and limits of losses and of time as players see them.

use std::time::Duration;

use chassis::auth::Role;
use proto::common::v1::{ErrorReason, LimitMeasure, LimitWindow, StandingKind};
use proto::wallet::v1 as pb;
use proto::wallet::v1::settlement_service_server::SettlementService as _;
use proto::wallet::v1::wallet_service_server::WalletService as _;
use sabacc_wallet::api::Api;
use tonic::Code;

use crate::api::{OPERATOR, SERVICE, buy_in_request, by, bytes, check, given};
use crate::harness::{BEGIN, Harness, TABLE, TestClock, id, id_at, player, seat, settle};

async fn standing(api: &Api, players: &[u8]) -> Vec<proto::common::v1::PlayStanding> {
    found(api, players).await.into_iter().map(|it| it.standing.unwrap()).collect()
}

async fn found(api: &Api, players: &[u8]) -> Vec<pb::PlayerStanding> {
    let ask = pb::CheckStandingRequest {
        table_id: bytes(TABLE.0),
        player_ids: players.iter().map(|n| bytes(player(*n).0)).collect(),
    };
    api.check_standing(by(SERVICE, ask)).await.unwrap().into_inner().players
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_learn_what_a_buy_in_may_be() {
    let (harness, api) = given().await;
    let available = async || -> Vec<Option<u64>> {
        found(&api, &[0, 9]).await.into_iter().map(|it| it.available).collect()
    };
    let before = harness.balance(crate::harness::own(0)).await;
    let credits = u64::try_from(before).unwrap();
    assert_eq!(available().await, [Some(credits), None]);
    harness.execute_until_answered(crate::harness::buy_in(70, 0, before - 1)).await.unwrap();
    assert_eq!(available().await, [Some(1), None]);
}

fn day(day: u64) -> Option<pb::Limits> {
    Some(pb::Limits { day: Some(day), ..Default::default() })
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_learn_at_once_of_exclusions_freezes_and_limits() {
    let (harness, api) = given().await;
    let me = player(0).to_string();
    let me = (Role::Player, me.as_str());
    let kinds = async |players: &[u8]| -> Vec<StandingKind> {
        standing(&api, players).await.iter().map(|it| it.kind()).collect()
    };
    assert_eq!(
        kinds(&[1, 0, 9]).await,
        [StandingKind::MayPlay, StandingKind::MayPlay, StandingKind::Closed]
    );
    // A loss limit of the 40 credits at the table, and half an hour at tables.
    let set = pb::SetLimitsRequest {
        request_id: id(100).to_string(),
        loss: day(40),
        time: day(1800),
        ..Default::default()
    };
    let said = api.set_limits(by(me, set.clone())).await.unwrap().into_inner();
    assert_eq!(said.loss.unwrap().now.unwrap().day, Some(40));
    assert_eq!((said.time.unwrap().now.unwrap().day, said.now.unwrap().day), (Some(1800), None));
    harness.execute_until_answered(settle(101, &[(seat(0), -36), (seat(1), 36)])).await.unwrap();
    let near = standing(&api, &[0]).await.remove(0);
    assert_eq!((near.kind(), near.nearly.len()), (StandingKind::MayPlay, 1));
    assert_eq!((near.nearly[0].measure(), near.nearly[0].left), (LimitMeasure::Loss, 4));
    harness.execute_until_answered(settle(102, &[(seat(0), -4), (seat(1), 4)])).await.unwrap();
    let reached = standing(&api, &[0]).await.remove(0);
    assert_eq!(reached.kind(), StandingKind::LimitReached);
    let limit = reached.limit.unwrap();
    assert_eq!((limit.measure(), limit.window()), (LimitMeasure::Loss, LimitWindow::Day));
    assert!(reached.end_time.is_some());
    let refused = api.buy_in(by(SERVICE, buy_in_request(103, 0, 1))).await;
    let fact = Some(("measure", "LOSS"));
    check(refused, Code::FailedPrecondition, ErrorReason::TransferRefused, fact);
    let limits =
        api.get_limits(by(me, pb::GetLimitsRequest::default())).await.unwrap().into_inner();
    assert_eq!((limits.lost.unwrap().day, limits.left_to_lose.unwrap().day), (Some(40), Some(0)));
    assert_eq!(limits.used.unwrap().day, Some(40));
    assert_eq!((limits.left.unwrap().day, limits.left_seconds.unwrap().day), (None, Some(1800)));
    assert_eq!(limits.standing.unwrap().kind(), StandingKind::LimitReached);

    // After half an hour the time limit is reached too, and is the one reported.
    harness.execute_until_answered(settle(104, &[(seat(0), 20), (seat(1), -20)])).await.unwrap();
    assert_eq!(kinds(&[0]).await, [StandingKind::MayPlay]);
    harness.clock.forward(Duration::from_secs(1800));
    let reached = standing(&api, &[0]).await.remove(0);
    assert_eq!(reached.limit.unwrap().measure(), LimitMeasure::Time);
    let freeze = pb::FreezeAccountRequest {
        request_id: id(105).to_string(),
        player_id: player(0).to_string(),
        reason: "a test".into(),
    };
    api.freeze_account(by(OPERATOR, freeze)).await.unwrap();
    assert_eq!(kinds(&[0]).await, [StandingKind::Frozen]);
    let late = id_at(106, BEGIN + 1_800_000_000);
    let exclude = pb::ExcludeRequest { request_id: late.to_string(), ..Default::default() };
    api.exclude(by(me, exclude)).await.unwrap();
    assert_eq!(kinds(&[0, 1]).await, [StandingKind::Excluded, StandingKind::MayPlay]);
    // Both ids are old by now, and one old id a second is looked up.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    let again = api.set_limits(by(me, set)).await.unwrap().into_inner();
    assert_eq!(again.loss.unwrap().now.unwrap().day, Some(40), "the first answer");
    harness.is_sound().await;
}

/// Use of limits is restored from the log or its snapshot, never from the tables.
#[tokio::test(flavor = "multi_thread")]
async fn what_counts_against_limits_outlives_restarts() {
    let (harness, url) = Harness::over_postgres("counts").await;
    harness.open_accounts(2, 100).await;
    for n in 0..2 {
        harness.execute_until_answered(crate::harness::buy_in(u64::from(n), n, 40)).await.unwrap();
    }
    harness.execute_until_answered(settle(10, &[(seat(0), -16), (seat(1), 16)])).await.unwrap();
    let clock = harness.clock.clone();
    let seen = harness.wallet.player_limits(vec![player(0)]).await.unwrap();
    harness.stop().await;
    for harm in ["SELECT 1", "DELETE FROM snapshots"] {
        crate::tables::sql(&url, harm).await;
        let hands = TestClock::new();
        hands.set(clock.now());
        let again = Harness::over_database(&url, hands).await;
        let found = again.wallet.player_limits(vec![player(0)]).await.unwrap();
        assert_eq!(found, seen, "{harm}");
        again.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_that_are_none_are_refused() {
    let (_house, api) = given().await;
    let me = player(0).to_string();
    let me = (Role::Player, me.as_str());
    let set = |n, change: &dyn Fn(&mut pb::SetLimitsRequest)| {
        let mut request =
            pb::SetLimitsRequest { request_id: id(n).to_string(), ..Default::default() };
        change(&mut request);
        request
    };
    let bad = [
        set(100, &|_| {}),
        set(101, &|it| it.time = day(2_595_601)),
        set(102, &|it| it.loss = day(1 << 53)),
    ];
    for request in bad {
        let refused = api.set_limits(by(me, request)).await;
        check(refused, Code::InvalidArgument, ErrorReason::BadField, None);
    }
    let ids = |player_ids| pb::CheckStandingRequest { table_id: bytes(TABLE.0), player_ids };
    for bad in [vec![], vec![bytes(player(1).0); 2], vec![vec![1]], vec![bytes([3; 16]); 65]] {
        let refused = api.check_standing(by(SERVICE, ids(bad))).await;
        check(refused, Code::InvalidArgument, ErrorReason::BadField, None);
    }
}

//! Starting credits of guests: issued once, on record, and as many a day as a setting says.

use std::time::Duration;

use chassis::auth::Role;
use primitives::Credits;
use proto::common::v1::ErrorReason;
use proto::wallet::v1 as pb;
use proto::wallet::v1::settlement_service_server::SettlementService as _;
use sabacc_wallet::api::Api;
use sabacc_wallet::config::StartingCredits;
use wire::status::reason_of;

use crate::api::{SERVICE, by, bytes};
use crate::harness::{Harness, own, player};

/// Asks for the credits of a guest; the amount, or why it was refused.
async fn give(api: &Api, guest: u8) -> Result<u64, ErrorReason> {
    let request = pb::GiveStartingCreditsRequest { player_id: bytes(player(guest).0) };
    let given = api.give_starting_credits(by(SERVICE, request)).await;
    given
        .map(|answer| answer.into_inner().amount_credits)
        .map_err(|status| reason_of(&status).expect("a refusal has its reason"))
}

fn giving(amount: u64, per_day: u32) -> StartingCredits {
    StartingCredits { amount: Credits::try_new(amount).expect("it is small"), per_day }
}

#[tokio::test]
async fn a_guest_is_given_credits_once_and_a_day_takes_so_many_guests() {
    let (harness, _) = Harness::over_postgres("guests").await;
    let api = harness.api().giving(giving(500, 3));
    assert_eq!(give(&api, 1).await, Ok(500));
    let size = harness.size().await;
    assert_eq!(give(&api, 1).await, Ok(500), "a repeat gets the first answer");
    assert_eq!((harness.balance(own(1)).await, harness.size().await), (500, size));
    assert_eq!(give(&api, 2).await, Ok(500));
    assert_eq!(give(&api, 3).await, Err(ErrorReason::RecordsSpent), "a repeat has counted too");
    harness.clock.forward(Duration::from_hours(24));
    assert_eq!(give(&api, 3).await, Ok(500));
    let other = harness.api().giving(giving(900, 3));
    assert_eq!(give(&other, 1).await, Ok(0), "another setting gives nobody more");
    assert_eq!(harness.balance(own(1)).await, 500);
    harness.is_sound().await;
}

#[tokio::test]
async fn a_wallet_gives_nothing_unless_it_is_configured_to() {
    let (harness, _) = Harness::over_postgres("no_guests").await;
    let size = harness.size().await;
    assert_eq!(give(&harness.api(), 1).await, Ok(0));
    assert_eq!(harness.size().await, size, "no account is opened");
}

/// ARCHITECTURE.md §6.3: the guard before this service lets the table alone through.
#[test]
fn the_table_alone_may_ask() {
    let access = chassis::auth::Access::from_descriptors(proto::DESCRIPTORS).unwrap();
    let path = "/sabacc.wallet.v1.SettlementService/GiveStartingCredits";
    let (_, roles) = access.methods().find(|(method, _)| *method == path).unwrap();
    assert!(roles.iter().eq(&[Role::Service]));
    assert!(access.services(path).eq(["table"]));
}

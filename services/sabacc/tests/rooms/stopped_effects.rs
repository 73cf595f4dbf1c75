//! An effect that another service refuses stops alone: everybody plays on, and an operator resumes
//! it.
//!
//! A proxy between the table and the wallet refuses cash-outs on demand.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bots::{BotOptions, Thinking, strategy};
use chassis::auth::Role;
use client::Client;
use primitives::{Credits, TableId};
use proto::common::v1::ErrorReason;
use proto::table::v1::TableView;
use proto::wallet::v1 as pb;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use rustix::process::Signal;
use system::ids::IdMaker;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::body::Body;
use tonic::codegen::{BoxFuture, Service, http};
use tonic::server::NamedService;
use tonic::transport::{Channel, Server};
use tonic_types::StatusExt as _;

use crate::harness::{LONG_TIMEOUT, RunningProgram};
use crate::people::{
    BANKROLL, Guest, channel, close, operator, slow_table, until_hand, with_token,
};
use crate::separate::SeparateServices;

/// Proxy that passes calls on to the wallet, and refuses cash-outs on demand.
#[derive(Clone)]
struct WalletProxy {
    wallet: Channel,
    refuses: Arc<AtomicBool>,
}

impl NamedService for WalletProxy {
    const NAME: &'static str = "sabacc.wallet.v1.SettlementService";
}

impl Service<http::Request<Body>> for WalletProxy {
    type Response = http::Response<Body>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let refused = request.uri().path().ends_with("/CashOut");
        if refused && self.refuses.load(Ordering::Relaxed) {
            let status = wire::api_refusal(ErrorReason::TransferRefused, "not today");
            let status = tonic::Status::from(status).into_http();
            return Box::pin(async move { Ok(status) });
        }
        let mut wallet = self.wallet.clone();
        Box::pin(async move {
            let ready = std::future::poll_fn(|cx| wallet.poll_ready(cx)).await;
            let answer = match ready {
                Ok(()) => wallet.call(request).await,
                Err(error) => Err(error),
            };
            Ok(answer
                .unwrap_or_else(|error| tonic::Status::unavailable(error.to_string()).into_http()))
        })
    }
}

/// Waits until the table looks like this.
async fn wait_for(
    operator: &Client,
    table: TableId,
    like: impl Fn(&TableView) -> bool,
) -> TableView {
    let seen = async {
        loop {
            let view = operator.get_table(table).await.unwrap();
            if like(&view) {
                return view;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(LONG_TIMEOUT, seen).await.expect("the table gets there")
}

async fn resume(apart: &SeparateServices, table: TableId, more: &[&str]) -> String {
    let (table, url) = (table.to_string(), apart.url(3));
    let mut command = apart.harness.sabacc(&["table", "resume", &table, "--server", &url]);
    command.args(["--reason", "looked at it"]).args(more);
    command.env("SABACC_TOKEN", apart.harness.token(Role::Operator, "boss"));
    let (status, said) = apart.harness.run(command).await;
    assert!(status.success(), "{said}");
    said
}

/// Seats a guest who leaves and is not paid out.
async fn unpaid_guest(apart: &SeparateServices, table: TableId, refuses: &AtomicBool) -> Guest {
    let guest = Guest::new(&apart.harness, &apart.url(3)).await;
    guest.client.sit_down(table, 0, Credits::of(1000)).await.unwrap();
    refuses.store(true, Ordering::Relaxed);
    guest.client.stand_up(table).await.unwrap();
    let operator = operator(&apart.harness, &apart.url(3));
    wait_for(&operator, table, |view| !view.stopped.is_empty()).await;
    refuses.store(false, Ordering::Relaxed);
    guest
}

/// Tries the lawful calls that would leave a table with a payment that nobody can take. The guest
/// is not seated, has been, and has some credits on their account.
async fn check_forbidden(apart: &SeparateServices, table: TableId, guest: &Guest) {
    let token = apart.harness.token(Role::Operator, "boss");
    let mut wallet = WalletServiceClient::new(channel(&apart.url(3)));
    let id = || IdMaker::system().request_id().to_string();
    let reason = || "a test".to_owned();
    let refusal = |status: Status| {
        let info = status.get_details_error_info().unwrap();
        let of = |key: &str| info.metadata.get(key).cloned().unwrap_or_default();
        (of("refusal"), of("table"))
    };
    for account in [format!("seat/{table}/{}", guest.id), format!("pot/{table}/sabacc")] {
        let (request_id, amount, reason) = (id(), -1, reason());
        let propose =
            pb::ProposeAdjustmentRequest { request_id, account, amount_credits: amount, reason };
        let refused = wallet.propose_adjustment(with_token(&token, propose)).await.unwrap_err();
        assert_eq!(refusal(refused).0, "WRONG_ACCOUNT");
    }
    let (player_id, amount) = (guest.id.to_string(), guest.credits().await.0);
    let (request_id, reason_given) = (id(), reason());
    let redeem = pb::RedeemRequest {
        request_id,
        player_id: player_id.clone(),
        amount_credits: amount,
        reason: reason_given,
    };
    wallet.redeem(with_token(&token, redeem)).await.unwrap();
    let view = operator(&apart.harness, &apart.url(3)).get_table(table).await.unwrap();
    let close = pb::CloseAccountRequest { request_id: id(), player_id, reason: reason() };
    let closed = wallet.close_account(with_token(&token, close)).await;
    // A former player may have a share in this pot.
    if view.sabacc_pot_credits > 0 {
        let said = refusal(closed.unwrap_err());
        assert_eq!(said, ("SHARE_IN_POT".to_owned(), table.to_string()));
    } else {
        closed.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_wallet_refuses_stops_nobody_else_and_goes_on_by_an_operators_word() {
    let mut apart = SeparateServices::new().await;
    let between = testkit::free_port().unwrap();
    apart.wallet_of_table = Some(format!("http://127.0.0.1:{between}"));
    let refuses = Arc::new(AtomicBool::new(false));
    let service = WalletProxy { wallet: channel(&apart.url(1)), refuses: Arc::clone(&refuses) };
    let at = ([127, 0, 0, 1], between).into();
    let proxy = tokio::spawn(Server::builder().add_service(service).serve(at));
    let mut running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    let operator = operator(&apart.harness, &apart.url(3));
    let table = operator.create_table(slow_table("stopped")).await.unwrap();
    let stop = CancellationToken::new();
    let mut bots = JoinSet::new();
    for seed in 0..2 {
        let guest = Guest::new(&apart.harness, &apart.url(3)).await;
        let steady = strategy::by_name("steady", seed).unwrap();
        let bot = BotOptions {
            seat: 0,
            buy_in: Credits::ZERO,
            thinking: Thinking::Fixed(Duration::from_millis(5)),
        };
        let stop = stop.clone();
        bots.spawn(async move { bots::run_bot(&guest.client, table, bot, steady, stop).await });
    }
    until_hand(&apart.harness, &apart.url(3), table, 1).await;
    let waits = unpaid_guest(&apart, table, &refuses).await;
    let now = operator.get_table(table).await.unwrap();
    assert!(now.stopped[0].why.contains("not today"), "{:?}", now.stopped);
    let public = waits.client.get_table(table).await.unwrap();
    assert_eq!((public.stopped.len(), public.stopped[0].why.as_str()), (1, ""));
    // Hands go on, and a crash loses nothing.
    until_hand(&apart.harness, &apart.url(3), table, now.hand_no + 2).await;
    running[2].kill();
    running[2] = apart.start(2);
    until_hand(&apart.harness, &apart.url(3), table, now.hand_no + 4).await;
    let view = operator.get_table(table).await.unwrap();
    assert_eq!(view.stopped, now.stopped);
    assert!(resume(&apart, table, &[]).await.contains("is tried again"));
    wait_for(&operator, table, |view| view.stopped.is_empty() && view.seats.len() == 2).await;
    assert_eq!(waits.credits().await, (BANKROLL, vec![]));
    let second = unpaid_guest(&apart, table, &refuses).await;
    assert!(resume(&apart, table, &["--suspense"]).await.contains("is paid to house/suspense"));
    wait_for(&operator, table, |view| view.stopped.is_empty() && view.seats.len() == 2).await;
    assert_eq!(second.credits().await, (BANKROLL - 1000, vec![]));
    stop.cancel();
    while let Some(bot) = bots.join_next().await {
        bot.unwrap().unwrap();
    }
    check_forbidden(&apart, table, &second).await;
    close(&apart.harness, &apart.url(3), table).await;
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    proxy.abort();
    let SeparateServices { harness, postgres, .. } = apart;
    postgres.stop().await.unwrap();
    for (audit, words) in [
        (&["audit", "ledger"][..], "its suspense account"),
        (
            &["audit", "table", "stopped"],
            "is paid to house/suspense, by operator:boss: looked at it",
        ),
    ] {
        let (status, said) = harness.run(harness.sabacc(audit)).await;
        assert!(status.success() && said.contains(words), "{audit:?}:\n{said}");
    }
}

//! Two processes of one service: one owns the log, the other waits and takes over.

use std::net::SocketAddr;
use std::time::Duration;

use bots::{BotEnd, BotOptions, Thinking, strategy};
use chassis::channel::{self, CredentialInterceptor};
use primitives::Credits;
use proto::table::v1::TableConfig;
use rustix::process::Signal;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::harness::{LONG_TIMEOUT, RunningProgram, poll_until};
use crate::people::{Guest, close, operator, until_hand};
use crate::readiness::until_ready;
use crate::separate::SeparateServices;

/// A lease, and the time to notice its end.
const TAKE_OVER_TIME: Duration = Duration::from_secs(15);

/// Load balancer of two processes: connections go to the one that is ready.
async fn balance(port: u16, to: [u16; 2]) {
    let listener = TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let ways = to.map(|port| {
        let uri = format!("http://127.0.0.1:{port}").parse().unwrap();
        (
            SocketAddr::from(([127, 0, 0, 1], port)),
            channel::connect_lazy(&uri, None, CredentialInterceptor::NoToken).unwrap(),
        )
    });
    while let Ok((mut caller, _)) = listener.accept().await {
        let ways = ways.clone();
        tokio::spawn(async move {
            for (address, way) in ways {
                if channel::is_ready(&way).await.is_ok() {
                    let mut served = TcpStream::connect(address).await?;
                    return tokio::io::copy_bidirectional(&mut caller, &mut served).await.map(drop);
                }
            }
            Ok(())
        });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_standby_takes_a_killed_wallets_log_and_hands_go_on() {
    let apart = SeparateServices::new().await;
    let own = [testkit::free_port().unwrap(), testkit::free_port().unwrap()];
    let balancer = tokio::spawn(balance(apart.ports[1], own));
    let mut first = apart.start_at(1, own[0]);
    let url = |port: u16| format!("http://127.0.0.1:{port}");
    until_ready(&url(own[0]), None, LONG_TIMEOUT).await;
    let rest: Vec<RunningProgram> = [0, 2, 3].map(|service| apart.start(service)).into();
    let second = apart.start_at(1, own[1]);
    until_ready(&url(own[1]), Some("log: standby: log wallet/0 is owned by wallet "), LONG_TIMEOUT)
        .await;
    until_ready(&apart.url(3), None, LONG_TIMEOUT).await;

    let operator = operator(&apart.harness, &apart.url(3));
    let config = TableConfig {
        name: "standby".to_owned(),
        variant: "dice".to_owned(),
        ..TableConfig::default()
    };
    let table = operator.create_table(config).await.unwrap();
    let stop = CancellationToken::new();
    let mut bots = JoinSet::new();
    for seed in 0..3 {
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
    until_hand(&apart.harness, &apart.url(3), table, 3).await;

    first.kill();
    let killed = Instant::now();
    until_ready(&url(own[1]), None, TAKE_OVER_TIME).await;
    assert!(killed.elapsed() < TAKE_OVER_TIME, "{:?}", killed.elapsed());
    let now = operator.get_table(table).await.unwrap().hand_no;
    until_hand(&apart.harness, &apart.url(3), table, now + 3).await;

    // A live process that lost its log sends its callers to the other.
    let third = apart.start_at(1, own[0]);
    until_ready(&url(own[0]), Some("log: standby: log wallet/0 is owned by wallet "), LONG_TIMEOUT)
        .await;
    second.send_signal(Signal::STOP);
    until_ready(&url(own[0]), None, TAKE_OVER_TIME).await;
    second.send_signal(Signal::CONT);
    until_ready(
        &url(own[1]),
        Some("log: standby: log wallet/0 is owned by wallet "),
        TAKE_OVER_TIME,
    )
    .await;
    let now = operator.get_table(table).await.unwrap().hand_no;
    until_hand(&apart.harness, &apart.url(3), table, now + 3).await;
    stop.cancel();
    while let Some(bot) = bots.join_next().await {
        let report = bot.unwrap().unwrap();
        assert_eq!((report.end, report.illegal_moves), (BotEnd::Stopped, 0), "{report:?}");
    }
    close(&apart.harness, &apart.url(3), table).await;

    let said = second.output();
    assert_eq!(said.matches("standby: log wallet/0").count(), 2, "once for each owner:\n{said}");
    assert!(!said.contains("take_over") && !said.contains("backtrace"), "{said}");
    for mut service in rest.into_iter().rev().chain([second, third]) {
        service.stop(Signal::TERM).await;
    }
    balancer.abort();
    let SeparateServices { harness, postgres, .. } = apart;
    postgres.stop().await.unwrap();
    let (status, said) = harness.run(harness.sabacc(&["audit", "ledger"])).await;
    assert!(status.success(), "{said}");
}

/// ARCHITECTURE.md §4.
#[tokio::test(flavor = "multi_thread")]
async fn each_service_waits_as_a_standby_and_leaves_when_it_is_stopped() {
    let apart = SeparateServices::new().await;
    let running: Vec<RunningProgram> = [0, 1, 2].map(|service| apart.start(service)).into();
    until_ready(&apart.url(2), None, LONG_TIMEOUT).await;
    for service in 0..3 {
        let port = testkit::free_port().unwrap();
        let mut standby = apart.start_at(service, port);
        let url = format!("http://127.0.0.1:{port}");
        until_ready(&url, Some("standby: log "), LONG_TIMEOUT).await;
        let logged =
            poll_until(|| standby.output().contains("this process takes it then").then_some(()));
        assert!(logged.await.is_some(), "{}", standby.output());
        standby.stop(Signal::TERM).await;
        until_ready(&apart.url(service), None, LONG_TIMEOUT).await;
    }
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    apart.postgres.stop().await.unwrap();
}

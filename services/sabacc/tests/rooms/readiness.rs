//! Readiness of a service, as load balancers and operators see it.

use std::time::Duration;

use chassis::channel::{self, CredentialInterceptor, PeerChannel};
use chassis::http_client::HttpClient;
use rustix::process::{Pid, Signal};
use tokio::time::{Instant, sleep};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::{EXEMPT_LOOPBACK, LONG_TIMEOUT, PLAYER_CALLS, RoomHarness, RunningProgram};
use crate::people::operator;
use crate::separate::SeparateServices;

/// Longest time until an outage is seen.
const DETECTION_TIME: Duration = Duration::from_secs(10);

fn to(url: &str) -> PeerChannel {
    channel::connect_lazy(&url.parse().unwrap(), None, CredentialInterceptor::NoToken).unwrap()
}

/// Returns a service's health for a name.
async fn health_status(url: &str, name: &str) -> ServingStatus {
    let request = HealthCheckRequest { service: name.to_owned() };
    HealthClient::new(to(url)).check(request).await.unwrap().into_inner().status()
}

/// Waits until a service is ready, or is not ready for this reason.
pub(crate) async fn until_ready(url: &str, why_not: Option<&str>, within: Duration) {
    let (began, channel) = (Instant::now(), to(url));
    loop {
        let readiness = channel::is_ready(&channel).await;
        let fits = match (&readiness, why_not) {
            (Ok(()), None) => true,
            (Err(reason), Some(why)) => reason.contains(why),
            (Ok(()) | Err(_), _) => false,
        };
        if fits {
            return;
        }
        assert!(began.elapsed() < within, "{url}: {readiness:?}, not {why_not:?}");
        sleep(Duration::from_millis(100)).await;
    }
}

/// Returns every process of a database server.
fn server_processes(apart: &SeparateServices) -> Vec<Pid> {
    let note = apart.harness.data().join("postgres/postmaster.pid");
    let note = std::fs::read_to_string(note).unwrap();
    let first: i32 = note.lines().next().unwrap().trim().parse().unwrap();
    let mut all = vec![first];
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(id) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        if parent.is_some_and(|parent| parent == first.to_string()) {
            all.push(id);
        }
    }
    all.into_iter().filter_map(Pid::from_raw).collect()
}

fn send_signal(processes: &[Pid], signal: Signal) {
    for process in processes {
        // Some have ended meanwhile.
        let _ = rustix::process::kill_process(*process, signal);
    }
}

async fn healthcheck(harness: &RoomHarness, url: &str) -> (Option<i32>, String) {
    let mut command = harness.sabacc(&["healthcheck", url]);
    command.env_remove(PLAYER_CALLS).env_remove(EXEMPT_LOOPBACK);
    let (status, said) = harness.run(command).await;
    (status.code(), said)
}

async fn probe(url: &str, path: &str) -> (u16, String) {
    let answer = HttpClient::new().get(&url.parse().unwrap(), path).await.unwrap();
    (answer.status.as_u16(), String::from_utf8_lossy(&answer.body).into_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_that_hangs_makes_every_service_unready_and_its_return_ready() {
    let apart = SeparateServices::new().await;
    let running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    for service in 0..4 {
        until_ready(&apart.url(service), None, LONG_TIMEOUT).await;
        assert_eq!(probe(&apart.url(service), "readyz").await, (200, "ready\n".to_owned()));
    }
    assert_eq!(
        health_status(&apart.url(1), "sabacc.wallet.v1.WalletService").await,
        ServingStatus::Serving
    );
    let (code, said) = healthcheck(&apart.harness, &apart.url(3)).await;
    assert_eq!(code, Some(0), "{said}");

    let processes = server_processes(&apart);
    send_signal(&processes, Signal::STOP);
    for service in 0..3 {
        until_ready(&apart.url(service), Some("log: "), DETECTION_TIME).await;
    }
    until_ready(&apart.url(3), Some("wallet: it is not ready: log: "), DETECTION_TIME).await;
    for service in 0..4 {
        let url = apart.url(service);
        assert_eq!(health_status(&url, "").await, ServingStatus::NotServing);
        assert_eq!(health_status(&url, "liveness").await, ServingStatus::Serving);
        assert_eq!(probe(&url, "healthz").await, (200, "alive\n".to_owned()));
        assert_eq!(probe(&url, "readyz").await.0, 503);
    }
    let named = health_status(&apart.url(1), "sabacc.wallet.v1.WalletService").await;
    assert_eq!(named, ServingStatus::NotServing);
    let (code, said) = healthcheck(&apart.harness, &apart.url(1)).await;
    assert!(code == Some(1) && said.contains("log: "), "{code:?}: {said}");

    send_signal(&processes, Signal::CONT);
    for service in 0..4 {
        until_ready(&apart.url(service), None, LONG_TIMEOUT).await;
    }
    operator(&apart.harness, &apart.url(3)).list_tables().await.unwrap();
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    apart.postgres.stop().await.unwrap();
}

/// ARCHITECTURE.md §5.
#[tokio::test(flavor = "multi_thread")]
async fn a_dealer_that_is_gone_makes_the_table_unready_and_the_wallet_not() {
    let apart = SeparateServices::new().await;
    let mut running: Vec<RunningProgram> = [0, 1, 2, 3].map(|service| apart.start(service)).into();
    until_ready(&apart.url(3), None, LONG_TIMEOUT).await;
    running[0].kill();
    until_ready(&apart.url(2), Some("dealer: it "), DETECTION_TIME).await;
    until_ready(&apart.url(3), Some("table: it is not ready: dealer: "), DETECTION_TIME).await;
    until_ready(&apart.url(1), None, DETECTION_TIME).await;
    let (code, said) = healthcheck(&apart.harness, &apart.url(0)).await;
    assert!(code == Some(1) && said.contains("cannot be reached"), "{code:?}: {said}");
    running[0] = apart.start(0);
    until_ready(&apart.url(3), None, LONG_TIMEOUT).await;
    for mut service in running.into_iter().rev() {
        service.stop(Signal::TERM).await;
    }
    apart.postgres.stop().await.unwrap();
}

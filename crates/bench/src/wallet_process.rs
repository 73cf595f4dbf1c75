//! A wallet as a child process, as in a deployment, so that its memory and processor time can be
//! measured.
//!
//! The child is this program under a hidden command. It takes its settings from its environment,
//! prints its address on standard output, and stops when standard input ends, as it does when the
//! parent ends.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chassis::auth::{Role, ServiceToken, TokenIssuer};
use chassis::channel::{self, CredentialInterceptor, PeerChannel};
use chassis::config::{Service, ServiceConfig, Source};
use chassis::drain::Drain;
use chassis::{serve, telemetry};
use client::Client;
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;

use crate::harness::BenchHarness;
use tokio::time::Instant;

/// Maximum time of a start, including the reading of its log.
const START_TIMEOUT: Duration = Duration::from_secs(600);
/// Maximum time of a stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);

/// Serves a wallet until standard input ends.
///
/// # Errors
/// The environment has no complete configuration, or the wallet fails.
pub async fn serve() -> anyhow::Result<bool> {
    let config = ServiceConfig::parse(Service::Wallet, Source::from_process(None)?)?;
    let telemetry = telemetry::start("sabacc-wallet", &config.telemetry)?;
    let drain = Drain::new(config.drain_grace);
    let ended = drain.clone();
    std::thread::spawn(move || {
        // The content does not matter; the end of input stops the wallet.
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        ended.begin();
    });
    let bound = serve::bind(config.listen).await?;
    writeln!(std::io::stdout().lock(), "{}", bound.address())?;
    let finished = sabacc_wallet::service::run(config, bound, drain, true).await?;
    telemetry.flush().await;
    Ok(finished)
}

/// Running wallet.
pub(crate) struct WalletProcess {
    /// None for a wallet that somebody else runs.
    child: Option<Child>,
    url: String,
    issuer: TokenIssuer,
    /// Time from its start to its first answer.
    pub(crate) start_time: Duration,
}

impl WalletProcess {
    /// Starts a wallet on a prepared database, and waits until it answers.
    pub(crate) async fn start(
        harness: &BenchHarness,
        password: &str,
    ) -> anyhow::Result<WalletProcess> {
        let clock = Instant::now();
        let issuer = harness.issuer.clone();
        let key = harness.path().join("issuer.public.pem");
        std::fs::write(&key, issuer.public_pem()).context("the issuer's key cannot be written")?;
        let database = harness.postgres.url_for("sabacc_wallet", password);
        let mut command = command(&key, &database)?;
        command.env("SABACC_ORIGIN", "bench/wallet");
        command.env("SABACC_LOG_KEY", &harness.log_key);
        let mut child = command.spawn().context("the wallet cannot be run")?;
        let said = child.stdout.take().context("the wallet says nothing")?;
        let mut address = String::new();
        let mut said = BufReader::new(said);
        let read = tokio::time::timeout(START_TIMEOUT, said.read_line(&mut address));
        read.await.context("the wallet does not start")??;
        if address.is_empty() {
            bail!("the wallet ended at once; it says above why");
        }
        let url = format!("http://{}", address.trim());
        let mut wallet =
            WalletProcess { child: Some(child), url, issuer, start_time: Duration::ZERO };
        tokio::time::timeout(START_TIMEOUT, wallet.until_ready())
            .await
            .context("the wallet is not ready")?;
        wallet.start_time = clock.elapsed();
        Ok(wallet)
    }

    /// Connects to a wallet that somebody else runs and that trusts the issuer with this key.
    pub(crate) fn remote(url: &str, key: &Path) -> anyhow::Result<WalletProcess> {
        let pem = std::fs::read_to_string(key)
            .with_context(|| format!("{} cannot be read", key.display()))?;
        let issuer = TokenIssuer::from_pem("bench", &pem)?;
        Ok(WalletProcess { child: None, url: url.to_owned(), issuer, start_time: Duration::ZERO })
    }

    async fn until_ready(&self) {
        let Ok(channel) = self.channel() else { return };
        let mut health = HealthClient::new(channel);
        loop {
            let said = health.check(HealthCheckRequest::default()).await;
            if said.is_ok_and(|said| said.get_ref().status() == ServingStatus::Serving) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }

    /// Opens a new connection, with the token of the service `table`.
    pub(crate) fn channel(&self) -> anyhow::Result<PeerChannel> {
        let clock = std::sync::Arc::new(SystemClock::new());
        let entropy = std::sync::Arc::new(SystemEntropy);
        let token = ServiceToken::new(self.issuer.clone(), "table", clock, entropy);
        Ok(channel::connect_lazy(&self.url.parse()?, None, CredentialInterceptor::OwnToken(token))?)
    }

    /// Issues a token for this role.
    pub(crate) fn token(&self, role: Role) -> String {
        self.issuer.issue_for_a_day(role, "bench")
    }

    /// Returns a client with an operator's token.
    pub(crate) fn operator(&self) -> anyhow::Result<Client> {
        Ok(Client::connect(&self.url, self.token(Role::Operator))?)
    }

    /// Process id of the wallet.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.child.as_ref().and_then(Child::id)
    }

    /// Stops the wallet in order.
    pub(crate) async fn stop(mut self) -> anyhow::Result<()> {
        let Some(mut child) = self.child.take() else { return Ok(()) };
        drop(child.stdin.take());
        let status = tokio::time::timeout(STOP_TIMEOUT, child.wait()).await;
        let status = status.context("the wallet does not stop")??;
        if !status.success() {
            bail!("the wallet ended with {status}");
        }
        Ok(())
    }
}

fn command(key: &Path, database: &str) -> anyhow::Result<Command> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut command = Command::new(program);
    command.args(["bench", "wallet"]).env_clear();
    command.env("SABACC_LISTEN", "127.0.0.1:0").env("SABACC_DATABASE_URL", database);
    command.env("SABACC_ISSUER_KEYS", key).env("RUST_LOG", "warn");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
    Ok(command)
}

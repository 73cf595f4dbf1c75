//! `sabacc witness`: a C2SP `tlog-witness`, which cosigns the checkpoints of growing logs. It
//! belongs on another machine than the room's, run by somebody independent of the room.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chassis::drain::Drain;
use chassis::limits::Limits;
use chassis::serve::{self, Health, Server};
use chassis::telemetry;
use clap::Args;
use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::DecodePrivateKey as _;
use merkle::note::{KeyName, VerifierKey, WitnessKey};
use notary::witness::{Witness, WitnessService};
use system::clock::SystemClock;
use zeroize::Zeroizing;

use crate::{data_directory, output, up};

/// Time for accepted requests to finish at a stop.
const GRACE: Duration = Duration::from_secs(5);

#[derive(Args)]
pub(crate) struct Options {
    /// The witness's key, Ed25519 in PEM; made if it is missing. Used for nothing else.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
    /// The name of the witness in its cosignatures.
    #[arg(long, value_name = "NAME", default_value = "sabacc.local/witness")]
    name: String,
    /// The address on which logs reach it. Put TLS before it.
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7410")]
    listen: SocketAddr,
    /// A log to follow, by its verifier key; may be given more than once.
    #[arg(long, value_name = "KEY")]
    log: Vec<String>,
    /// Logs to follow: a keys file, such as a room's keys.txt. Keys with an end are passed over.
    #[arg(long, value_name = "FILE")]
    logs: Option<PathBuf>,
    /// The folder of the last cosigned checkpoints, which must never be lost while the key is used
    /// [default: the key's file with .state behind].
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
}

/// Serves until it is stopped.
pub(crate) async fn run(options: Options) -> anyhow::Result<bool> {
    let Options { key, name, listen, log, logs, state } = options;
    let name = KeyName::try_new(name)?;
    let witness_key = WitnessKey::new(name, &read_or_create_key(&key)?);
    let mut keys = log.iter().map(|key| parse_key(key)).collect::<anyhow::Result<Vec<_>>>()?;
    if let Some(path) = logs {
        let text = fs::read_to_string(&path);
        let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
        let listed = merkle::parse_keys_file(&text);
        let listed = listed.with_context(|| format!("{} is no keys file", path.display()))?;
        // A key that has ended signs nothing new.
        keys.extend(listed.into_iter().filter(|it| it.until.is_none()).map(|it| it.key));
    }
    output::line(&format!("{}", witness_key.public()));
    if keys.is_empty() {
        bail!("no log to follow: name one with --log KEY, or a room's keys.txt with --logs FILE");
    }
    let state = state.unwrap_or_else(|| key.with_added_extension("state"));
    fs::create_dir_all(&state).with_context(|| format!("{} cannot be made", state.display()))?;
    let _alone = data_directory::lock_file(&state.join("lock"), &state, "--key")?;
    let witness = Arc::new(Witness::open(witness_key, keys, state)?);
    let telemetry = telemetry::start("sabacc-witness", &up::telemetry_config()?)?;
    let drain = Drain::new(GRACE);
    drain.on_signals()?;
    let bound = serve::bind(listen).await?;
    output::line(&format!("listening at http://{}", bound.address()));
    let service = WitnessService::new(witness, Arc::new(SystemClock::new()));
    let mut server = Server::new(Limits::public(), Health::new(), drain);
    server.http1 = true;
    let finished = server.run(bound, service).await;
    telemetry.flush().await;
    Ok(finished)
}

fn parse_key(key: &str) -> anyhow::Result<VerifierKey> {
    VerifierKey::parse(key).with_context(|| format!("`{key}` is no verifier key"))
}

fn read_or_create_key(path: &Path) -> anyhow::Result<[u8; 32]> {
    if !path.exists() {
        data_directory::write_private(path, data_directory::new_key_pem().as_bytes())?;
    }
    let pem = fs::read_to_string(path).map(Zeroizing::new);
    let pem = pem.with_context(|| format!("{} cannot be read", path.display()))?;
    let key = SigningKey::from_pkcs8_pem(&pem);
    let key = key.ok().with_context(|| format!("{} is no Ed25519 key in PEM", path.display()))?;
    Ok(key.to_bytes())
}

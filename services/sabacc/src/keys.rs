//! `sabacc keys`: the public keys that verify a room's logs, as C2SP verifier keys, one per line,
//! for players and auditors. `sabacc keys rotate`: another key for secrets at rest.

use std::path::PathBuf;

use anyhow::Context as _;
use chassis::config::{LogIdentity, Service};
use clap::{Args, Subcommand};
use ed25519_dalek::SigningKey;
use ed25519_dalek::VerifyingKey;
use ed25519_dalek::pkcs8::{DecodePrivateKey as _, DecodePublicKey as _};
use merkle::note::{KeyName, VerifierKey};
use postgres_launcher::{Environment, default_data_dir};
use zeroize::Zeroizing;

use crate::data_directory::DataDirectory;
use crate::output;

mod rotate;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Options {
    #[command(subcommand)]
    what: Option<KeysCommand>,
    /// A log's origin and its key file, private or public, in PEM, instead of the keys of a data
    /// folder. May be given more than once.
    #[arg(long, value_name = "ORIGIN=FILE")]
    log: Vec<String>,
}

#[derive(Subcommand)]
enum KeysCommand {
    /// Give new seeds of the dealer another key, from the next start on.
    Rotate,
}

pub(crate) const LOGS: [(Service, &str); 3] = [
    (Service::Table, "tables: checkpoints of their log, receipts"),
    (Service::Dealer, "the dealer: checkpoints of its log, commitments"),
    (Service::Wallet, "the wallet: checkpoints of its log"),
];

pub(crate) fn run(data: Option<PathBuf>, options: &Options) -> anyhow::Result<bool> {
    match options.what {
        Some(KeysCommand::Rotate) => return rotate::run(&open_data_directory(data)?),
        None if options.log.is_empty() => {
            output::text(&room_keys(&open_data_directory(data)?)?)?;
            return Ok(true);
        }
        None => {}
    }
    for log in &options.log {
        output::line(&read_key(log)?.to_string());
    }
    Ok(true)
}

/// Opens the data folder of an existing room.
fn open_data_directory(data: Option<PathBuf>) -> anyhow::Result<DataDirectory> {
    let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
    DataDirectory::open(&path).context("or name a log and its key with --log")
}

/// Returns the keys of a room on one machine, with comments.
pub(crate) fn room_keys(folder: &DataDirectory) -> anyhow::Result<String> {
    let mut text = "# What this room signs is verified with these keys.\n".to_owned();
    for (service, signs) in LOGS {
        let key = verifier_key(folder, service)?;
        text += &format!("# {signs}\n{key}\n");
    }
    Ok(text)
}

/// Returns the keys that clients of a room on one machine trust.
pub(crate) fn trusted_keys(folder: &DataDirectory) -> anyhow::Result<client::TrustedKeys> {
    Ok(client::TrustedKeys::parse(&room_keys(folder)?)?)
}

/// Returns the public key that verifies a service's log.
pub(crate) fn verifier_key(
    folder: &DataDirectory,
    service: Service,
) -> anyhow::Result<VerifierKey> {
    let LogIdentity { origin, key, .. } = folder.log_identity(service)?;
    Ok(VerifierKey::log(KeyName::try_new(&*origin)?, key.verifying_key().as_bytes())?)
}

fn read_key(log: &str) -> anyhow::Result<VerifierKey> {
    let (origin, path) = log.split_once('=').context("a log is given as ORIGIN=FILE")?;
    let pem = std::fs::read_to_string(path).map(Zeroizing::new);
    let pem = pem.with_context(|| format!("{path} cannot be read"))?;
    let private = SigningKey::from_pkcs8_pem(&pem).map(|key| key.verifying_key());
    let key = private.or_else(|_| VerifyingKey::from_public_key_pem(&pem));
    let key = key.ok().with_context(|| format!("{path} holds no Ed25519 key in PEM"))?;
    let name = KeyName::try_new(origin).with_context(|| format!("`{origin}` is no origin"))?;
    Ok(VerifierKey::log(name, key.as_bytes())?)
}

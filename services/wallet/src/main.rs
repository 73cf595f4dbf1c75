//! Program of the wallet service.

use std::path::PathBuf;

use anyhow::Context;
use chassis::config::{Service, ServiceConfig, Source};
use chassis::drain::Drain;
use chassis::threads::{self, Share};
use chassis::{serve, telemetry};
use clap::Parser;
use sabacc_wallet::service;

/// Allocator for many small short-lived allocations, for which the C library's takes much processor
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// All credits of a card room: accounts, transfers, statements.
#[derive(Parser)]
#[command(name = "sabacc-wallet", version)]
struct Arguments {
    /// A TOML file; variables named SABACC_… take precedence.
    #[arg(long)]
    config: Option<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    threads::runtime(Share::Half)?.block_on(run(arguments))
}

async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let source = Source::from_process(arguments.config.as_deref())?;
    let config = ServiceConfig::parse_standalone(Service::Wallet, source)?;
    let telemetry = telemetry::start("sabacc-wallet", &config.telemetry)?;
    chassis::memory::protect();
    let drain = Drain::new(config.drain_grace);
    drain.on_signals().context("signals cannot be listened to")?;
    let bound = serve::bind(config.listen).await?;
    let finished = service::run(config, bound, drain, false).await?;
    if !finished {
        tracing::warn!("somebody was cut off");
    }
    telemetry.flush().await;
    Ok(())
}

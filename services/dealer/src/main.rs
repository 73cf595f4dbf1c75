//! The dealer as a program of its own.

use std::path::PathBuf;

use anyhow::Context;
use chassis::config::Source;
use chassis::drain::Drain;
use chassis::{serve, telemetry};
use clap::Parser;
use sabacc_dealer::service::{self, Config};

/// A server of calls allocates many small short-lived pieces, which this allocator handles faster
/// than the C library's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// All chance and all hidden cards of a card room: commits to seeds, deals, opens, reveals.
#[derive(Parser)]
#[command(name = "sabacc-dealer", version)]
struct Arguments {
    /// A TOML file; variables named SABACC_… go before it.
    #[arg(long)]
    config: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let config = Config::parse(Source::from_process(arguments.config.as_deref())?)?;
    let telemetry = telemetry::start("sabacc-dealer", &config.service.telemetry)?;
    chassis::memory::protect();
    let drain = Drain::new(config.service.drain_grace);
    drain.on_signals().context("signals cannot be listened to")?;
    let bound = serve::bind(config.service.listen).await?;
    let finished = service::run(config, bound, drain, false).await?;
    if !finished {
        tracing::warn!("somebody was cut off");
    }
    telemetry.flush().await;
    Ok(())
}

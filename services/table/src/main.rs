//! The table service as a program of its own.

use std::path::PathBuf;

use anyhow::Context;
use chassis::config::Source;
use chassis::drain::Drain;
use chassis::{serve, telemetry};
use clap::Parser;
use sabacc_table::config::Config;

/// A server of calls allocates many small, short-lived pieces. The C library's allocator is slow at
/// that.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The tables of a card room: seats, hands in play, clocks.
#[derive(Parser)]
#[command(name = "sabacc-table", version)]
struct Arguments {
    /// A TOML file; variables named SABACC_… go before it.
    #[arg(long)]
    config: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let source = Source::from_process(arguments.config.as_deref())?;
    let config = Config::parse(source)?;
    let telemetry = telemetry::start("sabacc-table", &config.service.telemetry)?;
    chassis::memory::protect();
    let drain = Drain::new(config.service.drain_grace);
    drain.on_signals().context("signals cannot be listened to")?;
    let bound = serve::bind(config.service.listen).await?;
    let finished = sabacc_table::service::run(config, bound, drain, false).await?;
    if !finished {
        tracing::warn!("somebody was cut off");
    }
    telemetry.flush().await;
    Ok(())
}

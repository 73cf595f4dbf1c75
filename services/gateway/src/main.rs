//! The gateway as a program of its own.

use std::path::PathBuf;

use anyhow::Context;
use chassis::config::{Service, ServiceConfig, Source};
use chassis::drain::Drain;
use chassis::{serve, telemetry};
use clap::Parser;

/// Global allocator: a server of calls allocates many small short-lived pieces, for which mimalloc
/// is faster than the C library's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The public edge of a card room: verifies tokens, holds limits, passes calls on.
#[derive(Parser)]
#[command(name = "sabacc-gateway", version)]
struct Arguments {
    /// A TOML file; variables named SABACC_… go before it.
    #[arg(long)]
    config: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let source = Source::from_process(arguments.config.as_deref())?;
    let config = ServiceConfig::parse_standalone(Service::Gateway, source)?;
    let telemetry = telemetry::start("sabacc-gateway", &config.telemetry)?;
    chassis::memory::protect();
    let drain = Drain::new(config.drain_grace);
    drain.on_signals().context("signals cannot be listened to")?;
    let bound = serve::bind(config.listen).await?;
    let finished = sabacc_gateway::run(config, bound, drain).await?;
    if !finished {
        tracing::warn!("somebody was cut off");
    }
    telemetry.flush().await;
    Ok(())
}

//! The gateway as a program of its own.

use chassis::program::Program;
use chassis::threads::Share;
use sabacc_gateway::config::Config;

/// Allocator for many small short-lived allocations, for which the C library's takes much processor
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    let program = Program {
        name: "sabacc-gateway",
        about: "The public edge of a card room: verifies tokens, holds limits, passes calls on",
        share: Share::All,
    };
    let ended = program.run(
        Config::parse,
        |config| &config.service,
        async |config, bound, drain| sabacc_gateway::run(config, bound, drain).await,
    );
    ended.map_err(anyhow::Error::from_boxed)
}

//! The dealer as a program of its own.

use chassis::program::Program;
use chassis::threads::Share;
use sabacc_dealer::service::{self, Config};

/// Allocator for many small short-lived allocations, for which the C library's takes much processor
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    let program = Program {
        name: "sabacc-dealer",
        about: "All chance and all hidden cards of a card room: commits to seeds, deals, opens, reveals",
        share: Share::All,
    };
    let ended = program.run(
        Config::parse,
        |config| &config.service,
        async |config, bound, drain| service::run(config, bound, drain, false).await,
    );
    ended.map_err(anyhow::Error::from_boxed)
}

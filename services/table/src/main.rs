//! The table service as a program of its own.

use chassis::program::Program;
use chassis::threads::Share;
use sabacc_table::config::Config;
use sabacc_table::service;

/// Allocator for many small short-lived allocations, for which the C library's takes much processor
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    let program = Program {
        name: "sabacc-table",
        about: "The tables of a card room: seats, hands in play, clocks",
        share: Share::All,
    };
    let ended = program.run(
        Config::parse,
        |config| &config.service,
        async |config, bound, drain| service::run(config, bound, drain, false).await,
    );
    ended.map_err(anyhow::Error::from_boxed)
}

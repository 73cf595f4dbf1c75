//! Program of the wallet service.

use chassis::program::Program;
use chassis::threads::Share;
use sabacc_wallet::config::Config;
use sabacc_wallet::service;

/// Allocator for many small short-lived allocations, for which the C library's takes much processor
/// time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> anyhow::Result<()> {
    let program = Program {
        name: "sabacc-wallet",
        about: "All credits of a card room: accounts, transfers, statements",
        share: Share::Half,
    };
    let ended = program.run(
        Config::parse,
        |config| &config.service,
        async |config, bound, drain| service::run(config, bound, drain, false).await,
    );
    ended.map_err(anyhow::Error::from_boxed)
}

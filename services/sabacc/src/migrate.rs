//! `sabacc migrate`: for operators whose services run apart. Roles get no password here: whoever
//! runs the database sets them.

use std::path::PathBuf;

use anyhow::Context as _;
use chassis::config::{Settings, Source};
use clap::Args;

use crate::say;

#[derive(Args)]
pub(crate) struct Options {
    /// A TOML file with `database_url`, an administrator's; SABACC_DATABASE_URL or DATABASE_URL go before it.
    #[arg(long)]
    config: Option<PathBuf>,
}

pub(crate) async fn run(options: Options) -> anyhow::Result<bool> {
    let mut settings = Settings::new(Source::from_process(options.config.as_deref())?);
    let url = settings.secret("database_url", &["DATABASE_URL"]);
    settings.finish()?;
    let url =
        url.context("which database? set SABACC_DATABASE_URL to an administrator's address")?;
    sabacc_dealer::shell::migrate(url.expose(), None).await?;
    sabacc_wallet::shell::migrate(url.expose(), None).await?;
    sabacc_table::shell::migrate(url.expose(), None).await?;
    say::line("schemas dealer, wallet and table are up to date");
    Ok(true)
}

//! `sabacc migrate`: updates the schemas for services that run apart, without passwords for their
//! roles, which the database's administrator sets. Also requests a rebuild of the tables that follow
//! from the logs.

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use chassis::config::{Settings, Source};
use clap::Args;
use postgres_launcher::{Environment, default_data_dir};

use crate::data_directory::DataDirectory;
use crate::output;

#[derive(Args)]
pub(crate) struct Options {
    /// A TOML file with an administrator's `database_url`; SABACC_DATABASE_URL or DATABASE_URL go
    /// before it.
    #[arg(long)]
    config: Option<PathBuf>,
    /// Have the wallet and the table service rebuild their tables from their logs at their next start. Without an address: those
    /// of the room in the data folder, which must not run.
    #[arg(long)]
    rebuild: bool,
}

pub(crate) async fn run(data: Option<PathBuf>, options: Options) -> anyhow::Result<bool> {
    let mut settings = Settings::new(Source::from_process(options.config.as_deref())?);
    let url = settings.secret("database_url", &["DATABASE_URL"]);
    settings.finish()?;
    let Some(url) = url else {
        if options.rebuild {
            return rebuild_room(data).await;
        }
        bail!("which database? set SABACC_DATABASE_URL to an administrator's address");
    };
    sabacc_dealer::service::migrate(url.expose(), None).await?;
    sabacc_wallet::service::migrate(url.expose(), None).await?;
    sabacc_table::service::migrate(url.expose(), None).await?;
    output::line("schemas dealer, wallet and table are up to date");
    if options.rebuild {
        rebuild(url.expose()).await?;
    }
    Ok(true)
}

async fn rebuild_room(data: Option<PathBuf>) -> anyhow::Result<bool> {
    let environment = Environment::read();
    let folder = DataDirectory::open(&data.unwrap_or_else(|| default_data_dir(&environment)))?;
    let _lock = folder.lock().context("stop the room first")?;
    let options = postgres_launcher::Options::new(folder.path(), environment);
    let postgres = postgres_launcher::obtain(&options).await?;
    let done = rebuild(&postgres.admin_url()).await;
    postgres.stop().await?;
    done.map(|()| true)
}

async fn rebuild(admin_url: &str) -> anyhow::Result<()> {
    sabacc_wallet::repo::request_rebuild(admin_url).await?;
    sabacc_table::repo::request_rebuild(admin_url).await?;
    output::line(
        "the wallet makes its tables anew from its log when it starts next, and the table service \
         the lists of players' hands",
    );
    Ok(())
}

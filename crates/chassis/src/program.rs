//! Main function of a service that runs as a program of its own.

use std::error::Error;
use std::path::PathBuf;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

use crate::config::{ConfigError, ServiceConfig, Source};
use crate::drain::Drain;
use crate::serve::{self, BoundPort};
use crate::threads::{self, Share};
use crate::{memory, telemetry};

/// Command line of every service.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// A TOML file; variables named SABACC_… take precedence.
    #[arg(long)]
    config: Option<PathBuf>,
}

/// Program of one service.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// Name of the program and of its telemetry.
    pub name: &'static str,
    /// Sentence for its help.
    pub about: &'static str,
    pub share: Share,
}

impl Program {
    /// Runs the service until a signal ends it: reads the settings, starts telemetry, listens to
    /// signals, binds the port, runs `run`, and flushes telemetry. `shared` gets the settings of
    /// every service out of the service's own.
    ///
    /// # Errors
    /// A setting is wrong, a start fails, or the service ends with an error.
    pub fn run<C, E>(
        self,
        parse: impl FnOnce(Source) -> Result<C, ConfigError>,
        shared: impl FnOnce(&C) -> &ServiceConfig,
        run: impl AsyncFnOnce(C, BoundPort, Drain) -> Result<bool, E>,
    ) -> Result<(), Box<dyn Error + Send + Sync>>
    where
        E: Error + Send + Sync + 'static,
    {
        let Program { name, about, share } = self;
        let command = Arguments::command().name(name).about(about);
        let arguments = Arguments::from_arg_matches(&command.get_matches())?;
        threads::runtime(share)?.block_on(async {
            let config = parse(Source::from_process(arguments.config.as_deref())?)?;
            let ServiceConfig { telemetry, drain_grace, listen, .. } = shared(&config);
            let telemetry = telemetry::start(name, telemetry)?;
            memory::protect();
            let drain = Drain::new(*drain_grace);
            drain.on_signals()?;
            let bound = serve::bind(*listen).await?;
            if !run(config, bound, drain).await? {
                tracing::warn!("somebody was cut off");
            }
            telemetry.flush().await;
            Ok(())
        })
    }
}

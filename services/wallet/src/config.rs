//! Settings of the wallet.

use chassis::config::{ConfigError, Service, ServiceConfig, Settings, Source};
use primitives::Credits;

/// Most credits that a guest may be given.
const MAX_STARTING_CREDITS: u64 = 1_000_000_000;
/// Guests a day who are given credits, unless a setting says another number.
const GUESTS_PER_DAY: u64 = 10_000;

/// All settings of the wallet.
pub struct Config {
    pub service: ServiceConfig,
    pub starting: StartingCredits,
}

/// Credits that a new guest is given, which are play money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StartingCredits {
    /// Amount for one guest; zero: guests are given nothing.
    pub amount: Credits,
    /// Guests a day who are given it.
    pub per_day: u32,
}

impl StartingCredits {
    /// Nothing for nobody.
    pub const NONE: StartingCredits = StartingCredits { amount: Credits::ZERO, per_day: 0 };
}

impl From<ServiceConfig> for Config {
    /// Settings of a wallet that gives guests nothing.
    fn from(service: ServiceConfig) -> Config {
        Config { service, starting: StartingCredits::NONE }
    }
}

impl Config {
    /// Parses all settings from a file and the environment.
    ///
    /// # Errors
    /// All problems at once.
    pub fn parse(source: Source) -> Result<Config, ConfigError> {
        let mut settings = Settings::new(source);
        let service = ServiceConfig::read(Service::Wallet, &mut settings);
        ServiceConfig::require(Service::Wallet, &mut settings);
        let amount = settings.number("guests.starting_credits", 0..=MAX_STARTING_CREDITS, 0);
        let per_day = settings.number("guests.per_day", 1..=1_000_000, GUESTS_PER_DAY);
        settings.finish()?;
        let starting = StartingCredits {
            amount: Credits::try_new(amount).unwrap_or(Credits::ZERO),
            per_day: u32::try_from(per_day).unwrap_or(u32::MAX),
        };
        Ok(Config { service, starting })
    }
}

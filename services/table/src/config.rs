//! Settings of the table service.

use chassis::auth::TokenIssuer;
use chassis::config::{ConfigError, Service, ServiceConfig, Settings, Source};
use keyring::Keyring;

use crate::development::Development;

/// All settings of the table service.
pub struct Config {
    pub service: ServiceConfig,
    /// Keys that the players' keys are sealed under. Those under previous ones are sealed again at
    /// the start.
    pub people_keys: Keyring,
    /// Guests of a room for play money; `None`: the room has none.
    pub guests: Option<GuestConfig>,
    /// Events after which a snapshot is taken: a start reads no more than about these.
    pub snapshot_events: u64,
    /// Marks of a room for developers. No setting has them.
    pub development: Development,
}

/// Settings of guests.
pub struct GuestConfig {
    /// Signs their access tokens. Services believe its key for guests alone.
    pub issuer: TokenIssuer,
    /// New guests a day.
    pub per_day: u32,
}

/// Events after which a snapshot is taken, unless a setting says another number: 0.7 s of a start.
pub const SNAPSHOT_EVENTS: u64 = 100_000;

/// New guests a day, unless a setting says another number.
pub const GUESTS_PER_DAY: u32 = 2000;

impl Config {
    /// Parses all settings from a file and the environment.
    ///
    /// # Errors
    /// All problems at once.
    pub fn parse(source: Source) -> Result<Config, ConfigError> {
        let mut settings = Settings::new(source);
        let service = ServiceConfig::read(Service::Table, &mut settings);
        ServiceConfig::require(Service::Table, &mut settings);
        let people_keys = Keyring::read(&mut settings, "people_key", "people_key_previous");
        let guests = GuestConfig::read(&mut settings);
        let snapshot_events =
            settings.number("snapshot_events", 1000..=100_000_000, SNAPSHOT_EVENTS);
        settings.finish()?;
        let people_keys = people_keys.expect("without it the settings were refused");
        let development = Development::default();
        Ok(Config { service, people_keys, guests, snapshot_events, development })
    }
}

impl GuestConfig {
    fn read(settings: &mut Settings) -> Option<GuestConfig> {
        let per_day = settings.number("guests.per_day", 1..=1_000_000, GUESTS_PER_DAY.into());
        let issuer = settings.issuer("guests.signing_key", "guests")?;
        Some(GuestConfig { issuer, per_day: u32::try_from(per_day).unwrap_or(GUESTS_PER_DAY) })
    }
}

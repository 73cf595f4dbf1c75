//! Settings of the table service.

use chassis::config::{ConfigError, Service, ServiceConfig, Settings, Source};
use keyring::Keyring;

/// All settings of the table service.
pub struct Config {
    pub service: ServiceConfig,
    /// Keys that the players' keys are sealed under. Those under previous ones are sealed again at
    /// the start.
    pub people_keys: Keyring,
}

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
        settings.finish()?;
        let people_keys = people_keys.expect("without it the settings were refused");
        Ok(Config { service, people_keys })
    }
}

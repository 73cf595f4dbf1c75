//! Settings of the gateway.

use std::num::NonZeroU32;

use chassis::config::{ConfigError, Service, ServiceConfig, Settings, Source};

/// All settings of the gateway.
#[derive(Clone)]
pub struct Config {
    pub service: ServiceConfig,
    pub guests: GuestLimits,
}

/// Limits on the guests of one address. IPv6: of one network of 48 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GuestLimits {
    /// Sign-ins a minute, those that are refused too.
    pub per_minute: NonZeroU32,
    /// New guests a day.
    pub per_day: u32,
}

impl Default for GuestLimits {
    fn default() -> GuestLimits {
        GuestLimits { per_minute: NonZeroU32::new(5).expect("it is not zero"), per_day: 20 }
    }
}

impl From<ServiceConfig> for Config {
    fn from(service: ServiceConfig) -> Config {
        Config { service, guests: GuestLimits::default() }
    }
}

impl Config {
    /// Parses all settings from a file and the environment.
    ///
    /// # Errors
    /// All problems at once.
    pub fn parse(source: Source) -> Result<Config, ConfigError> {
        let mut settings = Settings::new(source);
        let service = ServiceConfig::read(Service::Gateway, &mut settings);
        ServiceConfig::require(Service::Gateway, &mut settings);
        let GuestLimits { per_minute, per_day } = GuestLimits::default();
        let mut number = |key, default: u32| {
            u32::try_from(settings.number(key, 1..=1_000_000, default.into())).unwrap_or(default)
        };
        let minute = number("guests.address_minute", per_minute.get());
        let per_day = number("guests.address_day", per_day);
        settings.finish()?;
        let per_minute = NonZeroU32::new(minute).unwrap_or(per_minute);
        Ok(Config { service, guests: GuestLimits { per_minute, per_day } })
    }
}

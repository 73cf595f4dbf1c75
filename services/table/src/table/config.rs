//! Configuration of a table, as its first event says it.

use std::time::Duration;

use primitives::Credits;
use proto::event::v1 as pb;
use rules::{RuleSet, TableSettings};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Corrupt;
use crate::stored;

/// Time for which a seat may be held unused where a table's first event does not say it.
const DEFAULT_IDLE_SECONDS: u32 = 600;

/// Configuration of a table, as it was created.
#[derive(Debug, Clone)]
pub(crate) struct Config {
    pub name: String,
    pub rules: RuleSet,
    /// Canonical text of the rule set.
    pub rule_set: String,
    pub settings: TableSettings,
    /// Canonical text of the settings.
    pub settings_text: String,
    /// Hash of the texts of rule set and settings, which is in the context of every hand.
    pub rules_hash: [u8; 32],
    pub seats: u8,
    pub min_buy_in: Credits,
    pub max_buy_in: Credits,
    pub pause_ms: u32,
    /// Time for which a seat may be held without being dealt in.
    pub idle: Duration,
}

/// As the event that created the table.
impl Serialize for Config {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let created = pb::TableCreated {
            name: self.name.clone(),
            rule_set: self.rule_set.clone(),
            seats: self.seats.into(),
            min_buy_in: self.min_buy_in.get(),
            max_buy_in: self.max_buy_in.get(),
            settings: self.settings_text.clone(),
            pause_ms: self.pause_ms,
            idle_seconds: u32::try_from(self.idle.as_secs()).unwrap_or(u32::MAX),
        };
        stored::message::serialize(&created, to)
    }
}

impl<'de> Deserialize<'de> for Config {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Config, D::Error> {
        let created: pb::TableCreated = stored::message::deserialize(from)?;
        Config::try_from(&created).map_err(D::Error::custom)
    }
}

impl TryFrom<&pb::TableCreated> for Config {
    type Error = Corrupt;

    fn try_from(created: &pb::TableCreated) -> Result<Config, Corrupt> {
        let pb::TableCreated {
            name,
            rule_set,
            seats,
            min_buy_in,
            max_buy_in,
            settings,
            pause_ms,
            idle_seconds,
        } = created;
        let parsed = TableSettings::from_canonical(settings);
        let idle_seconds = if *idle_seconds == 0 { DEFAULT_IDLE_SECONDS } else { *idle_seconds };
        Ok(Config {
            name: name.clone(),
            rules: RuleSet::from_canonical(rule_set).map_err(|error| Corrupt(error.to_string()))?,
            rule_set: rule_set.clone(),
            settings: parsed.map_err(|error| Corrupt(error.to_string()))?,
            settings_text: settings.clone(),
            rules_hash: fairness::rules_hash(rule_set, settings),
            seats: u8::try_from(*seats).map_err(|_| Corrupt("too many seats".to_owned()))?,
            min_buy_in: wire::field::credits("min_buy_in", *min_buy_in)?,
            max_buy_in: wire::field::credits("max_buy_in", *max_buy_in)?,
            pause_ms: *pause_ms,
            idle: Duration::from_secs(idle_seconds.into()),
        })
    }
}

impl Config {
    /// Time for seats to commit to entropy.
    #[must_use]
    pub(crate) fn commit_time(&self) -> Duration {
        self.settings.commit_window()
    }

    /// Time for which a seat may be held without being dealt in, as it passes.
    #[must_use]
    pub(crate) fn idle_time(&self) -> Duration {
        self.settings.scaled(self.idle)
    }

    /// Time between hands, as it passes.
    #[must_use]
    pub(crate) fn pause(&self) -> Duration {
        self.settings.scaled(Duration::from_millis(self.pause_ms.into()))
    }

    /// Time for seats to reveal the entropy that they committed to.
    #[must_use]
    pub(crate) fn reveal_time(&self) -> Duration {
        self.settings.reveal_window()
    }
}

//! The attacks, one file each: the calls that are sent, and the effects that they must not have.

mod audits;
mod forged;
mod growth;
mod ids;
mod readers;
mod withholding;

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::caller::CallCounts;
use crate::crew::{Crew, Period};
use crate::room::Room;

/// An attack of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attack {
    Audits,
    Forged,
    Growth,
    Ids,
    Readers,
    Withholding,
}

/// Room of an attack, and its cancellation.
#[derive(Clone, Copy)]
pub struct AttackContext<'a> {
    pub room: &'a Room,
    pub crew: &'a Crew,
    /// Cancelled when the attack is to end.
    pub stop: &'a CancellationToken,
}

/// Calls of an attack, and effects that the room should have prevented.
#[derive(Debug, Default)]
pub struct Outcome {
    pub sent: CallCounts,
    /// Figures for people.
    pub notes: Vec<String>,
    /// Effects that the room should have prevented.
    pub faults: Vec<String>,
}

impl Outcome {
    fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Notes a figure; a fault if it exceeds `allowed`.
    fn at_most(&mut self, what: &str, found: u64, allowed: u64) {
        let text = format!("{what}: {found}, at most {allowed}");
        let list = if found > allowed { &mut self.faults } else { &mut self.notes };
        list.push(text);
    }
}

impl Attack {
    /// All attacks, sorted by name.
    pub const ALL: [Attack; 6] = [
        Attack::Audits,
        Attack::Forged,
        Attack::Growth,
        Attack::Ids,
        Attack::Readers,
        Attack::Withholding,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Attack::Audits => "audits",
            Attack::Forged => "forged",
            Attack::Growth => "growth",
            Attack::Ids => "ids",
            Attack::Readers => "readers",
            Attack::Withholding => "withholding",
        }
    }

    #[must_use]
    pub const fn about(self) -> &'static str {
        match self {
            Attack::Audits => "eight players have finished hands audited all the time",
            Attack::Forged => "forged tokens by the thousand, and connections that say nothing",
            Attack::Growth => "one player fills the log with limits, and with ids of their choice",
            Attack::Ids => "one player uses up the request ids that the table will need",
            Attack::Readers => "streams by the dozen that are never read, from old resume tokens",
            Attack::Withholding => "one player withholds entropy, another sits out and in again",
        }
    }

    #[must_use]
    pub fn by_name(name: &str) -> Option<Attack> {
        Attack::ALL.into_iter().find(|attack| attack.name() == name)
    }

    /// Environment variables of the room. For an attack that is bounded by something else than the
    /// call limits of a player or an address, those limits are lifted to get there sooner.
    #[must_use]
    pub const fn variables(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Attack::Growth => {
                &[("SABACC_LIMITS_PLAYER_CALLS", "1000"), ("SABACC_LIMITS_ADDRESS_CALLS", "1000")]
            }
            Attack::Audits
            | Attack::Forged
            | Attack::Ids
            | Attack::Readers
            | Attack::Withholding => &[],
        }
    }

    /// Shortest duration of the attack.
    #[must_use]
    pub const fn min_duration(self) -> Duration {
        match self {
            // The room allows streams that take nothing half a minute.
            Attack::Readers => Duration::from_secs(45),
            Attack::Audits
            | Attack::Forged
            | Attack::Growth
            | Attack::Ids
            | Attack::Withholding => Duration::from_secs(20),
        }
    }

    /// Attacks until `stop` is cancelled.
    ///
    /// # Errors
    /// The attack could not be started.
    pub async fn run(self, stage: AttackContext<'_>) -> anyhow::Result<Outcome> {
        match self {
            Attack::Audits => Box::pin(audits::run(stage)).await,
            Attack::Forged => Box::pin(forged::run(stage)).await,
            Attack::Growth => Box::pin(growth::run(stage)).await,
            Attack::Ids => Box::pin(ids::run(stage)).await,
            Attack::Readers => Box::pin(readers::run(stage)).await,
            Attack::Withholding => Box::pin(withholding::run(stage)).await,
        }
    }

    /// Returns faults of the crew's results, beyond those that every attack is checked for.
    #[must_use]
    pub fn faults_of(self, during: &Period) -> Vec<String> {
        match self {
            Attack::Withholding => withholding::faults_of(during),
            Attack::Audits | Attack::Forged | Attack::Growth | Attack::Ids | Attack::Readers => {
                Vec::new()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attacks_are_sorted_and_found_by_their_names() {
        assert!(Attack::ALL.is_sorted_by_key(|attack| attack.name()));
        for attack in Attack::ALL {
            assert_eq!(Attack::by_name(attack.name()), Some(attack));
        }
        assert_eq!(Attack::by_name("kindness"), None);
    }
}

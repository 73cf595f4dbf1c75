//! Claims of a token.

use std::time::Duration;

use primitives::PlayerId;
use serde::{Deserialize, Serialize};
use system::clock::Clock;
use system::entropy::{self, Entropy};

use super::{Identity, Role};

/// Audience of every token.
pub const AUDIENCE: &str = "sabacc";

/// Claims of a token. Other claims are allowed and ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Name of the issuer, for people. The key that signed the token decides.
    pub iss: String,
    #[serde(deserialize_with = "one_or_many", serialize_with = "single_as_string")]
    pub aud: Vec<String>,
    /// Player id, or the name of an operator, an auditor or a service.
    pub sub: String,
    pub role: Role,
    /// Time from which the token is invalid, in seconds since 1970.
    pub exp: u64,
    /// Time of issue, in seconds since 1970.
    pub iat: u64,
    /// Time before which the token is not valid yet, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<u64>,
    /// Identifier of the token itself.
    pub jti: String,
    /// Marks a player whom the house seats itself, such as a bot of its own. Only players' tokens have
    /// it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub house: bool,
}

impl Claims {
    /// Claims for `identity`, valid from now on for `lifetime` (whole seconds).
    #[must_use]
    pub fn new(
        issuer: &str,
        identity: &Identity,
        lifetime: Duration,
        clock: &dyn Clock,
        entropy: &dyn Entropy,
    ) -> Claims {
        let iat = clock.now().0 / 1_000_000;
        let jti = uuid::Builder::from_random_bytes(entropy::bytes(entropy)).into_uuid();
        Claims {
            iss: issuer.to_owned(),
            aud: vec![AUDIENCE.to_owned()],
            sub: identity.subject.clone(),
            role: identity.role,
            exp: iat.saturating_add(lifetime.as_secs()),
            iat,
            nbf: None,
            jti: jti.to_string(),
            house: identity.is_house,
        }
    }

    /// Identity that the claims name; `None` if the subject or the mark does not fit the role.
    pub(super) fn identity(&self) -> Option<Identity> {
        if self.house && self.role != Role::Player {
            return None;
        }
        let subject = match self.role {
            Role::Player => self.sub.parse::<PlayerId>().ok()?.to_string(),
            Role::Operator | Role::Auditor | Role::Service => {
                let fits = (1..=64).contains(&self.sub.len())
                    && self.sub.bytes().all(|byte| byte.is_ascii_graphic());
                fits.then(|| self.sub.clone())?
            }
        };
        Some(Identity { role: self.role, subject, is_house: self.house })
    }
}

/// Reads an audience, which the standard allows to be one text or a list.
fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Audience {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Audience::deserialize(from)? {
        Audience::One(one) => vec![one],
        Audience::Many(many) => many,
    })
}

fn single_as_string<S: serde::Serializer>(audience: &[String], into: S) -> Result<S::Ok, S::Error> {
    match audience {
        [one] => into.serialize_str(one),
        many => many.serialize(into),
    }
}

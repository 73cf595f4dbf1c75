//! What a token says.

use std::time::Duration;

use primitives::PlayerId;
use serde::{Deserialize, Serialize};
use system::clock::Clock;
use system::entropy::{self, Entropy};

use super::{Identity, Role};

/// The one audience we are.
pub const AUDIENCE: &str = "sabacc";

/// The claims of a token. Others are allowed and not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Who issued it, for people: which key signed it is what counts.
    pub iss: String,
    #[serde(deserialize_with = "one_or_many", serialize_with = "first_alone")]
    pub aud: Vec<String>,
    /// A player's id, or the name of an operator, an auditor or a service.
    pub sub: String,
    pub role: Role,
    /// Seconds since 1970: from then on the token is worth nothing.
    pub exp: u64,
    /// Seconds since 1970.
    pub iat: u64,
    /// Seconds since 1970: before then the token is worth nothing yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nbf: Option<u64>,
    /// Its own identifier.
    pub jti: String,
}

impl Claims {
    /// For `identity`, from now on, for `lifetime` (whole seconds).
    #[must_use]
    pub fn new(
        issuer: &str,
        identity: &Identity,
        lifetime: Duration,
        (clock, entropy): (&dyn Clock, &dyn Entropy),
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
        }
    }

    /// Whom it names; none where the subject does not fit the role.
    pub(super) fn identity(&self) -> Option<Identity> {
        let subject = match self.role {
            Role::Player => self.sub.parse::<PlayerId>().ok()?.to_string(),
            Role::Operator | Role::Auditor | Role::Service => {
                let fits = (1..=64).contains(&self.sub.len())
                    && self.sub.bytes().all(|byte| byte.is_ascii_graphic());
                fits.then(|| self.sub.clone())?
            }
        };
        Some(Identity { role: self.role, subject })
    }
}

/// The standard lets an audience be one text or a list.
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

fn first_alone<S: serde::Serializer>(audience: &[String], into: S) -> Result<S::Ok, S::Error> {
    match audience {
        [one] => into.serialize_str(one),
        many => many.serialize(into),
    }
}

//! Claims of a token.

use std::time::Duration;

use primitives::PlayerId;
use serde::{Deserialize, Serialize};
use serde_json::Value;
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

    /// Identity that the claims name.
    ///
    /// # Errors
    /// The claim that does not fit the role.
    pub(super) fn identity(&self) -> Result<Identity, &'static str> {
        if self.house && self.role != Role::Player {
            return Err("house");
        }
        let subject = match self.role {
            Role::Player => self.sub.parse::<PlayerId>().map_err(|_| "sub")?.to_string(),
            Role::Operator | Role::Auditor | Role::Service => {
                let fits = (1..=64).contains(&self.sub.len())
                    && self.sub.bytes().all(|byte| byte.is_ascii_graphic());
                if fits { self.sub.clone() } else { return Err("sub") }
            }
        };
        Ok(Identity { role: self.role, subject, is_house: self.house })
    }
}

/// Claim, and the values that it may have.
type ClaimCheck<'a> = (&'static str, &'a dyn Fn(&Value) -> bool);

/// First claim of a payload that is missing or has another type than it must have; `None` where the
/// payload is no JSON object, or nothing of the kind is wrong.
pub(super) fn first_wrong(payload: &[u8]) -> Option<&'static str> {
    let claims: serde_json::Map<String, Value> = serde_json::from_slice(payload).ok()?;
    let is_list =
        |value: &Value| value.as_array().is_some_and(|list| list.iter().all(Value::is_string));
    let is_role =
        |value: &Value| value.as_str().is_some_and(|name| Role::from_name(name).is_some());
    let required: [ClaimCheck<'_>; 7] = [
        ("iss", &Value::is_string),
        ("aud", &|value| value.is_string() || is_list(value)),
        ("sub", &Value::is_string),
        ("role", &is_role),
        ("exp", &Value::is_u64),
        ("iat", &Value::is_u64),
        ("jti", &Value::is_string),
    ];
    let missing = required.into_iter().find(|(name, fits)| !claims.get(*name).is_some_and(fits));
    let optional: [ClaimCheck<'_>; 2] =
        [("nbf", &|value| value.is_null() || value.is_u64()), ("house", &Value::is_boolean)];
    let wrong = optional.into_iter().find(|(name, fits)| !claims.get(*name).is_none_or(fits));
    missing.or(wrong).map(|(name, _)| name)
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

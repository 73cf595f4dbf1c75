//! Authentication and authorization of callers.
//!
//! A caller shows a JWT signed with Ed25519. `alg` must be EdDSA: the server chooses the algorithm,
//! not the token. The token names its subject (`sub`) and exactly one role. The .proto files state
//! at each method which roles may call it, and the descriptors are read at start. A method without
//! such a statement is closed to everybody. Services are named one by one, so that a compromised
//! service can call only what it could call before.
//!
//! The signature check is a few lines over `ed25519-dalek` instead of a general JWT library: one
//! algorithm leaves nothing to negotiate, the time comes from our clock, and no process-wide
//! cryptography provider has to be installed.
//!
//! Specification: ARCHITECTURE.md §6.

mod access;
mod anonymous;
mod claims;
mod cost;
mod guard;
mod issuer;
mod jws;
mod open_calls;
mod peer;
mod revocations;
mod token_expiry;
mod verifier;

use primitives::PlayerId;

pub use access::{Access, AccessError};
pub use claims::{AUDIENCE, Claims};
pub use cost::{CostCharger, UNITS_HEADER, remove_units_header};
pub(crate) use guard::{AddressRateLimit, MessageRateLimit, stream_token_refusal};
pub use guard::{Guard, take_address_units};
pub use issuer::{KeyError, ServiceToken, TokenIssuer, private_key_pem};
pub(crate) use peer::PeerNames;
pub use revocations::{MAX_SILENCE, Revocation, Revocations, RevokedTokens};
pub use token_expiry::TokenExpiry;
pub use verifier::{
    ACCESS_TOKEN_LIFETIME, IssuerKey, MAX_LIFETIME, TokenError, VerifiedToken, Verifier,
};

/// Role of a token's bearer. A token has exactly one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Plays, on their own account only.
    Player,
    /// Opens tables, issues and redeems credits.
    Operator,
    /// Reads everything on record. Changes nothing except that they answer disputes.
    Auditor,
    /// One of the card room's own services.
    Service,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Player, Role::Operator, Role::Auditor, Role::Service];

    /// Name in tokens and configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Role::Player => "player",
            Role::Operator => "operator",
            Role::Auditor => "auditor",
            Role::Service => "service",
        }
    }

    #[must_use]
    pub fn from_name(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }
}

/// Caller whose token was verified. A [`Guard`] puts it into the extensions of each admitted
/// request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub role: Role,
    /// Canonical form of a player's id, or a name of 1 to 64 visible ASCII characters.
    pub subject: String,
    /// Whether the issuer marks the player as the house's own.
    pub is_house: bool,
}

impl Identity {
    /// Identity of a caller who is not marked as the house's own.
    #[must_use]
    pub fn new(role: Role, subject: impl Into<String>) -> Identity {
        Identity { role, subject: subject.into(), is_house: false }
    }

    /// Identity of a player whom the house seats itself.
    #[must_use]
    pub fn of_house(player: PlayerId) -> Identity {
        Identity { is_house: true, ..Identity::new(Role::Player, player.to_string()) }
    }

    /// Name of the caller in records: `player:<uuid>`, `operator:<name>`, …
    #[must_use]
    pub fn actor(&self) -> String {
        format!("{}:{}", self.role.name(), self.subject)
    }

    /// Account of the caller, if they are a player.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        match self.role {
            Role::Player => self.subject.parse().ok(),
            Role::Operator | Role::Auditor | Role::Service => None,
        }
    }

    /// Identity that a guard left in the request's extensions.
    #[must_use]
    pub fn of<T>(request: &tonic::Request<T>) -> Option<&Identity> {
        request.extensions().get()
    }
}

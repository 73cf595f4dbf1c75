//! Who calls, and what he may do.
//!
//! A caller shows a JWT signed with Ed25519 (`alg` EdDSA and nothing else: the algorithm is ours to
//! choose, not the token's). It says who he is (`sub`) and which one role he has. What each role may
//! call is written in the .proto files, at each method, and read from the descriptors at start: what
//! is not written is not allowed to anybody. Services are named one by one: one that was taken over can
//! do what it did before and nothing else.
//!
//! The signatures are checked by a few lines of our own over `ed25519-dalek`, not by a general JWT
//! library: one algorithm leaves nothing to negotiate, time comes from our clock, and no
//! process-wide cryptography provider has to be installed.

mod access;
mod bill;
mod claims;
mod guard;
mod issuer;
mod jws;
mod open_calls;
mod peer;
mod verifier;

use primitives::PlayerId;

pub use access::{Access, AccessError};
pub use bill::{Bill, UNITS, take_units};
pub use claims::{AUDIENCE, Claims};
pub(crate) use guard::{AddressPays, Paced, TokenLife};
pub use guard::{Guard, Guarded};
pub use issuer::{KeyError, ServiceToken, TokenIssuer};
pub(crate) use peer::PeerNames;
pub use verifier::{IssuerKey, TokenError, Verifier};

/// What a token says its bearer is: exactly one of these.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Plays, on his own account only.
    Player,
    /// Opens tables, issues and redeems credits.
    Operator,
    /// Reads everything on record, changes nothing but that he answers disputes.
    Auditor,
    /// One of the card room's own services.
    Service,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Player, Role::Operator, Role::Auditor, Role::Service];

    /// As in tokens and configurations.
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

/// A caller whose token was verified. In the extensions of every request a guard let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub role: Role,
    /// A player's id in its canonical form, or a name of 1 to 64 visible ASCII characters.
    pub subject: String,
}

impl Identity {
    /// The caller as records name him: `player:<uuid>`, `operator:<name>`, …
    #[must_use]
    pub fn actor(&self) -> String {
        format!("{}:{}", self.role.name(), self.subject)
    }

    /// The caller's account, where he is a player.
    #[must_use]
    pub fn player(&self) -> Option<PlayerId> {
        match self.role {
            Role::Player => self.subject.parse().ok(),
            Role::Operator | Role::Auditor | Role::Service => None,
        }
    }

    /// Who called, as a guard left it in the request.
    #[must_use]
    pub fn of<T>(request: &tonic::Request<T>) -> Option<&Identity> {
        request.extensions().get()
    }
}

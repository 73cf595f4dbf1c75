//! Issues tokens: for the players of `sabacc up`, and for services that call each other.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{DecodePrivateKey, EncodePrivateKey, EncodePublicKey, KeypairBytes};
use ed25519_dalek::{SigningKey, VerifyingKey};
use hmac::{Hmac, Mac as _};
use primitives::{PlayerId, UnixMicros};
use sha2::Sha256;
use system::clock::{Clock, SystemClock};
use system::entropy::{self, Entropy, SystemEntropy};
use system::secret::Secret;
use zeroize::Zeroizing;

use super::{Claims, Identity, Role, jws};

/// Lifetime of a service's own token.
const LIFETIME: Duration = Duration::from_secs(600);
const RENEWAL_MARGIN: Duration = Duration::from_secs(120);
const DAY: Duration = Duration::from_secs(86_400);

/// Error of a text that is not a key of the expected kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error(
        "not an Ed25519 private key in PKCS#8 PEM; \
         make one with: openssl genpkey -algorithm ed25519 -out key.pem"
    )]
    Private,
    #[error(
        "not an Ed25519 public key in PEM; \
         take it from the private one with: openssl pkey -in key.pem -pubout"
    )]
    Public,
}

/// Private key in PKCS#8 PEM, in the first version of that format (RFC 5208), without the public key:
/// OpenSSL 3, Node and Python's `cryptography` read no other. Both versions are read here.
///
/// # Panics
/// Never: 32 bytes always encode.
#[must_use]
pub fn private_key_pem(key: &SigningKey) -> Zeroizing<String> {
    let bytes = KeypairBytes { secret_key: key.to_bytes(), public_key: None };
    bytes.to_pkcs8_pem(LineEnding::LF).expect("32 bytes always encode")
}

/// Signs tokens with one private key.
#[derive(Clone)]
pub struct TokenIssuer {
    name: String,
    key: SigningKey,
}

impl fmt::Debug for TokenIssuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenIssuer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl TokenIssuer {
    /// Reads a private key. `name` goes into each token's `iss`.
    ///
    /// # Errors
    /// The text is not a private Ed25519 key.
    pub fn from_pem(name: &str, pem: &str) -> Result<TokenIssuer, KeyError> {
        let key = SigningKey::from_pkcs8_pem(pem).map_err(|_| KeyError::Private)?;
        Ok(TokenIssuer { name: name.to_owned(), key })
    }

    /// Issuer with a new random key.
    pub fn generate(name: &str, entropy: &dyn Entropy) -> TokenIssuer {
        let key = SigningKey::from_bytes(&entropy::secret(entropy));
        TokenIssuer { name: name.to_owned(), key }
    }

    /// Key by which a verifier checks the issuer's tokens.
    #[must_use]
    pub fn public_key(&self) -> VerifyingKey {
        self.key.verifying_key()
    }

    /// Public key in PEM.
    #[must_use]
    pub fn public_pem(&self) -> String {
        let pem = self.public_key().to_public_key_pem(LineEnding::LF);
        pem.expect("32 bytes always encode")
    }

    /// Private key in PKCS#8 PEM.
    #[must_use]
    pub fn private_pem(&self) -> Secret {
        Secret::new(private_key_pem(&self.key).to_string())
    }

    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Derives 32 secret bytes from the private key, for the use that `label` names: different labels
    /// give unrelated bytes.
    ///
    /// # Panics
    /// Never: the construction takes keys of any length.
    #[must_use]
    pub fn derive_secret(&self, label: &str) -> Zeroizing<[u8; 32]> {
        let seed = Zeroizing::new(self.key.to_bytes());
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&seed[..])
            .expect("HMAC takes keys of any length");
        mac.update(label.as_bytes());
        Zeroizing::new(mac.finalize().into_bytes().into())
    }

    /// Signs the claims and returns the token.
    #[must_use]
    pub fn issue(&self, claims: &Claims) -> String {
        let payload = serde_json::to_vec(claims).expect("texts and numbers always encode");
        jws::sign(&payload, &self.key)
    }

    /// Issues a token that is valid for a day from now, by this machine's clock.
    #[must_use]
    pub fn issue_for_a_day(&self, role: Role, subject: &str) -> String {
        self.issue_to(&Identity::new(role, subject))
    }

    /// Issues a token for a day to a player whom the house seats itself.
    #[must_use]
    pub fn issue_to_house(&self, player: PlayerId) -> String {
        self.issue_to(&Identity::of_house(player))
    }

    fn issue_to(&self, identity: &Identity) -> String {
        let clock = SystemClock::new();
        self.issue(&Claims::new(&self.name, identity, DAY, &clock, &SystemEntropy))
    }
}

/// A service's own token, renewed before it expires. Cheap to clone.
#[derive(Clone)]
pub struct ServiceToken {
    shared: Arc<Shared>,
}

struct Shared {
    issuer: TokenIssuer,
    identity: Identity,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    current: Mutex<Option<(String, UnixMicros)>>,
}

impl ServiceToken {
    /// Token of the service `name`, with the role `service`.
    #[must_use]
    pub fn new(
        issuer: TokenIssuer,
        name: &str,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> ServiceToken {
        ServiceToken::with_role(issuer, Role::Service, name, clock, entropy)
    }

    /// Token of a service with the role `auditor`: it reads what auditors may read and does nothing
    /// else.
    #[must_use]
    pub fn for_auditor(
        issuer: TokenIssuer,
        name: &str,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> ServiceToken {
        ServiceToken::with_role(issuer, Role::Auditor, name, clock, entropy)
    }

    fn with_role(
        issuer: TokenIssuer,
        role: Role,
        name: &str,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> ServiceToken {
        let identity = Identity::new(role, name);
        let current = Mutex::new(None);
        ServiceToken { shared: Arc::new(Shared { issuer, identity, clock, entropy, current }) }
    }

    /// Token that is valid for at least two more minutes.
    #[must_use]
    pub fn current(&self) -> String {
        let Shared { issuer, identity, clock, entropy, current } = &*self.shared;
        let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock.now();
        if let Some((token, renewal)) = current.as_ref()
            && now < *renewal
        {
            return token.clone();
        }
        let claims = Claims::new(issuer.name(), identity, LIFETIME, &**clock, &**entropy);
        let token = issuer.issue(&claims);
        *current = Some((token.clone(), now.plus(LIFETIME.saturating_sub(RENEWAL_MARGIN))));
        token
    }
}

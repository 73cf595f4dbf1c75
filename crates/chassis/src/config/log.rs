//! Public identity of a service's log: the name that its checkpoints bear, and the key that signs
//! for it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::DecodePrivateKey as _;
use zeroize::Zeroizing;

use http::Uri;
use merkle::note::VerifierKey;

use super::base::Service;
use super::settings::Settings;

/// Name and key of a log.
#[derive(Clone)]
pub struct LogIdentity {
    /// Origin of the log, such as `sabacc.example/table`: not empty, without white space, `+` and
    /// control characters. It never changes.
    pub origin: Arc<str>,
    /// Key that signs checkpoints and the log's other statements. Distinct from the key that signs
    /// tokens.
    pub key: SigningKey,
}

/// Witnesses of a log's checkpoints, and the file that remembers the last one outside the database.
#[derive(Clone, Debug, Default)]
pub struct LogWitnesses {
    /// Base addresses, to which `/add-checkpoint` is appended, with the key of each witness.
    pub witnesses: Vec<(Uri, VerifierKey)>,
    pub checkpoint_file: Option<PathBuf>,
}

impl LogWitnesses {
    /// Reads the settings `witnesses` and `checkpoint_file`.
    pub(super) fn read(settings: &mut Settings) -> LogWitnesses {
        let allowed = "a comma-separated list, each an http:// or https:// address, a space, and the \
                       witness's key: https://witness.example w1.example+8f2a1c3d+BA…";
        let witnesses = settings.get("witnesses", allowed, |text| {
            text.split(',')
                .map(|entry| LogWitnesses::parse_witness(entry.trim()))
                .collect::<Option<Vec<_>>>()
        });
        let memory = settings.path("checkpoint_file");
        LogWitnesses { witnesses: witnesses.unwrap_or_default(), checkpoint_file: memory }
    }

    /// Parses a witness: an `http://` or `https://` address, a space, and the witness's verifier
    /// key. `None` if the text is no such thing.
    #[must_use]
    pub fn parse_witness(text: &str) -> Option<(Uri, VerifierKey)> {
        let (url, key) = text.split_once(' ')?;
        let url: Uri = url.parse().ok()?;
        let key = VerifierKey::parse(key.trim()).ok().filter(|key| !key.is_log())?;
        let web = matches!(url.scheme_str()?, "http" | "https") && url.host().is_some();
        web.then_some((url, key))
    }
}

impl LogIdentity {
    /// Adds problems for `origin` and `log_key` if neither is set. If one of them is,
    /// [`LogIdentity::read`] has reported the other.
    pub(super) fn require(service: Service, settings: &mut Settings) {
        let older = service == Service::Dealer && settings.is_set("commitment_key", &[]);
        if settings.is_set("origin", &[]) || settings.is_set("log_key", &[]) || older {
            return;
        }
        let name = format!("the name of its log, such as sabacc.example/{}", service.name());
        settings.require("origin", &[], &name);
        let key = "the file of the key that signs for its log: Ed25519 in PEM";
        settings.require("log_key", &[], key);
    }

    /// Reads the settings `origin` and `log_key`, which must be set together. Adds a problem for
    /// what is wrong.
    pub(super) fn read(service: Service, settings: &mut Settings) -> Option<LogIdentity> {
        let allowed = "a name for the log, such as sabacc.example/table";
        let origin = settings.get("origin", allowed, parse_origin);
        let mut name = "log_key";
        let mut path = settings.path(name);
        if service == Service::Dealer {
            // Former name of the setting.
            let older = settings.path("commitment_key");
            if path.is_some() && older.is_some() {
                let advice = "log_key is its new name: set only that".to_owned();
                settings.refuse("commitment_key", advice);
            } else if older.is_some() {
                (name, path) = ("commitment_key", older);
            }
        }
        let key = path.as_deref().map(read_signing_key);
        match (origin, key) {
            (Some(origin), Some(Ok(key))) => return Some(LogIdentity { origin, key }),
            (_, Some(Err(advice))) => settings.refuse(name, advice),
            (Some(_), None) => {
                let advice = "name the file with the key that signs for the log: Ed25519 in PEM";
                settings.refuse(name, advice.to_owned());
            }
            (None, Some(Ok(_))) => {
                let advice = format!("name the log, such as sabacc.example/{}", service.name());
                settings.refuse("origin", advice);
            }
            (None, None) => {}
        }
        None
    }
}

/// Leaves the key out.
impl fmt::Debug for LogIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogIdentity({})", self.origin)
    }
}

fn parse_origin(text: &str) -> Option<Arc<str>> {
    let bad = |letter: char| letter.is_whitespace() || letter.is_control() || letter == '+';
    (!text.is_empty() && !text.contains(bad)).then(|| Arc::from(text))
}

fn read_signing_key(path: &Path) -> Result<SigningKey, String> {
    let text = std::fs::read_to_string(path).map(Zeroizing::new);
    let text = text.map_err(|error| format!("the file cannot be read: {error}"))?;
    SigningKey::from_pkcs8_pem(&text).map_err(|_| "not an Ed25519 private key in PEM".to_owned())
}

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

/// Beginning of the line before each key of the file of previous ones.
const UNTIL: &str = "until ";
const NOT_A_KEY: &str = "not an Ed25519 private key in PEM";

/// Name and key of a log.
#[derive(Clone)]
pub struct LogIdentity {
    /// Origin of the log, such as `sabacc.example/table`: not empty, without white space, `+` and
    /// control characters. It never changes.
    pub origin: Arc<str>,
    /// Key that signs checkpoints and the log's other statements. Distinct from the key that signs
    /// tokens.
    pub key: SigningKey,
    /// Keys that signed before, by which the service knows the events that it wrote under them.
    pub previous: Vec<PreviousLogKey>,
}

/// Key that a log had before.
#[derive(Clone)]
pub struct PreviousLogKey {
    /// Seed of the key; `None` if it is lost.
    pub secret: Option<Zeroizing<[u8; 32]>>,
    /// Size of the log when the key was replaced.
    pub until: u64,
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
    /// Seed of the key, from which other secrets of the log are derived.
    #[must_use]
    pub fn secret(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.key.to_bytes())
    }

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
        let previous = settings.path("log_key_previous");
        let previous = previous.map_or_else(|| Ok(Vec::new()), |path| PreviousLogKey::read(&path));
        let previous = previous.unwrap_or_else(|advice| {
            settings.refuse("log_key_previous", advice);
            Vec::new()
        });
        match (origin, key) {
            (Some(origin), Some(Ok(key))) => return Some(LogIdentity { origin, key, previous }),
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
    SigningKey::from_pkcs8_pem(&read_secret(path)?).map_err(|_| NOT_A_KEY.to_owned())
}

fn read_secret(path: &Path) -> Result<Zeroizing<String>, String> {
    let text = std::fs::read_to_string(path).map(Zeroizing::new);
    text.map_err(|error| format!("the file cannot be read: {error}"))
}

impl PreviousLogKey {
    /// Reads the keys of a file: each is a line `until SIZE`, and then the key in PEM, or nothing where
    /// it is lost. A file may be empty.
    ///
    /// # Errors
    /// Advice for whoever wrote the file.
    pub fn read(path: &Path) -> Result<Vec<PreviousLogKey>, String> {
        PreviousLogKey::parse(&read_secret(path)?)
    }

    fn parse(text: &str) -> Result<Vec<PreviousLogKey>, String> {
        const FORM: &str = "each key is a line `until SIZE`, with the log's size when it was replaced, and then its PEM";
        let mut keys = Vec::new();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
        while let Some(line) = lines.next() {
            let until = line.strip_prefix(UNTIL).and_then(|size| size.trim().parse().ok());
            let until = until.ok_or_else(|| FORM.to_owned())?;
            let mut pem = Zeroizing::new(String::new());
            while let Some(line) = lines.next_if(|line| !line.starts_with(UNTIL)) {
                pem.push_str(line);
                pem.push('\n');
            }
            let key = (!pem.is_empty()).then(|| SigningKey::from_pkcs8_pem(&pem));
            let key = key.transpose().map_err(|_| NOT_A_KEY.to_owned())?;
            let secret = key.map(|key| Zeroizing::new(key.to_bytes()));
            keys.push(PreviousLogKey { secret, until });
        }
        Ok(keys)
    }
}

impl fmt::Debug for PreviousLogKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PreviousLogKey { secret, until } = self;
        f.debug_struct("PreviousLogKey")
            .field("lost", &secret.is_none())
            .field("until", until)
            .finish()
    }
}

#[cfg(test)]
mod tests;

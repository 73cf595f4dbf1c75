//! A guest's login as a file, which programs and pages share.
//!
//! Specification: proto/README.md "A login as a file".

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use primitives::{PlayerId, RequestId};
use serde::{Deserialize, Serialize};
use system::secret::Secret;
use zeroize::Zeroizing;

use crate::durable::sync_directory;

/// Name and version of the format.
const FORMAT: &str = "sabacc-login/1";
/// Longest file, in bytes.
const MAX_BYTES: u64 = 4096;
/// Longest refresh token, in bytes.
const MAX_TOKEN: usize = 512;

/// Reason that a login cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    /// The file cannot be read or written.
    #[error("the login {} cannot be kept: {source}", .path.display())]
    File { path: PathBuf, source: io::Error },
    /// Another program plays with this login. Two that share one look like theft, and both are
    /// signed out.
    #[error("another program uses the login {}", .0.display())]
    InUse(PathBuf),
    /// The text is no login.
    #[error("this is no login: {0}")]
    Malformed(String),
    /// The login is for another room, which alone may be shown its refresh token.
    #[error("this login is for {0}")]
    OtherServer(String),
}

/// Login of a guest: as good as a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestLogin {
    /// Address of the room, such as `https://room.example`.
    pub server: String,
    pub player: PlayerId,
    /// Name that the player chose; empty: none.
    pub name: String,
    /// The newest refresh token.
    pub refresh_token: Secret,
    /// Id of the `Refresh` that the token was sent with and that has no answer yet. It is repeated
    /// before anything else.
    pub refresh_request: Option<RequestId>,
}

/// The file as JSON.
#[derive(Serialize, Deserialize)]
struct LoginText {
    format: String,
    server: String,
    player_id: String,
    #[serde(default)]
    name: String,
    refresh_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_request_id: Option<String>,
}

impl GuestLogin {
    /// Reads a login from the text of a file. Fields that are not known are left out.
    ///
    /// # Errors
    /// [`LoginError::Malformed`], with the field; nothing of the token is in the words.
    pub fn parse(text: &str) -> Result<GuestLogin, LoginError> {
        let malformed = |problem: &str| LoginError::Malformed(problem.to_owned());
        let parsed: LoginText = serde_json::from_str(text).map_err(|error| {
            // Its own words might show a value.
            let (line, column) = (error.line(), error.column());
            LoginError::Malformed(format!("not the JSON of a login, at {line}:{column}"))
        })?;
        let LoginText { format, server, player_id, name, refresh_token, refresh_request_id } =
            parsed;
        if format != FORMAT {
            return Err(LoginError::Malformed(format!("`format` is not {FORMAT}")));
        }
        let player = player_id.parse().map_err(|_| malformed("`player_id` is no UUID"))?;
        let is_token = (1..=MAX_TOKEN).contains(&refresh_token.len())
            && refresh_token.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_token {
            return Err(malformed("`refresh_token` is not 1 to 512 visible ASCII characters"));
        }
        let refresh_request = refresh_request_id.map(|id| id.parse()).transpose();
        let refresh_request =
            refresh_request.map_err(|_| malformed("`refresh_request_id` is no UUID"))?;
        let refresh_token = Secret::new(refresh_token);
        Ok(GuestLogin { server, player, name, refresh_token, refresh_request })
    }

    /// Text of the file.
    #[must_use]
    pub fn to_json(&self) -> Zeroizing<String> {
        let text = LoginText {
            format: FORMAT.to_owned(),
            server: self.server.clone(),
            player_id: self.player.to_string(),
            name: self.name.clone(),
            refresh_token: self.refresh_token.expose().to_owned(),
            refresh_request_id: self.refresh_request.map(|id| id.to_string()),
        };
        let json = serde_json::to_string_pretty(&text).expect("text fields alone have a JSON");
        Zeroizing::new(json + "\n")
    }
}

/// File of a login that this process alone uses.
#[derive(Debug)]
pub(crate) struct LoginFile {
    path: PathBuf,
    /// Held open: the lock ends with it.
    _lock: File,
}

impl LoginFile {
    /// Takes the file, which need not exist, for this process.
    pub(crate) fn claim(path: &Path) -> Result<LoginFile, LoginError> {
        let failed = |source| LoginError::File { path: path.to_owned(), source };
        let lock = beside(path, "lock");
        let lock = private_options().truncate(false).open(lock).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(LoginFile { path: path.to_owned(), _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(LoginError::InUse(path.to_owned())),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Reads the login; `None` where there is none yet.
    pub(crate) fn load(&self) -> Result<Option<GuestLogin>, LoginError> {
        let failed = |source| LoginError::File { path: self.path.clone(), source };
        let length = match fs::metadata(&self.path) {
            Ok(found) => found.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(error)),
        };
        if length > MAX_BYTES {
            return Err(LoginError::Malformed(format!("longer than {MAX_BYTES} bytes")));
        }
        let text = Zeroizing::new(fs::read_to_string(&self.path).map_err(failed)?);
        GuestLogin::parse(&text).map(Some)
    }

    /// Replaces the login. The new one is durable when this returns; until then the old one stays.
    pub(crate) fn save(&self, login: &GuestLogin) -> Result<(), LoginError> {
        self.write(login).map_err(|source| LoginError::File { path: self.path.clone(), source })
    }

    fn write(&self, login: &GuestLogin) -> io::Result<()> {
        let new = beside(&self.path, "new");
        let mut file = private_options().truncate(true).open(&new)?;
        file.write_all(login.to_json().as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        self.path.parent().map_or(Ok(()), sync_directory)
    }
}

/// Path with another ending after its own.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// Options that write a file which only its owner may read.
fn private_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login(request: Option<RequestId>) -> GuestLogin {
        GuestLogin {
            server: "http://127.0.0.1:7400".to_owned(),
            player: PlayerId([7; 16]),
            name: "Lando".to_owned(),
            refresh_token: Secret::new("sabacc_refresh_0a".to_owned()),
            refresh_request: request,
        }
    }

    #[test]
    fn a_login_is_read_as_it_was_written() {
        let json = login(None).to_json();
        let expected = r#"{
  "format": "sabacc-login/1",
  "server": "http://127.0.0.1:7400",
  "player_id": "07070707-0707-0707-0707-070707070707",
  "name": "Lando",
  "refresh_token": "sabacc_refresh_0a"
}
"#;
        assert_eq!(&**json, expected, "the form that proto/README.md shows");
        for login in [login(None), login(Some(RequestId([9; 16])))] {
            assert_eq!(GuestLogin::parse(&login.to_json()).unwrap(), login);
        }
        let later = json.replace("{\n", "{\n\"theme\": \"dark\",\n");
        assert_eq!(GuestLogin::parse(&later).unwrap(), login(None), "others may add fields");
    }

    #[test]
    fn what_is_no_login_is_named_and_its_token_is_not() {
        let json = login(Some(RequestId([9; 16]))).to_json();
        let reason = |text: &str| GuestLogin::parse(text).unwrap_err().to_string();
        let cases = [
            (json.replace("login/1", "login/2"), "`format`"),
            (json.replace("07070707-", "x-"), "`player_id`"),
            (json.replace("09090909-", "x-"), "`refresh_request_id`"),
            (json.replace("_0a", " 0a"), "`refresh_token`"),
            (json.replace("\"sabacc_refresh_0a\"", "7"), "at 6:"),
            (String::new(), "at 1:0"),
        ];
        for (text, said) in cases {
            let words = reason(&text);
            assert!(words.contains(said) && !words.contains("refresh_0a"), "{said}: {words}");
        }
    }

    #[test]
    fn a_file_is_replaced_whole_read_by_its_owner_alone_and_used_by_one() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("guest.json");
        let file = LoginFile::claim(&path).unwrap();
        assert!(file.load().unwrap().is_none());
        assert!(matches!(LoginFile::claim(&path), Err(LoginError::InUse(_))));
        for login in [login(None), login(Some(RequestId([9; 16])))] {
            file.save(&login).unwrap();
            assert_eq!(file.load().unwrap(), Some(login));
        }
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(
                &fs::metadata(&path).unwrap().permissions(),
            );
            assert_eq!(mode & 0o777, 0o600);
        }
        drop(file);
        fs::write(&path, vec![b' '; 5000]).unwrap();
        let again = LoginFile::claim(&path).unwrap();
        assert!(matches!(again.load(), Err(LoginError::Malformed(_))));
    }
}

//! Connection of a command to a room: the one that runs in the data folder, or another.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use audit::bundle;
use chassis::auth::Role;
use chassis::http_client::HttpClient;
use clap::Args;
use client::checkpoints::{CheckpointMonitor, DirectoryStore};
use client::{Client, TokenSource, TrustedKeys};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use postgres_launcher::{Environment, default_data_dir};
use primitives::TableId;

use crate::data_directory::{DataDirectory, write_private};
use crate::keys;
use crate::output;

#[derive(Args)]
pub(crate) struct RoomEndpoint {
    /// The public port of another room than the one in the data folder.
    #[arg(long, value_name = "URL")]
    server: Option<String>,
    /// A token, if the issuer is not that of the data folder.
    #[arg(long, env = "SABACC_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// The public keys of the room's logs, one verifier key a line, if they are not those of the
    /// data folder.
    #[arg(long, value_name = "FILE")]
    keys: Option<PathBuf>,
}

impl RoomEndpoint {
    /// Whether the room is that of the data folder.
    #[must_use]
    pub(crate) fn is_local(&self) -> bool {
        self.server.is_none()
    }

    /// Pins the keys of another room when it is first seen, where none are given: they are the
    /// room's own word then, and the same word ever after. Keys without a dealer's are refused:
    /// nothing would be checked with them.
    pub(crate) async fn with_pinned_keys(
        self,
        data: Option<&Path>,
    ) -> anyhow::Result<RoomEndpoint> {
        let keys = match (&self.server, &self.keys) {
            (Some(server), None) => Some(pin_keys(server, data).await?),
            (_, given) => given.clone(),
        };
        if let Some(path) = &keys {
            let text = read_keys(Some(path), None, path)?;
            check_has_dealer(&text, &path.display().to_string())?;
        }
        Ok(RoomEndpoint { keys, ..self })
    }

    /// Opens the monitor of the room's log checkpoints, with its storage in the data folder.
    pub(crate) fn checkpoint_monitor(
        &self,
        data: Option<&Path>,
    ) -> anyhow::Result<CheckpointMonitor<DirectoryStore>> {
        let folder = seen_folder(data)?;
        let path = data.map_or_else(|| default_data_dir(&Environment::read()), Path::to_owned);
        let known = read_keys(self.keys.as_deref(), self.server.as_deref(), &path)?;
        let keys =
            bundle::TrustedKeys::parse(&known).context("the keys of the logs cannot be used")?;
        let memory = DirectoryStore::open(folder);
        let memory = memory.context("seen/ cannot be made in the data folder")?;
        Ok(CheckpointMonitor::new(keys.keys().cloned().collect::<Vec<_>>(), memory))
    }

    /// Keys of the room's logs that are trusted: none for another room without a keys file.
    pub(crate) fn trusted_keys(&self, data: Option<&Path>) -> anyhow::Result<bundle::TrustedKeys> {
        let path = data.map_or_else(|| default_data_dir(&Environment::read()), Path::to_owned);
        let known = read_keys(self.keys.as_deref(), self.server.as_deref(), &path)?;
        bundle::TrustedKeys::parse(&known).context("the keys of the logs cannot be used")
    }

    /// Opens a client of the room for a player, whose token must be given.
    pub(crate) fn connect_with_token(self, data: Option<PathBuf>) -> anyhow::Result<Client> {
        if self.token.is_none() {
            bail!("only a player can do this: give their token with --token or SABACC_TOKEN");
        }
        self.connect_as(data, Role::Player, "")
    }

    /// Opens a client of the room, as an auditor of this name if no token is given.
    pub(crate) fn connect(self, data: Option<PathBuf>, name: &str) -> anyhow::Result<Client> {
        self.connect_as(data, Role::Auditor, name)
    }

    /// Opens a client of the room, in this role and under this name if no token is given.
    pub(crate) fn connect_as(
        self,
        data: Option<PathBuf>,
        role: Role,
        name: &str,
    ) -> anyhow::Result<Client> {
        let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
        self.open(&path, |given| {
            if let Some(token) = given {
                return Ok(token.into());
            }
            let issuer = DataDirectory::open(&path)?.issuer()?;
            Ok(issuer.issue_for_a_day(role, name).into())
        })
    }

    /// Whether a token is given.
    #[must_use]
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Opens a client of the room with the token that is given; without any, as nobody.
    pub(crate) fn connect_as_given(self, data: Option<PathBuf>) -> anyhow::Result<Client> {
        let path = data.unwrap_or_else(|| default_data_dir(&Environment::read()));
        self.open(&path, |given| Ok(given.map_or_else(TokenSource::none, TokenSource::from)))
    }

    fn open(
        self,
        path: &Path,
        token: impl FnOnce(Option<String>) -> anyhow::Result<TokenSource>,
    ) -> anyhow::Result<Client> {
        let RoomEndpoint { server, token: given, keys } = self;
        let known = read_keys(keys.as_deref(), server.as_deref(), path)?;
        let trust = TrustedKeys::parse(&known).context("the keys of the logs cannot be used")?;
        let server = match server {
            Some(server) => server,
            None => {
                let running = DataDirectory::open(path)?.running_room().with_context(|| {
                    format!(
                        "no room runs in {}: start one with `sabacc up`, or name --server",
                        path.display()
                    )
                })?;
                running.address
            }
        };
        Ok(Client::connect(&server, token(given)?)?.with_trusted_keys(trust))
    }
}

/// Finds a table by its id, or by its name if only one open table has it.
pub(crate) async fn find_table(client: &Client, named: &str) -> anyhow::Result<TableId> {
    if let Ok(id) = named.parse() {
        return Ok(id);
    }
    let tables = client.list_tables().await.context("the tables cannot be listed")?;
    let found: Vec<_> = tables.iter().filter(|table| table.name == named).collect();
    match found[..] {
        [table] => wire::field::table_id(&table.table_id).context("the room answers with no id"),
        [] => bail!("no open table is called `{named}`: a table's id is taken too"),
        [..] => bail!("{} open tables are called `{named}`: name the id", found.len()),
    }
}

/// Folder in which a player's logins and evidence of one server are kept.
pub(crate) fn player_folder(data: Option<&Path>, server: &str) -> anyhow::Result<PathBuf> {
    let seen = seen_folder(data)?;
    let name = utf8_percent_encode(server, NON_ALPHANUMERIC).to_string();
    Ok(seen.with_file_name("players").join(name))
}

/// Folder in which checkpoints and keys that were seen are remembered.
fn seen_folder(data: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(named) = data.filter(|named| !can_store_checkpoints(named)) {
        bail!(
            "{}: no room's folder, and no empty one to remember in: name another with --data",
            named.display()
        );
    }
    let path = data.map_or_else(|| default_data_dir(&Environment::read()), Path::to_owned);
    Ok(path.join("seen"))
}

/// Pins the keys of a room, if they are not pinned yet. Returns the path of the pinned ones.
async fn pin_keys(server: &str, data: Option<&Path>) -> anyhow::Result<PathBuf> {
    let folder = seen_folder(data)?;
    let name = utf8_percent_encode(server, NON_ALPHANUMERIC);
    let path = folder.join(format!("{name}.keys.txt"));
    if !path.exists() {
        let text = fetch_keys(server).await.context("give the room's keys with --keys")?;
        check_has_dealer(&text, &format!("{server}/keys.txt"))?;
        std::fs::create_dir_all(&folder)?;
        write_private(&path, text.as_bytes())?;
        output::error(&format!(
            "the keys of {server} are pinned in {}: compare them with those from another source",
            path.display()
        ));
    }
    Ok(path)
}

/// Checks that the keys of `source` hold one of a dealer's log that has no end.
fn check_has_dealer(text: &str, source: &str) -> anyhow::Result<()> {
    let trust = TrustedKeys::parse(text).context("the keys of the logs cannot be used")?;
    if !trust.has_dealer() {
        bail!("{source} has no key of a dealer's log: give the room's keys with --keys");
    }
    Ok(())
}

/// Fetches the keys of a room from its public port.
async fn fetch_keys(server: &str) -> anyhow::Result<String> {
    let base = server.parse().with_context(|| format!("{server} is no address"))?;
    let answer = HttpClient::new().get(&base, "keys.txt").await?;
    if !answer.status.is_success() {
        bail!("{server}/keys.txt answers {}", answer.status);
    }
    String::from_utf8(answer.body.to_vec()).context("the keys are not UTF-8")
}

/// Whether checkpoints may be stored in a folder: it is a room's, was used for it before, or is
/// empty.
fn can_store_checkpoints(path: &Path) -> bool {
    let ours = path.join("keys").is_dir() || path.join("seen").is_dir();
    ours || std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

/// Reads the public keys of the room's logs, as text.
fn read_keys(keys: Option<&Path>, server: Option<&str>, data: &Path) -> anyhow::Result<String> {
    match (keys, server) {
        (Some(file), _) => {
            let text = std::fs::read_to_string(file);
            text.with_context(|| format!("{} cannot be read", file.display()))
        }
        (None, None) => keys::room_keys(&DataDirectory::open(data)?),
        // For another room without keys only signatures go unchecked.
        (None, Some(_)) => Ok(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;
    use merkle::note::{KeyName, VerifierKey};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    fn key(name: &str) -> String {
        let key = SigningKey::from_bytes(&[3; 32]).verifying_key();
        VerifierKey::log(KeyName::try_new(name).unwrap(), key.as_bytes()).unwrap().to_string()
    }

    /// Starts a server that answers every call with this text.
    async fn server(text: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let _ = stream.read(&mut [0; 4096]).await.unwrap();
                let head = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    text.len()
                );
                stream.write_all(format!("{head}{text}").as_bytes()).await.unwrap();
            }
        });
        format!("http://{address}")
    }

    fn endpoint(server: Option<&str>, keys: Option<&Path>) -> RoomEndpoint {
        let (server, keys) = (server.map(str::to_owned), keys.map(Path::to_owned));
        RoomEndpoint { server, token: None, keys }
    }

    #[tokio::test]
    async fn keys_without_a_dealers_are_neither_pinned_nor_used() {
        let ended = format!("{} until 7\n", key("room/dealer"));
        let table = format!("{}\n", key("room/table"));
        for text in [String::new(), "# none\n".to_owned(), ended, table] {
            let place = tempfile::tempdir().unwrap();
            let server = server(text.clone()).await;
            let given = place.path().join("given");
            let pinning = endpoint(Some(&server), None).with_pinned_keys(Some(place.path())).await;
            let error = format!("{:#}", pinning.err().expect("it is refused"));
            let expected = format!("{server}/keys.txt has no key of a dealer's log");
            assert!(error.contains(&expected) && error.contains("--keys"), "{error}");
            assert!(!place.path().join("seen").exists(), "nothing is pinned");

            std::fs::write(&given, text).unwrap();
            for server in [None, Some(&*server)] {
                let read = endpoint(server, Some(&given)).with_pinned_keys(None).await;
                let error = format!("{:#}", read.err().expect("it is refused"));
                assert!(error.contains("given has no key of a dealer's log"), "{error}");
            }
        }
    }

    #[tokio::test]
    async fn keys_are_pinned_when_first_seen() {
        let place = tempfile::tempdir().unwrap();
        let text = format!("{}\n", key("room/dealer"));
        let server = server(text.clone()).await;
        for _ in 0..2 {
            let pinned = endpoint(Some(&server), None).with_pinned_keys(Some(place.path())).await;
            let path = pinned.unwrap().keys.unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), text);
        }
        let pinned = std::fs::read_dir(place.path().join("seen")).unwrap();
        assert_eq!(pinned.count(), 1, "nothing half written stays");
    }
}

//! Personal data of players: names, disputes, erasure.
//!
//! Tables know pseudonyms only. Personal data is a name, a player's own words, and the words of an
//! answer to them. It is recorded in sealed events on streams of their own: a player's, a
//! dispute's. Each player has a key for it ([`vault`]), kept beside the log ([`crate::repo`]).
//! Erasing a player is an event, and then their key is destroyed. That is a pending effect which is
//! read off the log and run again at every start. No record changes, so proofs, balances and
//! replays stay as they are, and nobody can read what was sealed.
//!
//! - [`registry`] folds the log, [`judge`] decides what players may do, [`words`] what may be
//!   written. Pure.
//! - [`directory`] has the names that viewers see, and is the only place that does.
//! - `keeping` has the keys. This module and `disputes` run commands, one at a time; nothing is
//!   answered before it is durable.
//!
//! A request's digest tells a repeat from another request, and stays in the database for ever. The
//! digest of a request with personal words is made under the player's key, since otherwise a name
//! could be found by trying.

pub mod directory;
mod disputes;
pub mod judge;
mod keeping;
pub mod registry;
pub mod vault;
pub mod words;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eventlog::{AppendError, Entry, Log, Position, Recall, Receipt, Request, RequestKey};
use primitives::{PlayerId, RequestId, StreamId};
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::event::v1::{EventType, PlayerErased, PlayerNamed, SealedPayload};
use proto::table::v1 as pb;
use system::entropy;
use system::ids::IdMaker;
use wire::{Recorded, Refused, refused, status};
use zeroize::Zeroizing;

use directory::Directory;
pub use keeping::{Keeping, PeopleError};
use keeping::{of_keys, unusable};
use registry::{Place, Registry};
use vault::{PlayerKey, WrappedKey};

/// Pause before a key that could not be destroyed is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Names, disputes and erasures over a log that this process owns.
pub struct People {
    log: Log,
    ids: IdMaker,
    keeping: Keeping,
    directory: Directory,
    registry: Mutex<Registry>,
    /// Held for one command at a time, so that each is judged by the result of the one before.
    writing: tokio::sync::Mutex<()>,
}

/// Caller and request of a command.
pub struct By {
    pub request: RequestId,
    /// SHA-256 of the request's content.
    pub digest: [u8; 32],
    pub actor: Arc<str>,
    pub trace: [u8; 16],
}

impl People {
    /// Recovers people: destroys the keys of erased players and loads the names of seated ones.
    pub async fn open(
        (log, ids): (Log, IdMaker),
        registry: Registry,
        keeping: Keeping,
        directory: Directory,
    ) -> Result<People, PeopleError> {
        keeping.wrap_anew().await?;
        let erased: Vec<PlayerId> = registry.erased().collect();
        keeping.keys.destroy(&erased).await?;
        erased.into_iter().for_each(|player| directory.erase(player));
        let people = People {
            log,
            ids,
            keeping,
            directory,
            registry: Mutex::new(registry),
            writing: tokio::sync::Mutex::default(),
        };
        people.know(&people.directory.seated()).await?;
        Ok(people)
    }

    /// Loads the names of players that are not in the directory.
    async fn know(&self, players: &[PlayerId]) -> Result<(), PeopleError> {
        let unknown = players.iter().filter(|player| !self.directory.knows(**player));
        let sealed: Vec<(PlayerId, SealedPayload)> = self.look(|registry| {
            let name = |player: &PlayerId| {
                let (sealed, _) = registry.person(*player)?.named.as_ref()?;
                Some((*player, sealed.clone()))
            };
            unknown.filter_map(name).collect()
        });
        if sealed.is_empty() {
            return Ok(());
        }
        let wanted: Vec<PlayerId> = sealed.iter().map(|(player, _)| *player).collect();
        let keys = self.keeping.keys.get(&wanted).await?;
        for (player, sealed) in sealed {
            let name = keys.get(&player).and_then(|key| self.name_in(player, key, &sealed));
            // A lost key costs a name, and nobody's seat.
            let name = name.unwrap_or_else(|| {
                tracing::error!(%player, "the name of a player cannot be read: his key is lost");
                String::new()
            });
            // A name that was chosen or erased in the meantime stays.
            self.look(|registry| {
                if is_name(registry, player, &sealed) {
                    self.directory.show(player, &name);
                }
            });
        }
        Ok(())
    }

    fn name_in(
        &self,
        player: PlayerId,
        key: &WrappedKey,
        sealed: &SealedPayload,
    ) -> Option<String> {
        let key = self.keeping.vault.unwrap(player, key).ok()?;
        let opened = key.open((player.into(), kind(EventType::PlayerNamed)), sealed).ok()?;
        PlayerNamed::decode(&opened[..]).ok().map(|named| named.name)
    }

    /// Name of a player, and whether they are erased.
    pub async fn player(&self, player: PlayerId) -> Result<pb::GetPlayerResponse, Refused> {
        self.know(&[player]).await.map_err(unusable)?;
        let erased = self.look(|registry| registry.person(player).is_some_and(|one| one.erased));
        let name = self.directory.name(player);
        Ok(pb::GetPlayerResponse { player_id: player.0.to_vec(), name, erased })
    }

    /// Checks that a player may sit down, and loads their name.
    pub async fn admit(&self, player: PlayerId) -> Result<(), Refused> {
        self.look(|registry| judge::not_erased(registry, player))?;
        self.know(&[player]).await.map_err(unusable)
    }

    /// Position of the record that named a player last.
    #[must_use]
    pub fn named_at(&self, player: PlayerId) -> Option<Position> {
        self.look(|registry| Some(registry.person(player)?.named.as_ref()?.1))
    }

    /// Gives a player another name. Returns whether anything changed.
    pub async fn set_name(
        &self,
        player: PlayerId,
        given: &str,
        by: By,
    ) -> Result<(pb::SetNameResponse, bool), Refused> {
        let name = words::name(given)?;
        let answer = pb::SetNameResponse { name: name.clone() };
        // Without the lock: a command that is refused or changes nothing holds nobody up.
        self.look(|registry| judge::not_erased(registry, player))?;
        self.know(&[player]).await.map_err(unusable)?;
        if self.directory.name(player) == name {
            return Ok((answer, false));
        }
        let _one_at_a_time = self.writing.lock().await;
        self.look(|registry| judge::not_erased(registry, player))?;
        let key = self.keeping.known_key(player).await?;
        if self.recalled_under(key.as_ref(), &by).await?.is_some() {
            return Ok((answer, false));
        }
        self.know(&[player]).await.map_err(unusable)?;
        if self.directory.name(player) == name {
            return Ok((answer, false));
        }
        let key = self.key_to_write_with(key, player).await?;
        let digest = key.digest(by.digest);
        let message = Zeroizing::new(PlayerNamed { name: name.clone() }.encode_to_vec());
        let named = self.sealed(&key, (player, player.into()), (EventType::PlayerNamed, &message));
        let events = [Recorded::PlayerNamed(named)];
        // The answer is not kept, since it is the name.
        self.append((player.into(), &events), (digest, Vec::new()), by).await?;
        self.directory.show(player, &name);
        Ok((answer, true))
    }

    /// Erases a player and destroys their key.
    pub async fn erase(
        self: &Arc<Self>,
        player: PlayerId,
        reason: &str,
        by: By,
    ) -> Result<pb::ErasePlayerResponse, Refused> {
        let reason = words::reason(reason)?;
        let _one_at_a_time = self.writing.lock().await;
        let answer = pb::ErasePlayerResponse {};
        let digest = by.digest;
        let recalled = self.recalled((&by.actor, by.request), digest).await?.is_some();
        let erased = self.look(|registry| judge::not_erased(registry, player).is_err());
        if !recalled && !erased {
            let seats = self.directory.tables_of(player);
            self.look(|registry| judge::erase(registry, player, &seats))?;
            let events = [Recorded::from(PlayerErased { reason })];
            self.append((player.into(), &events), (digest, answer.encode_to_vec()), by).await?;
            self.directory.erase(player);
        }
        if let Err(error) = self.keeping.keys.destroy(&[player]).await {
            self.destroy_later(player);
            return Err(of_keys(&error));
        }
        Ok(answer)
    }

    /// Destroys the key of an erased player as soon as the database is back.
    fn destroy_later(&self, player: PlayerId) {
        let (keys, stopped) = (self.keeping.keys.clone(), self.log.stopped());
        tokio::spawn(async move {
            while stopped.run_until_cancelled(tokio::time::sleep(PAUSE)).await.is_some() {
                if keys.destroy(&[player]).await.is_ok() {
                    return;
                }
            }
        });
    }

    fn look<T>(&self, at: impl FnOnce(&Registry) -> T) -> T {
        at(&self.registry.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn sealed(
        &self,
        key: &PlayerKey,
        (player, stream): (PlayerId, StreamId),
        (kind_of, message): (EventType, &[u8]),
    ) -> SealedPayload {
        let nonce = entropy::bytes(&*self.keeping.entropy);
        key.seal(player, (stream, kind(kind_of)), message, nonce)
    }

    /// First answer to a request that was recorded under its player's key.
    async fn recalled_under(
        &self,
        key: Option<&PlayerKey>,
        by: &By,
    ) -> Result<Option<Vec<u8>>, Refused> {
        // Nothing was recorded without a key, so a stored request is another one.
        let digest = key.map_or([0; 32], |key| key.digest(by.digest));
        self.recalled((&by.actor, by.request), digest).await
    }

    async fn key_to_write_with(
        &self,
        known: Option<PlayerKey>,
        player: PlayerId,
    ) -> Result<PlayerKey, Refused> {
        match known {
            Some(key) => Ok(key),
            None => self.keeping.new_key(player).await,
        }
    }

    /// First answer to a request, if there was one.
    async fn recalled(
        &self,
        (actor, request): (&str, RequestId),
        digest: [u8; 32],
    ) -> Result<Option<Vec<u8>>, Refused> {
        match self.log.recall(RequestKey::new(actor, request), digest).await {
            Ok(Recall::Fresh) => Ok(None),
            Ok(Recall::Same { answer, first: _ }) => Ok(Some(answer.to_vec())),
            Ok(Recall::Different) => Err(status::request_id_reused()),
            Err(_) => Err(status::unavailable("the log cannot be read")),
        }
    }

    /// Appends events to one stream, then moves the registry.
    async fn append(
        &self,
        (stream, events): (StreamId, &[Recorded]),
        (digest, answer): ([u8; 32], Vec<u8>),
        by: By,
    ) -> Result<Receipt, Refused> {
        let entry = Entry {
            events: events.iter().map(|event| event.on(stream)).collect(),
            request: Some(Request { id: by.request, digest, answer: answer.into() }),
            actor: by.actor,
            trace: by.trace,
        };
        let receipt = self.log.append(entry).await.map_err(|error| match error {
            AppendError::Duplicate { .. } => status::request_id_reused(),
            AppendError::Clock(off) => status::unavailable(&off.to_string()),
            AppendError::Full
            | AppendError::Unavailable { .. }
            | AppendError::Lost
            | AppendError::TooLarge { .. }
            | AppendError::Empty
            | AppendError::Misplaced { .. }
            | AppendError::Twice { .. } => {
                status::unavailable("the log takes nothing at the moment")
            }
        })?;
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        for (event, number) in events.iter().zip(0..) {
            let position = Position(receipt.first.0 + number);
            registry
                .evolve(event, Place { stream, position, at: receipt.recorded_at })
                .map_err(|damaged| refused(ErrorReason::Corrupt, damaged.to_string()))?;
        }
        Ok(receipt)
    }
}

fn is_name(registry: &Registry, player: PlayerId, sealed: &SealedPayload) -> bool {
    let named = registry.person(player).and_then(|person| person.named.as_ref());
    named.is_some_and(|(newest, _)| newest == sealed)
}

/// Number of an event type.
fn kind(of: EventType) -> u16 {
    u16::try_from(i32::from(of)).expect("event types are small")
}

#[cfg(test)]
mod tests;

//! People: names, marks of bots, disputes, erasure, guests.
//!
//! Tables know pseudonyms only. Personal data is a name, a player's own words, and the words of an
//! answer to them. It is recorded in sealed events on streams of their own: a player's, a
//! dispute's. Each player has a key for it ([`vault`]), kept beside the log (`player_keys`).
//! Erasing a player is an event, and then their key is destroyed. That is a pending effect which is
//! read off the log and run again at every start. No record changes, so proofs, balances and
//! replays stay as they are, and nobody can read what was sealed.
//!
//! - [`registry`] folds the log, [`permissions`] decides what players may do, [`text_checks`] what
//!   may be written. Pure.
//! - `marks` has the house's word that a program plays for a player.
//! - `guests` lets people in who have no account elsewhere, and revokes tokens; `sign_ins` is its
//!   fold of the log, `refresh_token` what a guest comes back with.
//! - [`directory`] has the names that viewers see, and is the only place that does.
//! - `player_keys` has the keys. This module and `disputes` run commands, one at a time; nothing is
//!   answered before it is durable.
//!
//! A request's digest tells a repeat from another request, and stays in the database for ever. The
//! digest of a request with personal words is made under the player's key, since otherwise a name
//! could be found by trying.
//!
//! Specification: services/table/README.md "State and events".

pub(crate) mod directory;
mod disputes;
mod evidence;
pub(crate) mod guests;
mod marks;
pub(crate) mod permissions;
pub(crate) mod player_keys;
pub(crate) mod refresh_token;
pub(crate) mod registry;
pub(crate) mod sign_ins;
pub(crate) mod text_checks;
pub(crate) mod vault;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use eventlog::{AppendError, Entry, Log, Position, Recall, Receipt, RequestKey};
use keyring::{SealedSecret, SecretId};
use primitives::{PlayerId, StreamId};
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::event::v1::{EventType, PlayerErased, PlayerNamed, SealedPayload};
use proto::table::v1 as pb;
use system::entropy;
use system::ids::IdMaker;
use tokio::sync::watch;
use wire::{ApiRefusal, Record as _, TableRecord, api_refusal, status};
use zeroize::Zeroizing;

use crate::author::Author;
use crate::hand_list::HandList;
use crate::record_padding;
use directory::Directory;
pub(crate) use disputes::Wanted;
use guests::GuestIssuer;
pub(crate) use player_keys::{PeopleError, PlayerKeys};
use player_keys::{key_refusal, people_refusal};
use registry::{EventLocation, RecordPlace, Registry};
use vault::{PlayerKey, SealBinding};

/// Pause before a key that could not be destroyed is tried again.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Names, disputes and erasures over a log that this process owns.
pub(crate) struct People {
    log: Log,
    ids: IdMaker,
    player_keys: PlayerKeys,
    directory: Directory,
    registry: Mutex<Registry>,
    /// Held for one command at a time, so that each is judged by the result of the one before.
    write_lock: tokio::sync::Mutex<()>,
    /// Issuer of guests' tokens, where the room has guests.
    guests: Option<Arc<GuestIssuer>>,
    /// Counts the revocations that were recorded.
    revoked: watch::Sender<u64>,
    /// Hands of all players, also of those that are archived.
    hand_list: HandList,
}

impl People {
    /// Adds the list of all players' hands.
    pub(crate) fn with_hand_list(self, hand_list: HandList) -> People {
        People { hand_list, ..self }
    }

    /// Recovers people: destroys the keys of erased players and loads the names of seated ones.
    pub(crate) async fn open(
        log: Log,
        ids: IdMaker,
        registry: Registry,
        player_keys: PlayerKeys,
        directory: Directory,
    ) -> Result<People, PeopleError> {
        player_keys.reseal_all().await?;
        let erased: Vec<PlayerId> = registry.erased().collect();
        player_keys.keys.delete(&secret_ids(&erased)).await?;
        erased.into_iter().for_each(|player| directory.erase(player));
        registry.bots().for_each(|player| directory.set_bot(player, true));
        let people = People {
            log,
            ids,
            player_keys,
            directory,
            registry: Mutex::new(registry),
            write_lock: tokio::sync::Mutex::default(),
            guests: None,
            revoked: watch::Sender::new(0),
            hand_list: HandList::default(),
        };
        people.load_names(&people.directory.seated()).await?;
        Ok(people)
    }

    /// Loads the names of players that are not in the directory.
    async fn load_names(&self, players: &[PlayerId]) -> Result<(), PeopleError> {
        let unknown = players.iter().filter(|player| !self.directory.is_known(**player));
        let sealed: Vec<(PlayerId, SealedPayload)> = self.with_registry(|registry| {
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
        let keys = self.player_keys.keys.get_many(&secret_ids(&wanted)).await?;
        for (player, sealed) in sealed {
            let name = keys.get(&player.0).and_then(|key| self.decrypt_name(player, key, &sealed));
            // A lost key costs a name, and nobody's seat.
            let name = name.unwrap_or_else(|| {
                tracing::error!(%player, "the name of a player cannot be read: his key is lost");
                String::new()
            });
            // A name that was chosen or erased in the meantime stays.
            self.with_registry(|registry| {
                if is_latest_name(registry, player, &sealed) {
                    self.directory.set_name(player, &name);
                }
            });
        }
        Ok(())
    }

    fn decrypt_name(
        &self,
        player: PlayerId,
        key: &SealedSecret,
        sealed: &SealedPayload,
    ) -> Option<String> {
        let key = self.player_keys.open(key).ok()?;
        let opened = key.open(binding(player, EventType::PlayerNamed), sealed).ok()?;
        PlayerNamed::decode(&opened[..]).ok().map(|named| named.name)
    }

    /// Name of a player, and whether they are erased.
    pub(crate) async fn player(
        &self,
        player: PlayerId,
    ) -> Result<pb::GetPlayerResponse, ApiRefusal> {
        self.load_names(&[player]).await.map_err(people_refusal)?;
        let erased =
            self.with_registry(|registry| registry.person(player).is_some_and(|one| one.erased));
        let (name, bot) = (self.directory.name(player), self.directory.is_bot(player));
        Ok(pb::GetPlayerResponse { player_id: player.to_string(), name, erased, bot })
    }

    /// Checks that a player may sit down, and loads their name.
    pub(crate) async fn admit(&self, player: PlayerId) -> Result<(), ApiRefusal> {
        self.with_registry(|registry| permissions::check_not_erased(registry, player))?;
        self.load_names(&[player]).await.map_err(people_refusal)
    }

    /// Place of the record that named or marked a player last.
    #[must_use]
    pub(crate) fn presented_at(&self, player: PlayerId) -> Option<RecordPlace> {
        self.with_registry(|registry| {
            let person = registry.person(player)?;
            let named = person.named.as_ref().map(|(_, place)| *place);
            named.max(person.marked.map(|(_, place)| place))
        })
    }

    /// Gives a player another name. Returns whether anything changed.
    pub(crate) async fn set_name(
        &self,
        player: PlayerId,
        given: &str,
        by: Author,
    ) -> Result<(pb::SetNameResponse, bool), ApiRefusal> {
        let name = text_checks::name(given)?;
        let answer = pb::SetNameResponse { name: name.clone() };
        // Without the lock: a command that is refused or changes nothing holds nobody up.
        self.with_registry(|registry| permissions::check_not_erased(registry, player))?;
        self.load_names(&[player]).await.map_err(people_refusal)?;
        if self.directory.name(player) == name {
            return Ok((answer, false));
        }
        let _one_at_a_time = self.write_lock.lock().await;
        self.with_registry(|registry| permissions::check_not_erased(registry, player))?;
        let key = self.player_keys.find_key(player).await?;
        if self.first_answer_under(key.as_ref(), &by).await?.is_some() {
            return Ok((answer, false));
        }
        self.load_names(&[player]).await.map_err(people_refusal)?;
        if self.directory.name(player) == name {
            return Ok((answer, false));
        }
        let key = self.key_or_new(key, player).await?;
        let by = Author { digest: key.digest(by.digest), ..by };
        let message = Zeroizing::new(PlayerNamed { name: name.clone() }.encode_to_vec());
        let named =
            self.seal_event(&key, player, binding(player, EventType::PlayerNamed), &message);
        let events = [TableRecord::PlayerNamed(named)];
        // The answer is not kept, since it is the name.
        self.append(player.into(), &events, Vec::new(), by).await?;
        self.directory.set_name(player, &name);
        Ok((answer, true))
    }

    /// Erases a player and destroys their key.
    pub(crate) async fn erase(
        self: &Arc<Self>,
        player: PlayerId,
        reason: &str,
        by: Author,
    ) -> Result<pb::ErasePlayerResponse, ApiRefusal> {
        let reason = text_checks::reason(reason)?;
        let _one_at_a_time = self.write_lock.lock().await;
        let answer = pb::ErasePlayerResponse {};
        let recalled = self.first_answer(&by, by.digest).await?.is_some();
        let erased =
            self.with_registry(|registry| permissions::check_not_erased(registry, player).is_err());
        if !recalled && !erased {
            let seats = self.directory.tables_of(player);
            self.with_registry(|registry| permissions::check_erasure(registry, player, &seats))?;
            let mut erased = PlayerErased { reason, ..PlayerErased::default() };
            erased.padding = record_padding::zeros(&erased, record_padding::STEP);
            let events = [TableRecord::from(erased)];
            self.append(player.into(), &events, answer.encode_to_vec(), by).await?;
            self.directory.erase(player);
        }
        if let Err(error) = self.player_keys.keys.delete(&[player.0]).await {
            self.destroy_later(player);
            return Err(key_refusal(&error));
        }
        Ok(answer)
    }

    /// Destroys the key of an erased player as soon as the database is back.
    fn destroy_later(&self, player: PlayerId) {
        let (keys, stopped) = (self.player_keys.keys.clone(), self.log.stopped());
        tokio::spawn(async move {
            while stopped.run_until_cancelled(tokio::time::sleep(RETRY_PAUSE)).await.is_some() {
                if keys.delete(&[player.0]).await.is_ok() {
                    return;
                }
            }
        });
    }

    fn with_registry<T>(&self, at: impl FnOnce(&Registry) -> T) -> T {
        at(&self.registry.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn seal_event(
        &self,
        key: &PlayerKey,
        player: PlayerId,
        binding: SealBinding,
        message: &[u8],
    ) -> SealedPayload {
        let nonce = entropy::bytes(&*self.player_keys.entropy);
        key.seal(player, binding, message, nonce)
    }

    /// First answer to a request that was recorded under its player's key.
    async fn first_answer_under(
        &self,
        key: Option<&PlayerKey>,
        by: &Author,
    ) -> Result<Option<Vec<u8>>, ApiRefusal> {
        // Nothing was recorded without a key, so a stored request is another one.
        let digest = key.map_or([0; 32], |key| key.digest(by.digest));
        self.first_answer(by, digest).await
    }

    async fn key_or_new(
        &self,
        known: Option<PlayerKey>,
        player: PlayerId,
    ) -> Result<PlayerKey, ApiRefusal> {
        match known {
            Some(key) => Ok(key),
            None => self.player_keys.new_key(player).await,
        }
    }

    /// First answer to a request, if there was one.
    async fn first_answer(
        &self,
        by: &Author,
        digest: [u8; 32],
    ) -> Result<Option<Vec<u8>>, ApiRefusal> {
        match self.log.recall(RequestKey::new(&by.actor, by.request), digest).await {
            Ok(Recall::Fresh) => Ok(None),
            Ok(Recall::Repeated { answer, first: _ }) => Ok(Some(answer.to_vec())),
            Ok(Recall::IdReused) => Err(status::request_id_reused()),
            Ok(Recall::TooOld) => Err(status::request_id_too_old()),
            Err(_) => Err(status::unavailable("the log cannot be read")),
        }
    }

    /// Appends events to one stream, then moves the registry.
    async fn append(
        &self,
        stream: StreamId,
        events: &[TableRecord],
        answer: Vec<u8>,
        by: Author,
    ) -> Result<Receipt, ApiRefusal> {
        let entry = Entry {
            events: events.iter().map(|event| event.on_stream(stream)).collect(),
            request: Some(by.answered(answer)),
            actor: by.actor,
            trace: by.trace,
        };
        let receipt = self.log.append(entry).await.map_err(|error| match error {
            AppendError::Duplicate { .. } => status::request_id_reused(),
            AppendError::Clock(off) => status::unavailable(&off.to_string()),
            AppendError::QueueFull
            | AppendError::Unavailable { .. }
            | AppendError::Lost
            | AppendError::TooLarge { .. }
            | AppendError::Empty
            | AppendError::Misplaced { .. }
            | AppendError::DuplicateInGroup { .. } => {
                status::unavailable("the log takes nothing at the moment")
            }
        })?;
        let mut registry = self.registry.lock().unwrap_or_else(PoisonError::into_inner);
        for (event, number) in events.iter().zip(0..) {
            let position = Position(receipt.first.0 + number);
            registry
                .evolve(event, EventLocation { stream, position, at: receipt.recorded_at })
                .map_err(|corrupt| api_refusal(ErrorReason::Corrupt, corrupt.to_string()))?;
        }
        Ok(receipt)
    }
}

fn secret_ids(players: &[PlayerId]) -> Vec<SecretId> {
    players.iter().map(|player| player.0).collect()
}

fn is_latest_name(registry: &Registry, player: PlayerId, sealed: &SealedPayload) -> bool {
    let named = registry.person(player).and_then(|person| person.named.as_ref());
    named.is_some_and(|(newest, _)| newest == sealed)
}

/// Binding of a sealed event to its stream.
fn binding(stream: impl Into<StreamId>, event: EventType) -> SealBinding {
    let kind = u16::try_from(i32::from(event)).expect("event types are small");
    SealBinding { stream: stream.into(), kind }
}

#[cfg(test)]
mod tests;

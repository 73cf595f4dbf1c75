//! Registry of players and disputes: a pure fold of the log.
//!
//! Of sealed data only the newest name is kept, still sealed. The words of disputes are read from
//! the log when they are asked for.

use proto::common::v1::DisputeVerdict;
use std::collections::{BTreeMap, BTreeSet};

use eventlog::Position;
use primitives::{DisputeId, HandId, PlayerId, StreamId, TableId, UnixMicros};
use proto::event::v1::{self as pb, SealedPayload};
use serde::{Deserialize, Serialize};
use wire::records::{PersonEvent, TableSubject};
use wire::{TableRecord, field};

use super::sign_ins::SignIns;
use crate::table::Corrupt;

/// Everything that is recorded about people.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Registry {
    people: BTreeMap<PlayerId, Person>,
    disputes: BTreeMap<DisputeId, Dispute>,
    /// Disputes in the order of their opening.
    in_order: Vec<DisputeId>,
    sign_ins: SignIns,
}

/// Records of a player, apart from their hands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Person {
    /// Last name that the player chose, sealed, and the place of its record.
    #[serde(with = "crate::stored::optional_message_pair")]
    pub named: Option<(SealedPayload, RecordPlace)>,
    pub erased: bool,
    /// Whether the house says that a program plays for the player, and the place of its record;
    /// none where no operator ever said so.
    pub marked: Option<(bool, RecordPlace)>,
    /// The player's disputes, in the order of their opening.
    pub disputes: Vec<DisputeId>,
    /// Those of the disputes that have no answer.
    pub open: BTreeSet<DisputeId>,
}

/// A dispute, without its words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dispute {
    pub id: DisputeId,
    pub player: PlayerId,
    pub table: TableId,
    pub hand_no: u64,
    pub hand: HandId,
    /// Counts all disputes from 1 in the order of their opening.
    pub number: u64,
    /// SHA-256 of the evidence, if there is any.
    #[serde(with = "crate::stored::optional_fixed")]
    pub evidence: Option<[u8; 32]>,
    /// SHA-256 of the contents of the room's own bundle, if it had one.
    #[serde(with = "crate::stored::optional_fixed")]
    pub bundle: Option<[u8; 32]>,
    pub opened_at: UnixMicros,
    /// Verdict of an auditor, and its time.
    #[serde(with = "crate::stored::optional_enum_pair")]
    pub answered: Option<(DisputeVerdict, UnixMicros)>,
}

/// Location and time of an event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventLocation {
    pub stream: StreamId,
    pub position: Position,
    pub at: UnixMicros,
}

/// Position and time of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct RecordPlace {
    pub position: Position,
    pub at: UnixMicros,
}

impl From<EventLocation> for RecordPlace {
    fn from(event: EventLocation) -> RecordPlace {
        RecordPlace { position: event.position, at: event.at }
    }
}

/// Whether an event lies in the stream of a player or of a dispute.
#[must_use]
pub(crate) fn is_about_people(event: &TableRecord) -> bool {
    matches!(event.subject(), TableSubject::Person(_))
}

impl Registry {
    /// Applies an event. An event that is not about people changes nothing.
    pub(crate) fn evolve(
        &mut self,
        event: &TableRecord,
        place: EventLocation,
    ) -> Result<(), Corrupt> {
        let TableSubject::Person(event) = event.subject() else { return Ok(()) };
        match event {
            PersonEvent::PlayerNamed(sealed) => {
                let player = PlayerId(place.stream.0);
                if field::player_id(&sealed.player_id)? != player {
                    return Err(Corrupt("a name in another player's stream".to_owned()));
                }
                self.person_mut(player)?.named = Some((sealed.clone(), place.into()));
            }
            PersonEvent::PlayerMarked(pb::PlayerMarked { bot }) => {
                let person = self.person_mut(PlayerId(place.stream.0))?;
                person.marked = Some((*bot, place.into()));
            }
            PersonEvent::GuestSignedIn(event) => {
                self.person_mut(PlayerId(place.stream.0))?;
                self.sign_ins.signed_in(event, place)?;
            }
            PersonEvent::RefreshTokenUsed(event) => {
                self.person_mut(PlayerId(place.stream.0))?;
                self.sign_ins.refreshed(event, place)?;
            }
            PersonEvent::TokensRevoked(event) => self.sign_ins.revoked(event, place)?,
            PersonEvent::PlayerErased(_) => {
                self.sign_ins.erased(PlayerId(place.stream.0));
                let person = self.person_mut(PlayerId(place.stream.0))?;
                *person = Person { erased: true, named: None, ..std::mem::take(person) };
            }
            PersonEvent::DisputeOpened(opened) => self.opened(opened, place)?,
            PersonEvent::DisputeAnswered(answered) => self.answered(answered, place)?,
            PersonEvent::DisputeStated(_) | PersonEvent::DisputeReasoned(_) => {
                self.dispute(DisputeId(place.stream.0))
                    .ok_or_else(|| Corrupt("words of no dispute".to_owned()))?;
            }
        }
        Ok(())
    }

    #[must_use]
    pub(crate) fn person(&self, player: PlayerId) -> Option<&Person> {
        self.people.get(&player)
    }

    /// Guests, and revoked tokens.
    #[must_use]
    pub(crate) const fn sign_ins(&self) -> &SignIns {
        &self.sign_ins
    }

    /// Players whose keys must be destroyed.
    pub(crate) fn erased(&self) -> impl Iterator<Item = PlayerId> {
        self.people.iter().filter(|(_, person)| person.erased).map(|(player, _)| *player)
    }

    /// Players whom the house marks as bots.
    pub(crate) fn bots(&self) -> impl Iterator<Item = PlayerId> {
        let marked = |person: &Person| person.marked.is_some_and(|(bot, _)| bot);
        self.people.iter().filter(move |(_, person)| marked(person)).map(|(player, _)| *player)
    }

    #[must_use]
    pub(crate) fn dispute(&self, id: DisputeId) -> Option<&Dispute> {
        self.disputes.get(&id)
    }

    /// Disputes of one player or of everybody in the order of their opening, from a place in that
    /// list on, each with its place.
    pub(crate) fn disputes_from(
        &self,
        of: Option<PlayerId>,
        skip: usize,
    ) -> impl Iterator<Item = (usize, &Dispute)> {
        let own = of.map(|player| self.person(player).map_or(&[][..], |person| &person.disputes));
        let ids = own.unwrap_or(&self.in_order).iter().enumerate().skip(skip);
        ids.filter_map(|(place, id)| Some((place, self.disputes.get(id)?)))
    }

    /// Entry of a player of whom more is recorded; an error for one who was erased.
    fn person_mut(&mut self, player: PlayerId) -> Result<&mut Person, Corrupt> {
        let person = self.people.entry(player).or_default();
        if person.erased {
            return Err(Corrupt(format!("player {player} was erased before")));
        }
        Ok(person)
    }

    /// Number of the dispute that is opened next.
    #[must_use]
    pub(crate) fn next_number(&self) -> u64 {
        self.in_order.len() as u64 + 1
    }

    fn opened(&mut self, opened: &pb::DisputeOpened, place: EventLocation) -> Result<(), Corrupt> {
        let pb::DisputeOpened {
            player_id,
            table_id,
            hand_no,
            hand_id,
            evidence_sha256,
            bundle_sha256,
        } = opened;
        let id = DisputeId(place.stream.0);
        let dispute = Dispute {
            id,
            player: field::player_id(player_id)?,
            table: field::table_id(table_id)?,
            hand_no: *hand_no,
            hand: field::id("hand_id", hand_id)?,
            number: self.next_number(),
            evidence: hash("evidence_sha256", evidence_sha256)?,
            bundle: hash("bundle_sha256", bundle_sha256)?,
            opened_at: place.at,
            answered: None,
        };
        let person = self.person_mut(dispute.player)?;
        person.disputes.push(id);
        person.open.insert(id);
        if self.disputes.insert(id, dispute).is_some() {
            return Err(Corrupt(format!("dispute {id} was opened twice")));
        }
        self.in_order.push(id);
        Ok(())
    }

    fn answered(
        &mut self,
        answered: &pb::DisputeAnswered,
        place: EventLocation,
    ) -> Result<(), Corrupt> {
        let id = DisputeId(place.stream.0);
        let known = self.disputes.get_mut(&id).filter(|dispute| dispute.answered.is_none());
        let dispute = known.ok_or_else(|| Corrupt(format!("dispute {id} is not open")))?;
        dispute.answered = Some((answered.verdict(), place.at));
        let player = dispute.player;
        self.person_mut(player)?.open.remove(&id);
        Ok(())
    }
}

/// A hash, if there is one.
fn hash(name: &str, bytes: &[u8]) -> Result<Option<[u8; 32]>, Corrupt> {
    if bytes.is_empty() { Ok(None) } else { Ok(Some(field::exactly(name, bytes)?)) }
}

#[cfg(test)]
mod tests;

//! Disputes: a player disputes a hand that they were dealt into, and an auditor answers once.
//!
//! What stands in the clear holds both sides: the hash of the player's evidence and of the room's
//! own bundle are in the event that opens the dispute, and a dispute's number is its place in the
//! log. The evidence is sealed with the player's words, and goes with them.

use eventlog::{ReadError, Version};
use primitives::{DisputeId, PlayerId, StreamId, TableId};
use prost::Message;
use proto::audit::v1 as pb;
use proto::common::v1::{DisputeVerdict, ErrorReason};
use proto::event::v1::{self as event, DisputeReasoned, DisputeStated, EventType, SealedPayload};
use sha2::{Digest as _, Sha256};
use wire::records::{PersonEvent, TableSubject};
use wire::{ApiRefusal, TableRecord, api_refusal, field};
use zeroize::Zeroizing;

use super::registry::{Dispute, Registry};
use super::vault::{PlayerKey, SealBinding};
use super::{People, binding, evidence, permissions, text_checks};
use crate::author::Author;
use crate::retention::read_refusal;
use wire::time::timestamp;

/// Limit for reading the events of a dispute, which has fewer.
const MAX_EVENTS: usize = 8;
/// Disputes that one page looks at, so that a page of few among many costs no more.
const MAX_LOOKED_AT: usize = 5000;

/// Selection of disputes for a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub state: pb::DisputeState,
    /// Only those of the caller.
    pub own: bool,
}

impl People {
    /// Opens a player's dispute of a hand, of which the room has given the bundle with this hash.
    pub(crate) async fn open_dispute(
        &self,
        player: PlayerId,
        request: &pb::OpenDisputeRequest,
        bundle: Option<[u8; 32]>,
        by: Author,
    ) -> Result<pb::OpenDisputeResponse, ApiRefusal> {
        let pb::OpenDisputeRequest { request_id: _, table_id, hand_no, text, evidence } = request;
        let table = field::table_id(table_id)?;
        let text = text_checks::text(text)?;
        evidence::check(player, evidence)?;
        let hand = fairness::hand_id(table, *hand_no);
        // Without the lock: a refused command holds nobody up. A repeat is judged by its first
        // answer.
        self.with_registry(|registry| permissions::check_not_erased(registry, player))?;
        self.check_dealt_into(player, table, *hand_no).await?;
        let _one_at_a_time = self.write_lock.lock().await;
        self.with_registry(|registry| permissions::check_not_erased(registry, player))?;
        let key = self.player_keys.find_key(player).await?;
        if let Some(answer) = self.first_answer_under(key.as_ref(), &by).await? {
            return read(&answer);
        }
        self.with_registry(|registry| permissions::check_dispute(registry, player, hand))?;
        let key = self.key_or_new(key, player).await?;
        let by = Author { digest: key.digest(by.digest), ..by };
        let id = self.ids.dispute_id();
        let evidence_sha256 = (!evidence.is_empty()).then(|| Sha256::digest(evidence).to_vec());
        let evidence_sha256 = evidence_sha256.unwrap_or_default();
        let bundle_sha256 = bundle.map(Vec::from).unwrap_or_default();
        let stated = DisputeStated { text, evidence: evidence.clone().into() };
        let stated = Zeroizing::new(stated.encode_to_vec());
        let stated = self.seal_event(&key, player, binding(id, EventType::DisputeStated), &stated);
        let opened = event::DisputeOpened {
            player_id: player.0.to_vec().into(),
            table_id: table.0.to_vec().into(),
            hand_no: *hand_no,
            hand_id: hand.0.to_vec().into(),
            evidence_sha256: evidence_sha256.clone().into(),
            bundle_sha256: bundle_sha256.clone().into(),
        };
        // Commands run one at a time, so nobody takes this number in between.
        let answer = pb::OpenDisputeResponse {
            dispute_id: id.to_string(),
            number: self.with_registry(Registry::next_number),
            evidence_sha256,
            bundle_sha256,
            bundle: Vec::new(),
        };
        let events = [TableRecord::from(opened), TableRecord::DisputeStated(stated)];
        self.append(id.into(), &events, answer.encode_to_vec(), by).await?;
        Ok(answer)
    }

    /// Disputes from the place `skip` on, without words: everybody's, or a player's own.
    #[must_use]
    pub(crate) fn list_disputes(
        &self,
        caller: Option<PlayerId>,
        wanted: Wanted,
        skip: usize,
        take: usize,
    ) -> pb::ListDisputesResponse {
        if wanted.own && caller.is_none() {
            return pb::ListDisputesResponse::default();
        }
        self.with_registry(|registry| {
            let mut disputes = Vec::new();
            let of = caller.filter(|_| wanted.own);
            for (looked_at, (place, dispute)) in registry.disputes_from(of, skip).enumerate() {
                if looked_at == MAX_LOOKED_AT || disputes.len() == take {
                    return pb::ListDisputesResponse {
                        disputes,
                        next_page_token: place.to_string(),
                    };
                }
                if is_in_state(dispute, wanted.state) {
                    disputes.push(list_row(registry, dispute, caller));
                }
            }
            pb::ListDisputesResponse { disputes, next_page_token: String::new() }
        })
    }

    /// A dispute with its words. Another player's dispute is refused as unknown.
    pub(crate) async fn get_dispute(
        &self,
        id: DisputeId,
        player: Option<PlayerId>,
    ) -> Result<pb::Dispute, ApiRefusal> {
        let (dispute, erased) = self.with_registry(|registry| {
            let dispute = permissions::visible_dispute(registry, id, player)?.clone();
            let erased = permissions::check_not_erased(registry, dispute.player).is_err();
            Ok::<_, ApiRefusal>((dispute, erased))
        })?;
        let mut view = dispute_view(&dispute, erased);
        if erased {
            return Ok(view);
        }
        let key = self.player_keys.existing_key(dispute.player).await?;
        let stream: StreamId = id.into();
        let events = self.log.archive_reader().read_stream(stream, Version(1), MAX_EVENTS).await;
        for event in events.map_err(|error| read_refusal(&error))? {
            let recorded = TableRecord::try_from(&event)
                .map_err(|error| api_refusal(ErrorReason::Corrupt, error.to_string()))?;
            let TableSubject::Person(event) = recorded.subject() else { continue };
            match event {
                PersonEvent::DisputeStated(sealed) => {
                    let text = decrypt(&key, binding(stream, EventType::DisputeStated), sealed)?;
                    let DisputeStated { text, evidence } = read(&text)?;
                    (view.text, view.evidence) = (text, evidence.to_vec());
                }
                PersonEvent::DisputeReasoned(sealed) => {
                    let text = decrypt(&key, binding(stream, EventType::DisputeReasoned), sealed)?;
                    view.answer = read::<DisputeReasoned>(&text)?.text;
                }
                PersonEvent::PlayerNamed(_)
                | PersonEvent::GuestSignedIn(_)
                | PersonEvent::RefreshTokenUsed(_)
                | PersonEvent::TokensRevoked(_)
                | PersonEvent::PlayerMarked(_)
                | PersonEvent::PlayerErased(_)
                | PersonEvent::DisputeOpened(_)
                | PersonEvent::DisputeAnswered(_) => {}
            }
        }
        Ok(view)
    }

    /// Records an auditor's answer to a dispute.
    pub(crate) async fn answer_dispute(
        &self,
        request: &pb::AnswerDisputeRequest,
        by: Author,
    ) -> Result<pb::AnswerDisputeResponse, ApiRefusal> {
        let pb::AnswerDisputeRequest { request_id: _, dispute_id, verdict: _, text } = request;
        let id: DisputeId = field::id("dispute_id", dispute_id)?;
        if request.verdict() == DisputeVerdict::Unspecified {
            let problem = "missing: upheld, rejected or undecided";
            return Err(wire::BadField::new("verdict", problem).into());
        }
        let text = text_checks::text(text)?;
        let _one_at_a_time = self.write_lock.lock().await;
        let (player, erased) = self.with_registry(|registry| {
            let player = permissions::visible_dispute(registry, id, None)?.player;
            Ok::<_, ApiRefusal>((player, permissions::check_not_erased(registry, player)))
        })?;
        erased?;
        let key = self.player_keys.existing_key(player).await?;
        let by = Author { digest: key.digest(by.digest), ..by };
        if let Some(answer) = self.first_answer(&by, by.digest).await? {
            return read(&answer);
        }
        self.with_registry(|registry| permissions::answerable_dispute(registry, id).map(|_| ()))?;
        let reasoned = Zeroizing::new(DisputeReasoned { text }.encode_to_vec());
        let reasoned =
            self.seal_event(&key, player, binding(id, EventType::DisputeReasoned), &reasoned);
        let answered = event::DisputeAnswered { verdict: request.verdict };
        let answer = pb::AnswerDisputeResponse {};
        let events = [TableRecord::from(answered), TableRecord::DisputeReasoned(reasoned)];
        self.append(id.into(), &events, answer.encode_to_vec(), by).await?;
        Ok(answer)
    }

    /// Checks that a player was dealt into a hand: by the hand's own stream, and where that is archived
    /// by the list of hands, which lasts.
    async fn check_dealt_into(
        &self,
        player: PlayerId,
        table: TableId,
        hand_no: u64,
    ) -> Result<(), ApiRefusal> {
        let stream = fairness::hand_id(table, hand_no).into();
        let events = match self.log.archive_reader().read_stream(stream, Version(1), 1).await {
            Ok(events) => events,
            Err(ReadError::Archived { .. }) => {
                let is_listed = self.hand_list.was_dealt_into(player, table, hand_no);
                return permissions::check_listed(is_listed, hand_no);
            }
            Err(error) => return Err(read_refusal(&error)),
        };
        let first = events.first().map(TableRecord::try_from);
        let Some(Ok(TableRecord::HandOpened(opened))) = first else {
            let message = format!("there is no hand {hand_no} at table {table}");
            return Err(api_refusal(ErrorReason::HandUnknown, message).field("hand_no"));
        };
        permissions::check_dealt_into(player, &opened)
    }
}

fn decrypt(
    key: &PlayerKey,
    binding: SealBinding,
    sealed: &SealedPayload,
) -> Result<Zeroizing<Vec<u8>>, ApiRefusal> {
    key.open(binding, sealed).map_err(|error| api_refusal(ErrorReason::Corrupt, error.to_string()))
}

fn read<M: Message + Default>(bytes: &[u8]) -> Result<M, ApiRefusal> {
    M::decode(bytes).map_err(|_| api_refusal(ErrorReason::Corrupt, "a stored message is damaged"))
}

fn is_in_state(dispute: &Dispute, state: pb::DisputeState) -> bool {
    match state {
        pb::DisputeState::Unspecified => true,
        pb::DisputeState::Open => dispute.answered.is_none(),
        pb::DisputeState::Answered => dispute.answered.is_some(),
    }
}

/// A dispute in a list. Whose it is, players see of their own alone.
fn list_row(registry: &Registry, dispute: &Dispute, caller: Option<PlayerId>) -> pb::Dispute {
    let erased = registry.person(dispute.player).is_some_and(|person| person.erased);
    let view = dispute_view(dispute, erased);
    match caller {
        Some(player) if player != dispute.player => pb::Dispute {
            dispute_id: String::new(),
            player_id: String::new(),
            erased: false,
            evidence_sha256: Vec::new(),
            bundle_sha256: Vec::new(),
            ..view
        },
        Some(_) | None => view,
    }
}

/// A dispute without its words.
fn dispute_view(dispute: &Dispute, erased: bool) -> pb::Dispute {
    let Dispute { id, player, table, hand_no, hand, number, evidence, bundle, opened_at, answered } =
        dispute;
    let state = match answered {
        None => pb::DisputeState::Open,
        Some(_) => pb::DisputeState::Answered,
    };
    pb::Dispute {
        dispute_id: id.to_string(),
        player_id: player.to_string(),
        table_id: table.to_string(),
        hand_no: *hand_no,
        hand_id: hand.to_string(),
        state: state.into(),
        create_time: Some(timestamp(*opened_at)),
        answer_time: answered.map(|(_, at)| timestamp(at)),
        verdict: answered.map_or(0, |(verdict, _)| verdict.into()),
        erased,
        text: String::new(),
        answer: String::new(),
        number: *number,
        evidence: Vec::new(),
        evidence_sha256: evidence.map(Vec::from).unwrap_or_default(),
        bundle_sha256: bundle.map(Vec::from).unwrap_or_default(),
    }
}

//! Disputes: a player disputes a hand that they were dealt into, and an auditor answers once.

use eventlog::Version;
use primitives::{DisputeId, PlayerId, StreamId, TableId};
use prost::Message;
use proto::audit::v1 as pb;
use proto::common::v1::ErrorReason;
use proto::event::v1::{
    self as event, DisputeReasoned, DisputeStated, DisputeVerdict, EventType, HandOpened,
    SealedPayload,
};
use wire::records::{PersonEvent, TableSubject};
use wire::{ApiRefusal, TableRecord, api_refusal, field, status};
use zeroize::Zeroizing;

use super::registry::Dispute;
use super::vault::{PlayerKey, SealBinding};
use super::{People, binding, permissions, text_checks};
use crate::author::Author;
use crate::updates::timestamp;

/// Limit for reading the events of a dispute, which has fewer.
const MAX_EVENTS: usize = 8;

impl People {
    /// Opens a player's dispute of a hand.
    pub(crate) async fn open_dispute(
        &self,
        player: PlayerId,
        request: &pb::OpenDisputeRequest,
        by: Author,
    ) -> Result<pb::OpenDisputeResponse, ApiRefusal> {
        let pb::OpenDisputeRequest { request_id: _, table_id, hand_no, text } = request;
        let table = field::table_id(table_id)?;
        let text = text_checks::text(text)?;
        let hand = fairness::hand_id(table, *hand_no);
        // Without the lock: a refused command holds nobody up. A repeat is judged by its first
        // answer.
        self.with_registry(|registry| permissions::check_not_erased(registry, player))?;
        permissions::check_dealt_into(player, &self.hand_opened(table, *hand_no).await?)?;
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
        let stated = Zeroizing::new(DisputeStated { text }.encode_to_vec());
        let stated = self.seal_event(&key, player, binding(id, EventType::DisputeStated), &stated);
        let opened = event::DisputeOpened {
            player_id: player.0.to_vec().into(),
            table_id: table.0.to_vec().into(),
            hand_no: *hand_no,
            hand_id: hand.0.to_vec().into(),
        };
        let answer = pb::OpenDisputeResponse { dispute_id: id.0.to_vec() };
        let events = [TableRecord::from(opened), TableRecord::DisputeStated(stated)];
        self.append(id.into(), &events, answer.encode_to_vec(), by).await?;
        Ok(answer)
    }

    /// Disputes from the number `skip` on: a player's own, or everybody's.
    #[must_use]
    pub(crate) fn list_disputes(
        &self,
        player: Option<PlayerId>,
        state: pb::DisputeState,
        skip: usize,
        take: usize,
    ) -> pb::ListDisputesResponse {
        self.with_registry(|registry| {
            let wanted = |dispute: &Dispute| match state {
                pb::DisputeState::Unspecified => true,
                pb::DisputeState::Open => dispute.answered.is_none(),
                pb::DisputeState::Answered => dispute.answered.is_some(),
            };
            let mut found =
                registry.disputes(player).skip(skip).filter(|(_, dispute)| wanted(dispute));
            let erased = |player| registry.person(player).is_some_and(|person| person.erased);
            let page = found.by_ref().take(take);
            let disputes =
                page.map(|(_, dispute)| dispute_view(dispute, erased(dispute.player))).collect();
            let next = found.next().map_or_else(String::new, |(number, _)| number.to_string());
            pb::ListDisputesResponse { disputes, next_page_token: next }
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
        let events = self.log.read_stream(stream, Version(1), MAX_EVENTS).await;
        for event in events.map_err(|_| status::unavailable("the log cannot be read"))? {
            let recorded = TableRecord::try_from(&event)
                .map_err(|error| api_refusal(ErrorReason::Corrupt, error.to_string()))?;
            let TableSubject::Person(event) = recorded.subject() else { continue };
            match event {
                PersonEvent::DisputeStated(sealed) => {
                    let text = decrypt(&key, binding(stream, EventType::DisputeStated), sealed)?;
                    view.text = read::<DisputeStated>(&text)?.text;
                }
                PersonEvent::DisputeReasoned(sealed) => {
                    let text = decrypt(&key, binding(stream, EventType::DisputeReasoned), sealed)?;
                    view.answer = read::<DisputeReasoned>(&text)?.text;
                }
                PersonEvent::PlayerNamed(_)
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

    /// Opening of a hand, from the hand's own stream.
    async fn hand_opened(&self, table: TableId, hand_no: u64) -> Result<HandOpened, ApiRefusal> {
        let stream = fairness::hand_id(table, hand_no).into();
        let events = self.log.read_stream(stream, Version(1), 1).await;
        let events = events.map_err(|_| status::unavailable("the log cannot be read"))?;
        let first = events.first().map(TableRecord::try_from);
        let Some(Ok(TableRecord::HandOpened(opened))) = first else {
            let message = format!("there is no hand {hand_no} at table {table}");
            return Err(api_refusal(ErrorReason::HandUnknown, message).field("hand_no"));
        };
        Ok(opened)
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

/// A dispute without its words.
fn dispute_view(dispute: &Dispute, erased: bool) -> pb::Dispute {
    let Dispute { id, player, table, hand_no, hand, opened_at, answered } = dispute;
    let state = match answered {
        None => pb::DisputeState::Open,
        Some(_) => pb::DisputeState::Answered,
    };
    pb::Dispute {
        dispute_id: id.0.to_vec(),
        player_id: player.0.to_vec(),
        table_id: table.0.to_vec(),
        hand_no: *hand_no,
        hand_id: hand.0.to_vec(),
        state: state.into(),
        opened_at: Some(timestamp(*opened_at)),
        answered_at: answered.map(|(_, at)| timestamp(at)),
        verdict: answered.map_or(0, |(verdict, _)| verdict.into()),
        erased,
        text: String::new(),
        answer: String::new(),
    }
}

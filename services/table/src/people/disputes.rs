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
use wire::{Recorded, Refused, field, refused, status};
use zeroize::Zeroizing;

use super::registry::Dispute;
use super::vault::PlayerKey;
use super::{By, People, judge, kind, words};
use crate::updates::timestamp;

/// Limit for reading the events of a dispute, which has fewer.
const WHOLE: usize = 8;

impl People {
    /// Opens a player's dispute of a hand.
    pub async fn open_dispute(
        &self,
        player: PlayerId,
        request: &pb::OpenDisputeRequest,
        by: By,
    ) -> Result<pb::OpenDisputeResponse, Refused> {
        let pb::OpenDisputeRequest { request_id: _, table_id, hand_no, text } = request;
        let table = field::table_id(table_id)?;
        let text = words::text(text)?;
        let hand = fairness::hand_id(table, *hand_no);
        // Without the lock: a refused command holds nobody up. A repeat is judged by its first
        // answer.
        self.look(|registry| judge::not_erased(registry, player))?;
        judge::dealt_into(player, &self.hand(table, *hand_no).await?)?;
        let _one_at_a_time = self.writing.lock().await;
        self.look(|registry| judge::not_erased(registry, player))?;
        let key = self.keeping.known_key(player).await?;
        if let Some(answer) = self.recalled_under(key.as_ref(), &by).await? {
            return read(&answer);
        }
        self.look(|registry| judge::dispute(registry, player, hand))?;
        let key = self.key_to_write_with(key, player).await?;
        let digest = key.digest(by.digest);
        let id = self.ids.dispute_id();
        let stated = Zeroizing::new(DisputeStated { text }.encode_to_vec());
        let stated = self.sealed(&key, (player, id.into()), (EventType::DisputeStated, &stated));
        let opened = event::DisputeOpened {
            player_id: player.0.to_vec().into(),
            table_id: table.0.to_vec().into(),
            hand_no: *hand_no,
            hand_id: hand.0.to_vec().into(),
        };
        let answer = pb::OpenDisputeResponse { dispute_id: id.0.to_vec() };
        let events = [Recorded::from(opened), Recorded::DisputeStated(stated)];
        self.append((id.into(), &events), (digest, answer.encode_to_vec()), by).await?;
        Ok(answer)
    }

    /// Disputes from the number `skip` on: a player's own, or everybody's.
    #[must_use]
    pub fn list_disputes(
        &self,
        player: Option<PlayerId>,
        state: pb::DisputeState,
        (skip, take): (usize, usize),
    ) -> pb::ListDisputesResponse {
        self.look(|registry| {
            let wanted = |dispute: &Dispute| match state {
                pb::DisputeState::Unspecified => true,
                pb::DisputeState::Open => dispute.answered.is_none(),
                pb::DisputeState::Answered => dispute.answered.is_some(),
            };
            let mut found =
                registry.disputes(player).skip(skip).filter(|(_, dispute)| wanted(dispute));
            let erased = |player| registry.person(player).is_some_and(|person| person.erased);
            let page = found.by_ref().take(take);
            let disputes = page.map(|(_, dispute)| view(dispute, erased(dispute.player))).collect();
            let next = found.next().map_or_else(String::new, |(number, _)| number.to_string());
            pb::ListDisputesResponse { disputes, next_page_token: next }
        })
    }

    /// A dispute with its words. Another player's dispute is refused as unknown.
    pub async fn get_dispute(
        &self,
        id: DisputeId,
        player: Option<PlayerId>,
    ) -> Result<pb::Dispute, Refused> {
        let (dispute, erased) = self.look(|registry| {
            let dispute = judge::see(registry, id, player)?.clone();
            let erased = judge::not_erased(registry, dispute.player).is_err();
            Ok::<_, Refused>((dispute, erased))
        })?;
        let mut told = view(&dispute, erased);
        if erased {
            return Ok(told);
        }
        let key = self.keeping.kept_key(dispute.player).await?;
        let stream: StreamId = id.into();
        let events = self.log.read_stream(stream, Version(1), WHOLE).await;
        for event in events.map_err(|_| status::unavailable("the log cannot be read"))? {
            let recorded = Recorded::try_from(&event)
                .map_err(|error| refused(ErrorReason::Corrupt, error.to_string()))?;
            if let Recorded::DisputeStated(sealed) = recorded {
                let opened = opened(&key, (stream, EventType::DisputeStated), &sealed)?;
                told.text = read::<DisputeStated>(&opened)?.text;
            } else if let Recorded::DisputeReasoned(sealed) = recorded {
                let opened = opened(&key, (stream, EventType::DisputeReasoned), &sealed)?;
                told.answer = read::<DisputeReasoned>(&opened)?.text;
            }
        }
        Ok(told)
    }

    /// Records an auditor's answer to a dispute.
    pub async fn answer_dispute(
        &self,
        request: &pb::AnswerDisputeRequest,
        by: By,
    ) -> Result<pb::AnswerDisputeResponse, Refused> {
        let pb::AnswerDisputeRequest { request_id: _, dispute_id, verdict: _, text } = request;
        let id: DisputeId = field::id("dispute_id", dispute_id)?;
        if request.verdict() == DisputeVerdict::Unspecified {
            let problem = "missing: upheld, rejected or undecided";
            return Err(wire::BadField::new("verdict", problem).into());
        }
        let text = words::text(text)?;
        let _one_at_a_time = self.writing.lock().await;
        let (player, erased) = self.look(|registry| {
            let player = judge::see(registry, id, None)?.player;
            Ok::<_, Refused>((player, judge::not_erased(registry, player)))
        })?;
        erased?;
        let key = self.keeping.kept_key(player).await?;
        let digest = key.digest(by.digest);
        if let Some(answer) = self.recalled((&by.actor, by.request), digest).await? {
            return read(&answer);
        }
        self.look(|registry| judge::answer(registry, id).map(|_| ()))?;
        let reasoned = Zeroizing::new(DisputeReasoned { text }.encode_to_vec());
        let reasoned =
            self.sealed(&key, (player, id.into()), (EventType::DisputeReasoned, &reasoned));
        let answered = event::DisputeAnswered { verdict: request.verdict };
        let answer = pb::AnswerDisputeResponse {};
        let events = [Recorded::from(answered), Recorded::DisputeReasoned(reasoned)];
        self.append((id.into(), &events), (digest, answer.encode_to_vec()), by).await?;
        Ok(answer)
    }

    /// Opening of a hand, from the hand's own stream.
    async fn hand(&self, table: TableId, hand_no: u64) -> Result<HandOpened, Refused> {
        let stream = fairness::hand_id(table, hand_no).into();
        let events = self.log.read_stream(stream, Version(1), 1).await;
        let events = events.map_err(|_| status::unavailable("the log cannot be read"))?;
        let first = events.first().map(Recorded::try_from);
        let Some(Ok(Recorded::HandOpened(opened))) = first else {
            let message = format!("there is no hand {hand_no} at table {table}");
            return Err(refused(ErrorReason::HandUnknown, message).field("hand_no"));
        };
        Ok(opened)
    }
}

fn opened(
    key: &PlayerKey,
    (stream, of): (StreamId, EventType),
    sealed: &SealedPayload,
) -> Result<Zeroizing<Vec<u8>>, Refused> {
    key.open((stream, kind(of)), sealed)
        .map_err(|error| refused(ErrorReason::Corrupt, error.to_string()))
}

fn read<M: Message + Default>(bytes: &[u8]) -> Result<M, Refused> {
    M::decode(bytes).map_err(|_| refused(ErrorReason::Corrupt, "a stored message is damaged"))
}

/// A dispute without its words.
fn view(dispute: &Dispute, erased: bool) -> pb::Dispute {
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

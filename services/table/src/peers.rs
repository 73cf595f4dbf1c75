//! Calls of a table to dealer and wallet, and their replies.

use chassis::channel::PeerChannel;
use fairness::Handle;
use proto::common::v1::ErrorReason;
use proto::dealer::v1::dealer_service_client::DealerServiceClient;
use proto::dealer::v1::{self as dealer, PerformRequest};
use proto::table::v1::LatencyStep;
use proto::wallet::v1 as wallet;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use rules::{Card, CardCount, Deck};
use tonic::Status;
use wire::card_positions::handle_to_pb;
use wire::{api_refusal, status};

use crate::ids;

/// Clients of dealer and wallet.
#[derive(Clone)]
pub(crate) struct Peers {
    pub dealer: DealerServiceClient<PeerChannel>,
    pub wallet: SettlementServiceClient<PeerChannel>,
}

/// A call with its complete request.
#[derive(Debug, Clone)]
pub(crate) enum PeerCall {
    Commit(dealer::CommitRequest),
    Close(dealer::CloseRequest),
    Seal(dealer::SealRequest),
    Perform(PerformRequest),
    /// Reveals the cards of a pile one after the other, until the count is reached.
    DealUntil {
        request: PerformRequest,
        pile: Vec<Handle>,
        count: CardCount,
        deck: &'static Deck,
    },
    Reveal(dealer::RevealRequest),
    BuyIn(wallet::BuyInRequest),
    CashOut(wallet::CashOutRequest),
    Settle(wallet::SettleRequest),
    CheckStanding(wallet::CheckStandingRequest),
    /// No call: the table runs the effect by itself.
    Nothing,
}

/// Reply to a call.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Committed(dealer::CommitResponse),
    Closed(dealer::CloseResponse),
    Sealed(dealer::SealResponse),
    Performed(dealer::PerformResponse),
    Revealed(dealer::RevealResponse),
    /// Position of the transfer in the wallet's log.
    Posted(u64),
    Standing(wallet::CheckStandingResponse),
    Nothing,
}

/// Reason why a call has no reply.
#[derive(Debug, Clone)]
pub(crate) enum CallFailure {
    /// The outcome is unknown: the same request is sent again later.
    Retry(String),
    /// The service refused, and would refuse again.
    Refused(Box<Status>),
}

impl From<Status> for CallFailure {
    fn from(status: Status) -> CallFailure {
        // Each call has a new token: a peer that rejects it has other keys or another clock, and
        // has not judged the request.
        if status::is_retryable(&status) || status::is_unauthenticated(&status) {
            CallFailure::Retry(format!("{:?}: {}", status.code(), status.message()))
        } else {
            CallFailure::Refused(Box::new(status))
        }
    }
}

impl PeerCall {
    /// Step whose latency the call counts for; `None` where it is none.
    pub(crate) const fn step(&self) -> Option<LatencyStep> {
        match self {
            PeerCall::Nothing => None,
            PeerCall::Commit(_)
            | PeerCall::Close(_)
            | PeerCall::Seal(_)
            | PeerCall::Perform(_)
            | PeerCall::DealUntil { .. }
            | PeerCall::Reveal(_) => Some(LatencyStep::Dealer),
            PeerCall::BuyIn(_)
            | PeerCall::CashOut(_)
            | PeerCall::Settle(_)
            | PeerCall::CheckStanding(_) => Some(LatencyStep::Wallet),
        }
    }

    /// Makes the call.
    pub(crate) async fn run(self, mut peers: Peers) -> Result<Reply, CallFailure> {
        Ok(match self {
            PeerCall::Nothing => Reply::Nothing,
            PeerCall::Commit(request) => {
                Reply::Committed(peers.dealer.commit(request).await?.into_inner())
            }
            PeerCall::Close(request) => {
                Reply::Closed(peers.dealer.close(request).await?.into_inner())
            }
            PeerCall::Seal(request) => {
                Reply::Sealed(peers.dealer.seal(request).await?.into_inner())
            }
            PeerCall::Perform(request) => {
                Reply::Performed(peers.dealer.perform(request).await?.into_inner())
            }
            PeerCall::DealUntil { request, pile, count, deck } => {
                Reply::Performed(deal_until(&mut peers, request, &pile, count, deck).await?)
            }
            PeerCall::Reveal(request) => {
                Reply::Revealed(peers.dealer.reveal(request).await?.into_inner())
            }
            PeerCall::BuyIn(request) => {
                Reply::Posted(peers.wallet.buy_in(request).await?.into_inner().position)
            }
            PeerCall::CashOut(request) => {
                Reply::Posted(peers.wallet.cash_out(request).await?.into_inner().position)
            }
            PeerCall::Settle(request) => {
                Reply::Posted(peers.wallet.settle(request).await?.into_inner().position)
            }
            PeerCall::CheckStanding(request) => {
                Reply::Standing(peers.wallet.check_standing(request).await?.into_inner())
            }
        })
    }
}

/// Reveals cards from the top of a pile one by one. Their number is known only from their faces,
/// and no card more than the rules call for may be revealed. Each request has an id derived from
/// the first one's.
async fn deal_until(
    peers: &mut Peers,
    request: PerformRequest,
    pile: &[Handle],
    count: CardCount,
    deck: &'static Deck,
) -> Result<dealer::PerformResponse, CallFailure> {
    let mut cards: Vec<Card> = Vec::new();
    let mut ids = Vec::new();
    let mut proofs = Vec::new();
    for place in pile {
        if !count.needs_more(&cards) {
            break;
        }
        let mut one = request.clone();
        let number = u64::from(place.op) << 16 | u64::from(place.position);
        one.request_id = ids::part_of(&one.request_id, number).to_vec();
        for opening in &mut one.openings {
            opening.cards = vec![handle_to_pb(*place)];
        }
        let answer = peers.dealer.perform(one).await?.into_inner();
        let id = answer.opened.first().and_then(|opened| opened.card_ids.first()).copied();
        let card = id.and_then(|id| deck.card(id)).ok_or_else(|| no_card(place))?;
        ids.push(card.id());
        proofs.extend(answer.opened.into_iter().flat_map(|opened| opened.proofs));
        cards.push(card);
    }
    let opened = vec![dealer::OpenedCards { card_ids: ids, proofs }];
    Ok(dealer::PerformResponse { results: Vec::new(), opened })
}

fn no_card(place: &Handle) -> CallFailure {
    let message = format!("the dealer opened no card at {}:{}", place.op, place.position);
    CallFailure::Refused(Box::new(api_refusal(ErrorReason::Corrupt, message).into()))
}

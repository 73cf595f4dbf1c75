//! Workers that post transfers in batches and streams.

use std::collections::VecDeque;

use anyhow::{Context as _, bail};
use chassis::channel::PeerChannel;
use futures_util::stream;
use primitives::{PlayerId, UnixMicros};
use proto::wallet::v1::post_result::Outcome;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use proto::wallet::v1::{
    Leg, PostBatchRequest, PostRequest, PostResponse, PostResult, Transfer, TransferKind,
};
use system::clock::{Clock as _, SystemClock};
use system::ids::IdMaker;
use tokio::sync::mpsc;
use tonic::Streaming;

use crate::drive::{StepResult, Worker};

/// Makes transfers of one credit from a player's account to a seat, and back.
pub(super) struct TransferMaker {
    ids: IdMaker,
    player: String,
    seat: String,
    /// Whether the credit is at the seat.
    is_seated: bool,
}

impl TransferMaker {
    pub(super) fn new(player: PlayerId) -> TransferMaker {
        let ids = IdMaker::system();
        let seat = format!("seat/{}/{player}", ids.table_id());
        TransferMaker { ids, player: format!("player/{player}"), seat, is_seated: false }
    }

    fn transfer(&mut self) -> Transfer {
        let (kind, amount) = match self.is_seated {
            false => (TransferKind::BuyIn, 1),
            true => (TransferKind::CashOut, -1),
        };
        self.is_seated = !self.is_seated;
        let leg = |account: &String, amount| Leg { account: account.clone(), amount };
        Transfer {
            transfer_id: self.ids.request_id().bytes().to_vec(),
            kind: kind.into(),
            legs: vec![leg(&self.player, -amount), leg(&self.seat, amount)],
            ..Transfer::default()
        }
    }
}

/// Checks that a transfer was posted; any other result makes the measurement worthless.
fn check_posted(result: &PostResult) -> anyhow::Result<()> {
    match &result.outcome {
        Some(Outcome::Position(_)) => Ok(()),
        Some(Outcome::Refused(refused)) => bail!("a transfer was refused: {}", refused.text),
        None => bail!("a transfer has no outcome"),
    }
}

/// Worker that posts one batch after another.
pub(super) struct BatchPoster {
    settlement: SettlementServiceClient<PeerChannel>,
    maker: TransferMaker,
    size: usize,
    clock: SystemClock,
}

impl BatchPoster {
    pub(super) fn new(player: PlayerId, channel: &PeerChannel, size: usize) -> BatchPoster {
        BatchPoster {
            settlement: SettlementServiceClient::new(channel.clone()),
            maker: TransferMaker::new(player),
            size,
            clock: SystemClock::new(),
        }
    }
}

impl Worker for BatchPoster {
    async fn step(&mut self) -> anyhow::Result<StepResult> {
        let transfers = (0..self.size).map(|_| self.maker.transfer()).collect();
        let began = self.clock.now();
        let answer = self.settlement.post_batch(PostBatchRequest { transfers }).await?;
        let took = self.clock.now().since(began);
        let results = answer.into_inner().results;
        if results.len() != self.size {
            bail!("{} transfers have {} results", self.size, results.len());
        }
        results.iter().try_for_each(check_posted)?;
        Ok(StepResult { operations: self.size as u64, latency: took })
    }
}

/// Worker that posts transfers on one stream, several of them in flight.
pub(super) struct StreamPoster {
    maker: TransferMaker,
    clock: SystemClock,
    requests: mpsc::Sender<PostRequest>,
    results: Streaming<PostResponse>,
    /// Times at which the transfers in flight were sent.
    sent: VecDeque<UnixMicros>,
    window: usize,
}

impl StreamPoster {
    pub(super) async fn open(
        player: PlayerId,
        channel: &PeerChannel,
        window: usize,
    ) -> anyhow::Result<StreamPoster> {
        let (out, requests) = mpsc::channel(window.max(1));
        let requests = stream::unfold(requests, |mut requests| async move {
            requests.recv().await.map(|request| (request, requests))
        });
        let (mut maker, clock) = (TransferMaker::new(player), SystemClock::new());
        // The first request goes out before the stream opens, since the answer may wait for it.
        out.send(PostRequest { transfer: Some(maker.transfer()) }).await?;
        let sent = VecDeque::from([clock.now()]);
        let mut settlement = SettlementServiceClient::new(channel.clone());
        let results = settlement.post(requests).await?.into_inner();
        Ok(StreamPoster { maker, clock, requests: out, results, sent, window })
    }
}

impl Worker for StreamPoster {
    async fn step(&mut self) -> anyhow::Result<StepResult> {
        while self.sent.len() < self.window {
            let request = PostRequest { transfer: Some(self.maker.transfer()) };
            self.sent.push_back(self.clock.now());
            self.requests.send(request).await.context("the stream takes no more")?;
        }
        let answer = self.results.message().await?.context("the stream has ended")?;
        check_posted(&answer.result.context("an answer has no result")?)?;
        let sent = self.sent.pop_front().context("there is a result too many")?;
        Ok(StepResult { operations: 1, latency: self.clock.now().since(sent) })
    }
}

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

use crate::bench::drive::{Done, Worker};

/// Makes transfers of one credit from a player's account to a seat, and back.
pub(super) struct Maker {
    ids: IdMaker,
    player: String,
    seat: String,
    /// Whether the credit is at the seat.
    seated: bool,
}

impl Maker {
    pub(super) fn new(player: PlayerId) -> Maker {
        let ids = IdMaker::system();
        let seat = format!("seat/{}/{player}", ids.table_id());
        Maker { ids, player: format!("player/{player}"), seat, seated: false }
    }

    fn transfer(&mut self) -> Transfer {
        let (kind, amount) = match self.seated {
            false => (TransferKind::BuyIn, 1),
            true => (TransferKind::CashOut, -1),
        };
        self.seated = !self.seated;
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
fn posted(result: &PostResult) -> anyhow::Result<()> {
    match &result.outcome {
        Some(Outcome::Position(_)) => Ok(()),
        Some(Outcome::Refused(refused)) => bail!("a transfer was refused: {}", refused.text),
        None => bail!("a transfer has no outcome"),
    }
}

/// Worker that posts one batch after another.
pub(super) struct Batches {
    settlement: SettlementServiceClient<PeerChannel>,
    maker: Maker,
    size: usize,
    clock: SystemClock,
}

impl Batches {
    pub(super) fn new(player: PlayerId, channel: &PeerChannel, size: usize) -> Batches {
        Batches {
            settlement: SettlementServiceClient::new(channel.clone()),
            maker: Maker::new(player),
            size,
            clock: SystemClock::new(),
        }
    }
}

impl Worker for Batches {
    async fn step(&mut self) -> anyhow::Result<Done> {
        let transfers = (0..self.size).map(|_| self.maker.transfer()).collect();
        let began = self.clock.now();
        let answer = self.settlement.post_batch(PostBatchRequest { transfers }).await?;
        let took = self.clock.now().since(began);
        let results = answer.into_inner().results;
        if results.len() != self.size {
            bail!("{} transfers have {} results", self.size, results.len());
        }
        results.iter().try_for_each(posted)?;
        Ok(Done { operations: self.size as u64, took })
    }
}

/// Worker that posts transfers on one stream, several of them in flight.
pub(super) struct Posts {
    maker: Maker,
    clock: SystemClock,
    out: mpsc::Sender<PostRequest>,
    results: Streaming<PostResponse>,
    /// Times at which the transfers in flight were sent.
    sent: VecDeque<UnixMicros>,
    window: usize,
}

impl Posts {
    pub(super) async fn open(
        player: PlayerId,
        channel: &PeerChannel,
        window: usize,
    ) -> anyhow::Result<Posts> {
        let (out, requests) = mpsc::channel(window.max(1));
        let requests = stream::unfold(requests, |mut requests| async move {
            requests.recv().await.map(|request| (request, requests))
        });
        let (mut maker, clock) = (Maker::new(player), SystemClock::new());
        // The first request goes out before the stream opens, since the answer may wait for it.
        out.send(PostRequest { transfer: Some(maker.transfer()) }).await?;
        let sent = VecDeque::from([clock.now()]);
        let mut settlement = SettlementServiceClient::new(channel.clone());
        let results = settlement.post(requests).await?.into_inner();
        Ok(Posts { maker, clock, out, results, sent, window })
    }
}

impl Worker for Posts {
    async fn step(&mut self) -> anyhow::Result<Done> {
        while self.sent.len() < self.window {
            let request = PostRequest { transfer: Some(self.maker.transfer()) };
            self.sent.push_back(self.clock.now());
            self.out.send(request).await.context("the stream takes no more")?;
        }
        let answer = self.results.message().await?.context("the stream has ended")?;
        posted(&answer.result.context("an answer has no result")?)?;
        let sent = self.sent.pop_front().context("there is a result too many")?;
        Ok(Done { operations: 1, took: self.clock.now().since(sent) })
    }
}

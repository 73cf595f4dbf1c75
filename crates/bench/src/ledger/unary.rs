//! Workers that call once for each transfer, and workers of calls that do nothing.

use chassis::channel::PeerChannel;
use primitives::PlayerId;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use proto::wallet::v1::{BuyInRequest, CashOutRequest};
use system::clock::{Clock as _, SystemClock};
use system::ids::IdMaker;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::drive::{StepResult, Worker};

/// Worker that moves a credit to a seat and back.
pub(super) struct TransferCaller {
    settlement: SettlementServiceClient<PeerChannel>,
    ids: IdMaker,
    clock: SystemClock,
    player: PlayerId,
    table: Vec<u8>,
    /// Whether the credit is at the seat.
    is_seated: bool,
}

impl TransferCaller {
    pub(super) fn new(player: PlayerId, channel: &PeerChannel) -> TransferCaller {
        let ids = IdMaker::system();
        TransferCaller {
            settlement: SettlementServiceClient::new(channel.clone()),
            table: ids.table_id().bytes().to_vec(),
            ids,
            clock: SystemClock::new(),
            player,
            is_seated: false,
        }
    }
}

impl Worker for TransferCaller {
    async fn step(&mut self) -> anyhow::Result<StepResult> {
        let request_id = self.ids.request_id().bytes().to_vec();
        let (table_id, player_id) = (self.table.clone(), self.player.bytes().to_vec());
        let began = self.clock.now();
        if self.is_seated {
            let request =
                CashOutRequest { to_suspense: false, request_id, table_id, player_id, amount: 1 };
            self.settlement.cash_out(request).await?;
        } else {
            let request = BuyInRequest { request_id, table_id, player_id, amount: 1 };
            self.settlement.buy_in(request).await?;
        }
        self.is_seated = !self.is_seated;
        Ok(StepResult { operations: 1, latency: self.clock.now().since(began) })
    }
}

/// Worker of a call that does nothing.
pub(super) struct BareCaller {
    health: HealthClient<PeerChannel>,
    clock: SystemClock,
}

impl BareCaller {
    pub(super) fn new(channel: &PeerChannel) -> BareCaller {
        BareCaller { health: HealthClient::new(channel.clone()), clock: SystemClock::new() }
    }
}

impl Worker for BareCaller {
    async fn step(&mut self) -> anyhow::Result<StepResult> {
        let began = self.clock.now();
        self.health.check(HealthCheckRequest::default()).await?;
        Ok(StepResult { operations: 1, latency: self.clock.now().since(began) })
    }
}

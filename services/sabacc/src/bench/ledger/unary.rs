//! Workers that call once for each transfer, and workers of calls that do nothing.

use chassis::channel::PeerChannel;
use primitives::PlayerId;
use proto::wallet::v1::settlement_service_client::SettlementServiceClient;
use proto::wallet::v1::{BuyInRequest, CashOutRequest};
use system::clock::{Clock as _, SystemClock};
use system::ids::IdMaker;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_client::HealthClient;

use crate::bench::drive::{Done, Worker};

/// Worker that moves a credit to a seat and back.
pub(super) struct Caller {
    settlement: SettlementServiceClient<PeerChannel>,
    ids: IdMaker,
    clock: SystemClock,
    player: PlayerId,
    table: Vec<u8>,
    /// Whether the credit is at the seat.
    seated: bool,
}

impl Caller {
    pub(super) fn new(player: PlayerId, channel: &PeerChannel) -> Caller {
        let ids = IdMaker::system();
        Caller {
            settlement: SettlementServiceClient::new(channel.clone()),
            table: ids.table_id().bytes().to_vec(),
            ids,
            clock: SystemClock::new(),
            player,
            seated: false,
        }
    }
}

impl Worker for Caller {
    async fn step(&mut self) -> anyhow::Result<Done> {
        let request_id = self.ids.request_id().bytes().to_vec();
        let (table_id, player_id) = (self.table.clone(), self.player.bytes().to_vec());
        let began = self.clock.now();
        if self.seated {
            let request =
                CashOutRequest { to_suspense: false, request_id, table_id, player_id, amount: 1 };
            self.settlement.cash_out(request).await?;
        } else {
            let request = BuyInRequest { request_id, table_id, player_id, amount: 1 };
            self.settlement.buy_in(request).await?;
        }
        self.seated = !self.seated;
        Ok(Done { operations: 1, took: self.clock.now().since(began) })
    }
}

/// Worker of a call that does nothing.
pub(super) struct Bare {
    health: HealthClient<PeerChannel>,
    clock: SystemClock,
}

impl Bare {
    pub(super) fn new(channel: &PeerChannel) -> Bare {
        Bare { health: HealthClient::new(channel.clone()), clock: SystemClock::new() }
    }
}

impl Worker for Bare {
    async fn step(&mut self) -> anyhow::Result<Done> {
        let began = self.clock.now();
        self.health.check(HealthCheckRequest::default()).await?;
        Ok(Done { operations: 1, took: self.clock.now().since(began) })
    }
}

//! The gRPC services: requests into commands, answers into messages.

mod accounts;
mod parse;
mod settlement;

use std::sync::Arc;

use chassis::auth::Identity;
use ledger::{Command, Transfer};
use primitives::{PlayerId, RequestId};
use proto::common::v1::ErrorReason;
use proto::wallet::v1::settlement_service_server::SettlementServiceServer;
use proto::wallet::v1::wallet_service_server::WalletServiceServer;
use tonic::{Request, Status};
use wire::{field, refused};

use crate::command;
use crate::wallet::{Done, Problem, Wallet};

/// Both services of the wallet.
#[derive(Clone)]
pub struct Api {
    wallet: Wallet,
}

/// The services, to be put behind a guard that says who calls. No message is longer than
/// `message_bytes`.
#[must_use]
pub fn services(
    wallet: &Wallet,
    message_bytes: usize,
) -> (WalletServiceServer<Api>, SettlementServiceServer<Api>) {
    let api = Api::new(wallet);
    (
        WalletServiceServer::new(api.clone()).max_decoding_message_size(message_bytes),
        SettlementServiceServer::new(api).max_decoding_message_size(message_bytes),
    )
}

/// Who calls, as the guard found out.
fn caller<T>(request: &Request<T>) -> Result<Identity, Box<Status>> {
    Identity::of(request).cloned().ok_or_else(|| {
        let text = "nobody has said who calls: send `authorization: Bearer <token>`";
        Box::new(refused(ErrorReason::TokenMissing, text).into())
    })
}

/// Whose account is meant: a player's own, whether he names it or not; for others the one named.
fn whose(caller: &Identity, player_id: &[u8]) -> Result<PlayerId, Box<Status>> {
    let named =
        (!player_id.is_empty()).then(|| field::player_id(player_id)).transpose().map_err(bad)?;
    match (caller.player(), named) {
        (Some(own), None) => Ok(own),
        (Some(own), Some(named)) if own == named => Ok(own),
        (Some(_), Some(_)) => {
            let text = "a player sees and moves only his own account: leave player_id empty";
            Err(Box::new(refused(ErrorReason::RoleNotAllowed, text).field("player_id").into()))
        }
        (None, Some(named)) => Ok(named),
        (None, None) => Err(bad(wire::BadField::new("player_id", "missing: whose account?"))),
    }
}

fn bad(bad: wire::BadField) -> Box<Status> {
    Box::new(bad.into())
}

impl Api {
    #[must_use]
    pub fn new(wallet: &Wallet) -> Api {
        Api { wallet: wallet.clone() }
    }

    async fn ask(
        &self,
        caller: &Identity,
        id: RequestId,
        command: Command,
    ) -> Result<Done, Problem> {
        let actor: Arc<str> = caller.actor().into();
        let trace = chassis::telemetry::trace_id();
        self.wallet.ask(command::Request { id, command, actor, trace }).await
    }

    async fn post(&self, caller: &Identity, transfer: Transfer) -> Result<Done, Problem> {
        self.ask(caller, transfer.id, Command::Post(transfer)).await
    }
}

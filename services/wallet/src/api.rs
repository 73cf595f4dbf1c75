//! gRPC services of the wallet: requests to commands, answers to messages.
//!
//! Specification: services/wallet/README.md "Commands".

mod accounts;
mod adjustments;
mod batch;
mod guests;
mod holds;
mod limits;
mod parse;
mod settlement;
mod statement;
mod text;

use std::sync::Arc;
use std::time::Duration;

use chassis::auth::Identity;
use chassis::request_ids::{Inadmissible, RequestIdPolicy};
use eventlog::Clock;
use ledger::{Account, Command};
use primitives::{PlayerId, RequestId, UnixMicros};
use proto::common::v1::ErrorReason;
use proto::wallet::v1::settlement_service_server::SettlementServiceServer;
use proto::wallet::v1::wallet_service_server::WalletServiceServer;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status};
use wire::{BadField, api_refusal, field};

use guests::GuestCredits;

use crate::answer::Answer;
use crate::command;
use crate::config::StartingCredits;
use crate::repo::StoredAccount;
use crate::wallet::{Author, Wallet, WalletError};

/// Handler of both gRPC services.
#[derive(Clone)]
pub struct Api {
    wallet: Wallet,
    clock: Clock,
    /// Cancelled when the service stops; open streams then end.
    stopping: CancellationToken,
    ids: Arc<RequestIdPolicy>,
    /// Permits to read statements, so that they never take all of the readers' connections.
    statement_permits: Arc<Semaphore>,
    guest_credits: GuestCredits,
}

/// Returns the services, which need a guard that authenticates callers. Messages longer than
/// `message_bytes` are refused.
#[must_use]
pub fn services(
    api: Api,
    message_bytes: usize,
) -> (WalletServiceServer<Api>, SettlementServiceServer<Api>) {
    (
        WalletServiceServer::new(api.clone()).max_decoding_message_size(message_bytes),
        SettlementServiceServer::new(api).max_decoding_message_size(message_bytes),
    )
}

/// Identity of the caller, as the guard verified it.
fn caller<T>(request: &Request<T>) -> Result<Identity, Box<Status>> {
    Identity::of(request).cloned().ok_or_else(|| {
        let text = "nobody has said who calls: send `authorization: Bearer <token>`";
        Box::new(api_refusal(ErrorReason::TokenMissing, text).into())
    })
}

/// Player that a request is about: players can only name themselves, named or not; others must name
/// one.
fn target_player(caller: &Identity, player_id: &str) -> Result<PlayerId, Box<Status>> {
    let named = (!player_id.is_empty())
        .then(|| field::player_id(player_id))
        .transpose()
        .map_err(bad_field_status)?;
    match (caller.player(), named) {
        (Some(own), None) => Ok(own),
        (Some(own), Some(named)) if own == named => Ok(own),
        (Some(_), Some(_)) => {
            let text = "a player sees and moves only his own account: leave player_id empty";
            Err(Box::new(api_refusal(ErrorReason::RoleNotAllowed, text).field("player_id").into()))
        }
        (None, Some(named)) => Ok(named),
        (None, None) => {
            Err(bad_field_status(BadField::new("player_id", "missing: whose account?")))
        }
    }
}

fn bad_field_status(bad: BadField) -> Box<Status> {
    Box::new(bad.into())
}

/// Author of a command of this caller.
fn author(caller: &Identity) -> Author {
    Author { actor: caller.actor().into(), trace: chassis::telemetry::trace_id() }
}

fn account_unknown(account: Account) -> Status {
    let text = format!("{account} does not exist: open it first");
    api_refusal(ErrorReason::AccountUnknown, text)
        .with("account", account.to_string())
        .with("refusal", "ACCOUNT_UNKNOWN")
        .into()
}

impl Api {
    #[must_use]
    pub fn new(wallet: &Wallet, clock: Clock, stopping: CancellationToken) -> Api {
        let statements = Arc::new(Semaphore::new(MAX_STATEMENTS));
        Api {
            wallet: wallet.clone(),
            clock,
            stopping,
            ids: Arc::default(),
            statement_permits: statements,
            guest_credits: StartingCredits::NONE.into(),
        }
    }

    /// Gives new guests credits.
    #[must_use]
    pub fn giving(self, starting: StartingCredits) -> Api {
        Api { guest_credits: starting.into(), ..self }
    }

    async fn execute(
        &self,
        caller: &Identity,
        id: RequestId,
        command: Command,
    ) -> Result<Answer, WalletError> {
        self.execute_request(caller, command::Request::new(id, command)).await
    }

    /// Carries out a request if this caller may send its id.
    async fn execute_request(
        &self,
        caller: &Identity,
        request: command::Request,
    ) -> Result<Answer, WalletError> {
        let by = author(caller);
        self.admit(&by, request.id)?;
        self.wallet.execute(request, by).await
    }

    /// Refuses an id that this caller may not send.
    fn admit(&self, by: &Author, id: RequestId) -> Result<(), WalletError> {
        self.ids.admit(&by.actor, id, self.now()).map_err(|reason| match reason {
            Inadmissible::Derived => WalletError::DerivedRequestId,
            Inadmissible::Ahead(ahead) => WalletError::FutureRequestId(ahead),
            Inadmissible::TooManyLookups(wait) => WalletError::RequestIdRateLimited(wait),
        })
    }

    /// Reads an account from the tables.
    async fn account_of(&self, account: Account) -> Result<StoredAccount, Status> {
        let found = self.wallet.repo()?.account(account).await.map_err(WalletError::from)?;
        found.ok_or_else(|| account_unknown(account))
    }

    fn now(&self) -> UnixMicros {
        (self.clock)()
    }
}

/// Waits for a permit to read statements.
async fn statement_permit(statements: &Arc<Semaphore>) -> Result<OwnedSemaphorePermit, Status> {
    match timeout(PERMIT_TIMEOUT, Arc::clone(statements).acquire_owned()).await {
        Ok(Ok(turn)) => Ok(turn),
        Ok(Err(_)) | Err(_) => {
            let text = "too many statements are read at a time: repeat the request a little later";
            Err(api_refusal(ErrorReason::Overloaded, text).retry_after(PERMIT_TIMEOUT).into())
        }
    }
}

/// Statements read at a time: half of the readers' connections.
const MAX_STATEMENTS: usize = 4;
/// Longest wait for a permit.
const PERMIT_TIMEOUT: Duration = Duration::from_secs(1);
/// Page sizes.
const DEFAULT_PAGE: usize = 100;
const MAX_PAGE: usize = 1000;

/// Size of the requested page and its first position. A page token is the position of the last item
/// of the page before.
fn page(size: i32, token: &str) -> Result<(usize, u64), BadField> {
    let size = page_size(size)?;
    if token.is_empty() {
        return Ok((size, 0));
    }
    let after: Option<u64> = token.parse().ok().and_then(|seen: u64| seen.checked_add(1));
    Ok((size, after.ok_or_else(bad_token)?))
}

fn page_size(size: i32) -> Result<usize, BadField> {
    field::page_size(size, DEFAULT_PAGE, MAX_PAGE)
}

fn bad_token() -> BadField {
    BadField::new("page_token", "send what the page before gave as next_page_token")
}

//! Memory of the wallet for each idle account.

use anyhow::Context as _;
use chassis::auth::Role;
use proto::wallet::v1::OpenAccountsRequest;
use proto::wallet::v1::wallet_service_client::WalletServiceClient;
use system::ids::IdMaker;
use tonic::Request;
use transport::Bearer;

use crate::progress_bar::ProgressBar;
use crate::wallet_process::WalletProcess;
use crate::{process, rounded};

/// Accounts opened by one call, the maximum of the API.
const BATCH_SIZE: u32 = 1000;
/// Calls before memory is counted.
const UNCOUNTED_CALLS: u32 = 5;

/// Opens idle accounts; returns the growth of the wallet's memory in bytes for each.
#[expect(clippy::cast_precision_loss, reason = "bytes of one process stay far below 2^52")]
pub(super) async fn open_idle_accounts(
    wallet: &WalletProcess,
    count: u32,
) -> anyhow::Result<Option<f64>> {
    let pid = wallet.pid().context("the wallet runs")?;
    let mut accounts = WalletServiceClient::new(wallet.channel()?);
    let (token, ids, bar) =
        (Bearer::new(&wallet.token(Role::Operator)), IdMaker::system(), ProgressBar::new());
    // The first calls pay for one-time allocations, and do not count.
    let (mut opened, mut before) = (0, None);
    let all = BATCH_SIZE.saturating_mul(UNCOUNTED_CALLS).saturating_add(count);
    while opened < all {
        if opened == BATCH_SIZE.saturating_mul(UNCOUNTED_CALLS) {
            before = process::resident_bytes(pid);
        }
        let some = BATCH_SIZE.min(all - opened);
        let mut request = Request::new(OpenAccountsRequest {
            request_id: ids.request_id().to_string(),
            player_ids: (0..some).map(|_| ids.player_id().to_string()).collect(),
        });
        token.add_to(&mut request);
        accounts.open_accounts(request).await?;
        opened += some;
        bar.show("accounts", opened.into(), all.into(), "opened");
    }
    let grown = process::resident_bytes(pid).zip(before).map(|(after, before)| {
        rounded(after.saturating_sub(before) as f64 / f64::from(count.max(1)))
    });
    Ok(grown)
}

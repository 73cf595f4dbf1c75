//! Commands with their names: what the wallet is asked, and how a repeat is recognised.

use std::sync::Arc;

use ledger::{Command, Event};
use primitives::RequestId;
use sha2::{Digest as _, Sha256};

use crate::record;

/// A command on its way to the ledger.
#[derive(Clone, Debug)]
pub struct Request {
    /// What the caller named the command by; a transfer's own id.
    pub id: RequestId,
    pub command: Command,
    /// Who asks: for the record.
    pub actor: Arc<str>,
    /// The trace the call belongs to; zeros for none.
    pub trace: [u8; 16],
}

impl Request {
    /// SHA-256 of the command's content. Legs in another order are the same content; who asks and
    /// in which trace does not matter.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let event = match &self.command {
            Command::Open(player) => Event::Opened(ledger::Account::Player(*player)),
            Command::Post(transfer) => {
                let mut transfer = transfer.clone();
                transfer.legs.sort_by_key(|leg| (leg.account, leg.amount));
                Event::Posted(transfer)
            }
        };
        let content = record::new_event(&event);
        let mut hash = Sha256::new();
        hash.update(content.kind.to_be_bytes());
        hash.update(&content.payload);
        hash.finalize().into()
    }
}

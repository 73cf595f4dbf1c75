//! Records that say of themselves that they are sealed, so that nobody sees what they hold. No type
//! of these streams is ever sealed.

use eventlog_core::Position;
use proto::common::v1::{AbortCause, AtFault};
use proto::event::v1 as pb;
use wire::{DealerRecord, TableRecord, WalletRecord};

use crate::hand::Check;
use crate::log_event::LogEvent;
use crate::tests::fixture::AnyRecord::{Dealer, Table, Wallet};
use crate::tests::fixture::{self, AnyRecord, Entry, LogName};

use super::{Golden, golden, index_of, rich};

pub(super) fn all() -> Vec<Golden> {
    let aborted = pb::HandAborted {
        at_fault: AtFault::Dealer.into(),
        seats: Vec::new(),
        evidence: "the dealer was silent".to_owned(),
        cause: AbortCause::Suspended.into(),
    };
    vec![
        repeated("streams-sealed-second-promise", |it| {
            matches!(it, Dealer(DealerRecord::SeedCommitted(_)))
        }),
        repeated("streams-sealed-operation", |it| {
            matches!(it, Dealer(DealerRecord::OperationPerformed(_)))
        }),
        repeated("streams-sealed-card-reveal", |it| {
            matches!(it, Dealer(DealerRecord::CardsOpened(_)))
        }),
        repeated("streams-sealed-second-commitment", |it| {
            matches!(it, Table(TableRecord::EntropyCommitted(_)))
        }),
        repeated("streams-sealed-decision", |it| matches!(it, Table(TableRecord::MoveDecided(_)))),
        repeated(
            "streams-sealed-second-transfer",
            |it| matches!(it, Wallet(WalletRecord::TransferPosted(it)) if !it.hand_id.is_empty()),
        ),
        hidden(
            "streams-sealed-abort",
            |it| matches!(it, Table(TableRecord::HandSealed(_))),
            |entry| entry.recorded = Table(aborted.into()),
        ),
    ]
}

/// The first record that matches stands there again, sealed.
fn repeated(name: &str, test: impl Fn(&AnyRecord) -> bool) -> Golden {
    hidden(name, test, |_| ())
}

/// Behind the first record that matches stands a sealed one, made of it by `edit`.
fn hidden(name: &str, test: impl Fn(&AnyRecord) -> bool, edit: impl FnOnce(&mut Entry)) -> Golden {
    let mut room = rich();
    let entries = &mut room.script.entries;
    let at = index_of(entries, test) + 1;
    let mut sealed = entries[at - 1].clone();
    edit(&mut sealed);
    let log = sealed.log;
    let before = entries[..at].iter().filter(|entry| entry.log == log).count();
    entries.insert(at, sealed);
    room.script.sealed.push((log, Position(before as u64)));
    let mut records = room.records(1);
    if log == LogName::Wallet {
        let event = room.script.events(log).swap_remove(before);
        records.wallet.push(LogEvent::leaf_only(event));
    }
    golden(name, fixture::bundle(&room.script, records), &[Check::Streams])
}

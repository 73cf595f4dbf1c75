//! Knows: tables, seats, hands in play and their clocks; what a table owes and is owed.
//! Does not know: the order of a shuffled pile, what is on an account, who a token's bearer is beyond what he says of himself.
//!
//! **A table is a task that owns its state** ([`actor`]): a command in, events out, appended, then
//! applied, then answered and told to viewers. What the world owes a table is read off its state
//! ([`debt`]): an operation of chance to perform, a transfer to post, a seed to open. After a crash
//! the next owner folds the log ([`recovery`]), sees the same debts and repeats them under the same
//! request ids; the log is the outbox, and there is no list of things to do.
//!
//! - [`mod@table`] is a table between hands, [`play`] a hand in play, [`state`] the two together:
//!   pure folds of the log. [`entropy`] is the seats' part in a hand's chance, [`proof`] what shows a
//!   card to lie where it is said to lie.
//! - [`deeds`] judges what people ask for; [`start`], [`plan`], [`pay`], [`settle`] and [`abort`] turn
//!   debts into calls and answers into events. All pure. [`peers`] makes the calls, [`receipt`] signs.
//! - [`stops`] are the debts that were refused, and an operator's way to let them go on.
//! - [`standing`] is what the wallet says of who may be dealt in, and what becomes of it.
//! - [`updates`] and [`publish`] tell viewers what each may see.
//! - [`people`] is what is personal: names, the words of disputes, erasure; [`repo`] has their keys.
//! - [`ids`] are the request ids that the state gives, [`bounds`] is what callers may cost.
//! - [`lateness`] is how late the room is: what nobody is charged for, and what new work waits for.
//! - [`steps`] records when the clock was set.
//! - [`house`] has all tables of a log, [`api`] is their gRPC face, [`shell`] a process around them.

pub mod abort;
pub mod actor;
pub mod api;
pub mod backlog;
pub mod bounds;
pub mod config;
pub mod debt;
pub mod deeds;
pub mod entropy;
pub mod house;
pub mod ids;
pub mod lateness;
pub mod pay;
pub mod peers;
pub mod people;
pub mod plan;
pub mod play;
pub mod proof;
pub mod publish;
pub mod receipt;
pub mod recovery;
#[cfg(test)]
mod rehearsal;
pub mod repo;
pub mod settle;
pub mod shell;
pub mod standing;
pub mod start;
pub mod state;
pub mod steps;
pub mod stops;
pub mod table;
pub mod updates;

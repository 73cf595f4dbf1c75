//! Knows: tables, seats, hands in play and their clocks, and the effects that a table has pending.
//! Does not know: the order of a shuffled pile, what is on an account, who really bears a token.
//!
//! **A table is a task that owns its state** (`actor`). A command comes in, events go out. They
//! are appended, then applied, then the caller is answered and viewers get updates. Pending effects
//! are read off the state (`effects`): an operation of chance to perform, a transfer to post, a
//! seed to open. After a crash the next owner folds the log (`recovery`), finds the same pending
//! effects and repeats them under the same request ids. The log is the outbox; there is no list of
//! things to do.
//!
//! - `table` is a table between hands, `hand_in_play` a hand in play, `state` the two together:
//!   pure folds of the log. `batch` is the events of one append, `reasons` has the reasons recorded
//!   of seats. `entropy` is the seats' part in a hand's chance, `decisions` the chain of decisions
//!   and its signatures, `proof` the proofs of where cards lie.
//! - `commands` judges commands, `author` says whose they are. `start`, `plan`, `effect_calls`,
//!   `settle` and `abort` turn effects into calls and answers into events. All pure. `peers` makes
//!   the calls, `receipt` signs.
//! - `suspension` is a hand that stands still while the dealer is silent, `lost_cards` a hand whose
//!   cards a restart has lost.
//! - `stops` are the effects that were refused, and an operator's commands to resume them.
//! - `standing` turns the wallet's word on who may be dealt in into events.
//! - `updates` and `publish` send each viewer what they may see, `backlog` bounds what is in
//!   flight.
//! - `hand_list` is the public list of hand numbers, `lobby` the list of open tables; both follow
//!   the log (`log_follower`). `player_hands` follows it too, and writes each player's hands into
//!   tables of the database ([`repo`]).
//! - `people` is personal data: names, the words of disputes, erasure.
//! - `ids` derives request ids from the state, `bounds` limits what callers may cost.
//! - `room` is the room as a whole: games that are disabled, counts and latencies.
//! - `room_delay` is the delay of the room: deadlines are extended by it and new work waits for it.
//! - `steps` records the steps of the clock.
//! - `registry` is the registry of all tables of a log, `api` its gRPC API, [`service`] the running
//!   service.
//!
//! Specification: services/table/README.md "State and events".

mod abort;
mod actor;
mod answer;
mod api;
mod author;
mod backlog;
mod batch;
mod bounds;
mod commands;
pub mod config;
mod decisions;
pub mod development;
mod effect_calls;
mod effects;
mod entropy;
mod hand_in_play;
mod hand_list;
mod ids;
mod lobby;
mod log_follower;
mod lost_cards;
mod peers;
mod people;
mod plan;
mod player_hands;
mod proof;
mod publish;
mod reasons;
mod receipt;
mod record_padding;
mod recovery;
mod registry;
pub mod repo;
pub mod retention;
mod room;
mod room_delay;
pub mod service;
mod settle;
mod snapshot;
mod standing;
mod start;
mod state;
mod steps;
mod stops;
mod stored;
mod suspension;
mod table;
#[cfg(test)]
mod tests;
mod updates;

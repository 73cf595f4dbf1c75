//! The wallet over a log in memory and over PostgreSQL, under faults of the store: every command is
//! carried out once, no credit is made, and the tables agree with the log.

#![expect(clippy::unwrap_used, reason = "what a test's own words do not find fails the test")]

mod accounts;
mod api;
mod archived;
mod batches;
mod crash;
mod cutting_proxy;
mod guests;
mod harness;
mod idempotence;
mod load;
mod outages;
mod service;
mod standing;
mod statement;
mod steps;
mod storm;
mod tables;
mod untrusted;

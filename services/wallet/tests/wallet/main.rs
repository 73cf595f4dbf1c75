//! The wallet over a log in memory and over PostgreSQL, under faults of the store: every command is
//! carried out once, no credit is made, and the tables agree with the log.

#![expect(clippy::unwrap_used, reason = "what a test's own words do not find fails the test")]

mod accounts;
mod api;
mod batches;
mod books;
mod crash;
mod cutter;
mod house;
mod load;
mod once;
mod shell;
mod standing;
mod statement;
mod steps;
mod storm;
mod trouble;
mod vouched;

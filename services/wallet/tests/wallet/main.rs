//! The wallet over a log in memory and over PostgreSQL: exactly once, never out of thin air, whatever
//! the store does, and books in the database that say what the log says.

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

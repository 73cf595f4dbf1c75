//! The wallet over a log in memory: exactly once, never out of thin air, whatever the store does.

mod api;
mod crash;
mod house;
mod load;
mod once;
mod shell;
mod storm;

//! Knows: bots that take a seat through the public port and play, and the strategies that they play
//! by.
//! Does not know: how a table, a dealer or a wallet works, or anything its player may not see.

pub mod bot;
pub mod skill;
pub mod strategy;
pub mod thinking;

pub use bot::{BotEnd, BotOptions, BotReport, run_bot};
pub use skill::Skill;
pub use strategy::Strategy;
pub use thinking::Thinking;

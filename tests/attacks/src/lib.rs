//! Knows: the calls that anybody can send to a room's public port, and their effect on honest
//! players.
//! Does not know: how any service works inside, or any key but that of the room's own issuer.
//!
//! **The suite** starts a room for each [`attack`], seats an honest crew at a table, attacks from
//! other loopback addresses (127.0.0.2 and on, since 127.0.0.1 may be exempt from limits), and
//! judges: the crew's p99 stays under [`P99`], its hands go on, and the attack has not reached its
//! aim. **The hostile table** ([`hostile`]) alternates between periods with and without one player
//! who makes every lawful call at the highest lawful rate, and is judged by the hands that ended.
//!
//! Every attack is bounded in calls and time.

pub mod attack;
pub mod caller;
pub mod crew;
mod disruptor;
pub mod hostile;
mod percentiles;
pub mod room;
pub mod verdict;

use std::time::Duration;

pub use percentiles::Percentiles;

/// Longest p99 of honest decisions during an attack.
pub const P99: Duration = Duration::from_millis(100);

//! Knows: what anybody can send to a room's public port, and how honest players fare meanwhile.
//! Does not know: how any service works inside, or any key but that of the room's own issuer.
//!
//! Two programs in one. **The suite** starts a room for each [`attack`], seats an honest crew at a table
//! of it, attacks from other loopback addresses (127.0.0.2 and on, since 127.0.0.1 may be exempt from
//! limits), and judges: the crew's p99 stays under [`P99`], its hands go on, and what the attack was
//! after did not happen. **The hostile table** ([`hostile`]) is played in turns with and without one
//! player's every lawful call at the highest lawful rate, and judged by the hands that were finished.
//!
//! Everything is bounded in count and time.

pub mod attack;
pub mod caller;
pub mod crew;
pub mod hostile;
pub mod room;
mod spread;
pub mod verdict;

use std::time::Duration;

pub use spread::Spread;

/// The longest that one of a hundred honest decisions may take beside an attack.
pub const P99: Duration = Duration::from_millis(100);

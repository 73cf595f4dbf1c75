//! Knows: how tests get a PostgreSQL, a fresh database in it, and an unused port.
//! Does not know: what is tested with them.

mod port;
mod postgres;

pub use port::free_port;
pub use postgres::{Postgres, postgres};

//! Knows: secrets at rest: the keys that encrypt them, their table, and the change of a key.
//! Does not know: what a secret is for, which service keeps it.
//!
//! - [`Keyring`] seals and opens secrets under keys that are not in the database. [`Key`] is such a
//!   key, [`parse_key`] and [`parse_keys`] read it as a file holds it, [`Keyring::read`] as a
//!   service's settings name it.
//! - [`SecretStore`] is the table of sealed secrets. The first one of an id stays.
//! - [`Rotation`] seals secrets again that are not under the current key.
//! - [`Cipher`] is the cipher alone, for keys that are secrets themselves.

mod cipher;
mod key;
mod rotation;
mod seal;
mod settings;
mod store;

pub use cipher::{Cipher, Nonce};
pub use key::{Key, KeyId, parse_key, parse_keys};
pub use rotation::{Rotation, RotationPass};
pub use seal::{Keyring, OpenError, SealedSecret, SecretId};
pub use store::{MigrateError, ResealedSecret, SecretStore, StoreError, UrlError, migrate};

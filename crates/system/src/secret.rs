//! Secret text: it has no `Display`, and its `Debug` shows nothing.

use std::fmt;

use zeroize::Zeroizing;

/// Password, connection string or key: never printed, wiped when dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    #[must_use]
    pub fn new(value: String) -> Secret {
        Secret(Zeroizing::new(value))
    }

    /// The value itself, for the one call that needs it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_it_is_printed() {
        let secret = Secret::new("postgres://sabacc:hunter2@db/sabacc".into());
        assert_eq!(format!("{secret:?} {:#?}", Some(&secret)), "(secret) Some(\n    (secret),\n)");
        assert!(secret.expose().contains("hunter2"));
    }
}

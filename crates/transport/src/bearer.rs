//! Bearer tokens of calls.

use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};

/// Bearer token as a header value, to be put into many calls.
#[derive(Clone)]
pub struct Bearer(Option<MetadataValue<Ascii>>);

impl Bearer {
    /// Makes the header value of `token`. A token that is no header value is left out of calls: no
    /// server believes it.
    #[must_use]
    pub fn new(token: &str) -> Bearer {
        let value = MetadataValue::try_from(format!("Bearer {token}")).ok();
        Bearer(value.map(|mut value| {
            value.set_sensitive(true);
            value
        }))
    }

    /// Puts the token into a call.
    pub fn add_to<T>(&self, request: &mut Request<T>) {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
    }
}

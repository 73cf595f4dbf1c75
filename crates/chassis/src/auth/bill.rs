//! What a call turns out to have cost, paid after it.
//!
//! What a method costs is known before, but for a few whose work depends on what is asked. The service
//! that has done it says how much it was, in a header of its answer; whoever let the call in charges it
//! to the player and the address that it came from, and tells nobody else.

use std::sync::Arc;

use http::{HeaderMap, HeaderName};

/// Units that an answer has cost beside those of its method, as its service says.
pub const UNITS: HeaderName = HeaderName::from_static("x-sabacc-units");

/// In a request's extensions: payer of what the call turns out to cost.
#[derive(Clone)]
pub struct Bill(Arc<dyn Fn(u32) + Send + Sync>);

impl Bill {
    /// `charge` takes units, whether they can be paid at once or not.
    pub fn new(charge: impl Fn(u32) + Send + Sync + 'static) -> Bill {
        Bill(Arc::new(charge))
    }

    /// Charges units.
    pub fn charge(&self, units: u32) {
        (self.0)(units);
    }
}

/// Takes the units out of an answer's headers; 0 where there are none.
pub fn take_units(headers: &mut HeaderMap) -> u32 {
    let said = headers.remove(UNITS);
    said.and_then(|said| said.to_str().ok()?.parse().ok()).unwrap_or(0)
}

//! Cost of a call that is known only after it.
//!
//! The cost of most methods is fixed. The work of a few depends on the request. The service that
//! did the work states the units in a header of its answer. The server that admitted the call
//! charges them to the player and to the address it came from, and removes the header.

use std::sync::Arc;

use http::{HeaderMap, HeaderName};

/// Header of an answer: units that the call cost in addition to its method's cost.
pub const UNITS_HEADER: HeaderName = HeaderName::from_static("x-sabacc-units");

/// Charges a call's additional units to its caller. Lies in the request's extensions.
#[derive(Clone)]
pub struct CostCharger(Arc<dyn Fn(u32) + Send + Sync>);

impl CostCharger {
    /// `charge` takes the units even if they exceed what is available.
    pub fn new(charge: impl Fn(u32) + Send + Sync + 'static) -> CostCharger {
        CostCharger(Arc::new(charge))
    }

    /// Charges units.
    pub fn charge(&self, units: u32) {
        (self.0)(units);
    }
}

/// Removes the header [`UNITS_HEADER`] and returns its number; 0 if it is absent or not a number.
pub fn remove_units_header(headers: &mut HeaderMap) -> u32 {
    let said = headers.remove(UNITS_HEADER);
    said.and_then(|said| said.to_str().ok()?.parse().ok()).unwrap_or(0)
}

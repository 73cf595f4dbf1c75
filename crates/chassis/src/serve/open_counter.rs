//! Limit of open things by address, such as connections or streams.
//!
//! The limits of `tower` are of a service and not of a key.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::address_limits::network_48;

/// Limit of a 48-bit network, as a multiple of a 56-bit network's: the share of a few households.
const NETWORK_48_FACTOR: usize = 4;

/// Counts the open things of each address. Forgets addresses that have none.
#[derive(Debug)]
pub(crate) struct OpenCounter {
    max_per_address: Option<usize>,
    open: Mutex<BTreeMap<IpAddr, usize>>,
}

/// Permit for one open thing; given back when dropped.
#[derive(Debug)]
pub(crate) struct OpenPermit(Option<(IpAddr, Arc<OpenCounter>)>);

impl OpenPermit {
    /// Permit that is not counted.
    pub(super) const UNCOUNTED: OpenPermit = OpenPermit(None);
}

impl OpenCounter {
    /// Limit of `most` per address; `None` means no limit.
    pub(crate) fn new(most: Option<usize>) -> Arc<OpenCounter> {
        Arc::new(OpenCounter { max_per_address: most, open: Mutex::default() })
    }

    /// Permit for one more, or `None` if the address or its 48-bit network has reached its limit.
    pub(crate) fn try_acquire(self: &Arc<OpenCounter>, address: IpAddr) -> Option<OpenPermit> {
        let Some(most) = self.max_per_address else { return Some(OpenPermit::UNCOUNTED) };
        let mut open = self.locked();
        let around = network_48(address);
        let of = |address| open.get(&address).copied().unwrap_or(0);
        let room = around.is_none_or(|around| of(around) < most.saturating_mul(NETWORK_48_FACTOR));
        if !room || of(address) >= most {
            return None;
        }
        for address in around.into_iter().chain([address]) {
            *open.entry(address).or_insert(0) += 1;
        }
        drop(open);
        Some(OpenPermit(Some((address, Arc::clone(self)))))
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.locked().is_empty()
    }
}

impl Drop for OpenPermit {
    fn drop(&mut self) {
        let Some((address, places)) = self.0.take() else { return };
        let mut open = places.locked();
        for address in network_48(address).into_iter().chain([address]) {
            if let Some(count) = open.get_mut(&address) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    open.remove(&address);
                }
            }
        }
    }
}

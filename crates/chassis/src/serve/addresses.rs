//! How many connections each address has.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Counts connections by address. Cheap to clone.
#[derive(Clone)]
pub(super) struct Addresses {
    most: Option<usize>,
    open: Arc<Mutex<BTreeMap<IpAddr, usize>>>,
}

/// One connection's place; given back when dropped.
pub(super) struct Place {
    address: Option<IpAddr>,
    addresses: Addresses,
}

impl Addresses {
    pub(super) fn new(most: Option<usize>) -> Addresses {
        Addresses { most, open: Arc::default() }
    }

    /// A place for one connection more, unless the address has all it may.
    pub(super) fn enter(&self, address: IpAddr) -> Option<Place> {
        let address = network(address);
        let Some(most) = self.most.filter(|_| !address.is_loopback()) else {
            return Some(Place { address: None, addresses: self.clone() });
        };
        let mut open = self.locked();
        let count = open.entry(address).or_insert(0);
        if *count >= most {
            return None;
        }
        *count += 1;
        drop(open);
        Some(Place { address: Some(address), addresses: self.clone() })
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut open = self.addresses.locked();
        if let Some(count) = open.get_mut(&address) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                open.remove(&address);
            }
        }
    }
}

/// What counts as one address: in IPv6 a network of 64 bits, which is what one customer has.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
        address @ (IpAddr::V4(_) | IpAddr::V6(_)) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_so_many_places_and_gets_them_back() {
        let addresses = Addresses::new(Some(2));
        let one: IpAddr = "192.0.2.1".parse().unwrap();
        let mapped: IpAddr = "::ffff:192.0.2.1".parse().unwrap();
        let first = addresses.enter(one).unwrap();
        let _second = addresses.enter(mapped).unwrap();
        assert!(addresses.enter(one).is_none());
        assert!(addresses.enter("192.0.2.2".parse().unwrap()).is_some());
        drop(first);
        let _third = addresses.enter(one).unwrap();
        assert!(addresses.enter(mapped).is_none());
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one() {
        let addresses = Addresses::new(Some(1));
        let _place = addresses.enter("2001:db8:0:1::1".parse().unwrap()).unwrap();
        assert!(addresses.enter("2001:db8:0:1:ffff::2".parse().unwrap()).is_none());
        assert!(addresses.enter("2001:db8:0:2::1".parse().unwrap()).is_some());
    }

    #[test]
    fn this_machine_and_the_inside_are_not_counted() {
        let addresses = Addresses::new(Some(1));
        let places: Vec<_> =
            (0..3).filter_map(|_| addresses.enter("127.0.0.1".parse().unwrap())).collect();
        assert_eq!(places.len(), 3);
        let inside = Addresses::new(None);
        let places: Vec<_> =
            (0..3).filter_map(|_| inside.enter("10.0.0.1".parse().unwrap())).collect();
        assert_eq!(places.len(), 3);
        assert!(inside.locked().is_empty());
    }
}

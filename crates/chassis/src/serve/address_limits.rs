//! Admission of connections and calls by caller address.
//!
//! Connections, streams and units of calls a second are bounded per address. A call takes one unit,
//! a connection more, and a token that is not valid is charged afterwards. All of this except the
//! streams is decided before a token is looked at. An address that cannot pay for a connection gets
//! no answer. One that only has too many connections gets that answer, over a few connections reserved
//! for that.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::open_counter::{OpenCounter, OpenPermit};
use crate::auth::AddressRateLimit;
use crate::limits::Limits;
use crate::proxies::TrustedProxies;
use crate::proxies::proxy_protocol::{self, Header};
use crate::rate_limiter::RateLimiter;

/// Units of a connection: a handshake costs more than a call.
const CONNECTION_UNITS: u32 = 4;
/// Units of an invalid token, in addition to those of its call.
const INVALID_TOKEN_UNITS: u32 = 9;
/// Limit of a 48-bit network, as a multiple of a 56-bit network's: the share of a few households.
const NETWORK_48_FACTOR: NonZeroU32 = NonZeroU32::new(4).expect("it is not zero");
/// Concurrent connections that only receive why they are refused.
const MAX_REFUSING_CONNECTIONS: usize = 32;

/// Limits of one server's callers, by address.
pub(super) struct AddressLimits {
    connections: Arc<OpenCounter>,
    streams: Arc<OpenCounter>,
    rate: Option<RateLimiter<IpAddr>>,
    /// Rate limits of 48-bit networks.
    network_48_rate: Option<RateLimiter<IpAddr>>,
    exempt_loopback: bool,
    proxies: TrustedProxies,
    refusing: Arc<Semaphore>,
}

/// Origin of a connection's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// This machine, which is exempt. A call that was forwarded by an untrusted proxy may come from
    /// anybody, so it counts for this address.
    Exempt(IpAddr),
    Address(IpAddr),
    /// Trusted proxy, each of whose calls may have another caller. The address is the proxy's own.
    Proxy(IpAddr),
}

/// Decision about a new connection.
pub(super) enum Admission {
    Admitted(OpenPermit),
    /// Too many connections; this one gets that answer.
    Refused(OwnedSemaphorePermit),
    Dropped,
}

impl AddressLimits {
    pub(super) fn new(limits: &Limits, proxies: TrustedProxies) -> AddressLimits {
        AddressLimits {
            connections: OpenCounter::new(limits.address_connections),
            streams: OpenCounter::new(limits.address_streams),
            rate: limits.address_calls.map(RateLimiter::new),
            network_48_rate: limits
                .address_calls
                .map(|calls| RateLimiter::new(calls.saturating_mul(NETWORK_48_FACTOR))),
            exempt_loopback: limits.exempt_loopback,
            proxies,
            refusing: Arc::new(Semaphore::new(MAX_REFUSING_CONNECTIONS)),
        }
    }

    /// Origin of a new connection, after the header that a trusted proxy may write first.
    ///
    /// # Errors
    /// The connection broke, or a trusted proxy wrote a malformed header.
    pub(super) async fn origin(&self, stream: &mut TcpStream, peer: IpAddr) -> io::Result<Origin> {
        let peer = peer.to_canonical();
        if !self.proxies.trust(peer) {
            return Ok(self.direct_origin(peer));
        }
        match proxy_protocol::read_header(stream).await? {
            Header::From(Some(address)) if self.proxies.trust(address) => {
                Ok(Origin::Proxy(network_56(address)))
            }
            Header::From(Some(address)) => Ok(Origin::Address(network_56(address))),
            Header::From(None) | Header::None => Ok(Origin::Proxy(network_56(peer))),
        }
    }

    /// Origin of a connection that comes straight from an address. If proxies are trusted, no
    /// address is exempt: one on this machine could forward anybody's calls.
    fn direct_origin(&self, peer: IpAddr) -> Origin {
        let own = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        let exempt = self.exempt_loopback && self.proxies.is_empty() && own.contains(&peer);
        if exempt { Origin::Exempt(network_56(peer)) } else { Origin::Address(network_56(peer)) }
    }

    /// Admits or refuses a connection. Only connections of [`Origin::Address`] are counted: a
    /// trusted proxy's connection carries many callers.
    pub(super) fn admit_connection(
        self: &Arc<AddressLimits>,
        origin: Origin,
        now: Instant,
    ) -> Admission {
        let Origin::Address(address) = origin else {
            return Admission::Admitted(OpenPermit::UNCOUNTED);
        };
        if self.take(address, CONNECTION_UNITS, now).is_err() {
            return Admission::Dropped;
        }
        if let Some(place) = self.connections.try_acquire(address) {
            return Admission::Admitted(place);
        }
        let place = Arc::clone(&self.refusing).try_acquire_owned();
        place.map_or(Admission::Dropped, Admission::Refused)
    }

    /// Counter of the streams of all addresses.
    pub(super) const fn streams(&self) -> &Arc<OpenCounter> {
        &self.streams
    }

    /// Address that a call counts for; `None` if it is exempt.
    pub(super) fn caller(&self, origin: Origin, headers: &HeaderMap) -> Option<IpAddr> {
        match origin {
            Origin::Exempt(own) => TrustedProxies::is_forwarded(headers).then_some(own),
            Origin::Address(address) => Some(address),
            Origin::Proxy(own) => {
                Some(self.proxies.caller_address(headers).map_or(own, network_56))
            }
        }
    }

    /// Takes one unit for a call, or returns the time to wait for it.
    pub(super) fn take_call(&self, caller: Option<IpAddr>, now: Instant) -> Result<(), Duration> {
        caller.map_or(Ok(()), |address| self.take(address, 1, now))
    }

    /// Rate limit of the caller's address, for the cost beyond the first unit. `None` if calls are
    /// not limited.
    pub(super) fn rate_limit_of(
        self: &Arc<AddressLimits>,
        caller: Option<IpAddr>,
    ) -> Option<AddressRateLimit> {
        self.rate.as_ref()?;
        let (address, pays, charged) = (caller?, Arc::clone(self), Arc::clone(self));
        Some(AddressRateLimit::new(
            move |units| pays.take(address, units, Instant::now()),
            move |units| charged.charge(address, units, Instant::now()),
        ))
    }

    /// Takes units of an address and of its 48-bit network, or returns the time to wait for them.
    fn take(&self, address: IpAddr, units: u32, now: Instant) -> Result<(), Duration> {
        // The address comes first, so that refused calls cost its neighbours nothing.
        self.rate.as_ref().map_or(Ok(()), |rate| rate.take(&address, units, now))?;
        let around = self.network_48_rate.as_ref().zip(network_48(address));
        around.map_or(Ok(()), |(rate, around)| rate.take(&around, units, now))
    }

    /// Charges an address for an invalid token.
    pub(super) fn charge_invalid_token(&self, caller: Option<IpAddr>, now: Instant) {
        if let (Some(rate), Some(address)) = (&self.rate, caller) {
            rate.charge(&address, INVALID_TOKEN_UNITS, now);
        }
    }

    /// Charges an address and its 48-bit network for work already done.
    fn charge(&self, address: IpAddr, units: u32, now: Instant) {
        if let (Some(rate), Some(around)) = (&self.network_48_rate, network_48(address)) {
            rate.charge(&around, units, now);
        }
        if let Some(rate) = &self.rate {
            rate.charge(&address, units, now);
        }
    }
}

/// Network that counts as one address: in IPv6 one of 56 bits, which is one household's (RFC 6177).
fn network_56(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            IpAddr::from([a, b, c, d & 0xff00, 0, 0, 0, 0])
        }
        address @ IpAddr::V4(_) => address,
    }
}

/// Key of the 48-bit network around an IPv6 address, which is one site's. The last bit tells it
/// from the 56-bit network with equal leading bits. `None` for IPv4.
pub(super) fn network_48(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V6(address) => {
            let [a, b, c, ..] = address.segments();
            Some(IpAddr::from([a, b, c, 0, 0, 0, 0, 1]))
        }
        IpAddr::V4(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proxies::Network;

    fn addresses(change: impl FnOnce(&mut Limits)) -> Arc<AddressLimits> {
        let proxies = TrustedProxies::new(vec![Network::parse("10.0.0.0/8").unwrap()]);
        behind(proxies, change)
    }

    fn behind(proxies: TrustedProxies, change: impl FnOnce(&mut Limits)) -> Arc<AddressLimits> {
        let mut limits = Limits::public();
        limits.address_connections = Some(2);
        change(&mut limits);
        Arc::new(AddressLimits::new(&limits, proxies))
    }

    impl AddressLimits {
        fn origin_of(&self, peer: &str) -> Origin {
            let peer: IpAddr = peer.parse().unwrap();
            self.direct_origin(peer.to_canonical())
        }
    }

    fn admitted(addresses: &Arc<AddressLimits>, peer: &str) -> Option<OpenPermit> {
        match addresses.admit_connection(addresses.origin_of(peer), Instant::now()) {
            Admission::Admitted(place) => Some(place),
            Admission::Refused(_) | Admission::Dropped => None,
        }
    }

    #[test]
    fn an_address_has_so_many_places_and_gets_them_back() {
        let addresses = addresses(|_| {});
        let first = admitted(&addresses, "192.0.2.1").unwrap();
        let _second = admitted(&addresses, "::ffff:192.0.2.1").unwrap();
        assert!(admitted(&addresses, "192.0.2.1").is_none());
        assert!(admitted(&addresses, "192.0.2.2").is_some());
        drop(first);
        let _third = admitted(&addresses, "192.0.2.1").unwrap();
        assert!(admitted(&addresses, "::ffff:192.0.2.1").is_none());
    }

    /// ARCHITECTURE.md §7.1.
    #[test]
    fn a_network_of_ipv6_counts_as_one() {
        let addresses = addresses(|limits| limits.address_connections = Some(1));
        let _place = admitted(&addresses, "2001:db8:0:1::1").unwrap();
        assert!(admitted(&addresses, "2001:db8:0:2:ffff::2").is_none());
        let others = ["2001:db8:0:100::1", "2001:db8:0:200::1", "2001:db8:0:300::1"];
        let others = others.map(|peer| admitted(&addresses, peer).unwrap());
        // A site has four households' share, however it divides its addresses.
        assert!(admitted(&addresses, "2001:db8:0:400::1").is_none());
        assert!(admitted(&addresses, "2001:db8:1:400::1").is_some());
        drop(others);
        assert!(admitted(&addresses, "2001:db8:0:400::1").is_some());
    }

    #[test]
    fn this_machine_is_exempt_only_where_it_is_said_and_only_by_its_two_addresses() {
        let many = |addresses: &Arc<AddressLimits>, peer| {
            let places: Vec<_> = (0..3).filter_map(|_| admitted(addresses, peer)).collect();
            places.len()
        };
        let strict = addresses(|_| {});
        assert_eq!((many(&strict, "127.0.0.1"), many(&strict, "::1")), (2, 2));
        let own = behind(TrustedProxies::default(), |limits| limits.exempt_loopback = true);
        assert_eq!((many(&own, "127.0.0.1"), many(&own, "::1")), (3, 3));
        assert_eq!((many(&own, "127.0.0.2"), many(&own, "::2")), (2, 2));
        let inside = addresses(|limits| limits.address_connections = None);
        assert_eq!(many(&inside, "192.0.2.1"), 3);
        assert!(inside.connections.is_empty());
    }

    #[test]
    fn nobody_is_exempt_who_may_be_all_the_world() {
        let exempt = |limits: &mut Limits| limits.exempt_loopback = true;
        let (trusting, own) = (addresses(exempt), behind(TrustedProxies::default(), exempt));
        for peer in ["127.0.0.1", "::1"] {
            assert!(matches!(trusting.origin_of(peer), Origin::Address(_)), "{peer}");
            let origin = own.origin_of(peer);
            assert_eq!(own.caller(origin, &HeaderMap::new()), None);
            for name in ["forwarded", "x-forwarded-for", "x-forwarded-proto", "x-real-ip", "via"] {
                let mut headers = HeaderMap::new();
                headers.insert(name, "192.0.2.1".parse().unwrap());
                let caller = own.caller(origin, &headers);
                assert_eq!(
                    caller,
                    Some(network_56(peer.parse().unwrap())),
                    "{name}: nobody's word"
                );
            }
        }
    }

    #[test]
    fn forged_tokens_and_connections_cost_more_than_calls() {
        let addresses = addresses(|limits| limits.address_calls = NonZeroU32::new(100));
        let (one, now) = (Some("192.0.2.1".parse().unwrap()), Instant::now());
        let mut calls = 0;
        while addresses.take_call(one, now).is_ok() {
            addresses.charge_invalid_token(one, now);
            calls += 1;
        }
        assert_eq!(calls, 10);
        assert!(matches!(
            addresses.admit_connection(Origin::Address(one.unwrap()), now),
            Admission::Dropped
        ));
        let other = Some("192.0.2.2".parse().unwrap());
        assert_eq!((0..200).filter(|_| addresses.take_call(other, now).is_ok()).count(), 100);
        assert!(
            (0..200).all(|_| addresses.take_call(None, now).is_ok()),
            "nobody's are not counted"
        );
    }

    /// One household of a site cannot use up the others' share by calls that are refused.
    #[test]
    fn what_is_refused_to_an_address_costs_its_neighbours_nothing() {
        let addresses = addresses(|limits| limits.address_calls = NonZeroU32::new(100));
        let (one, now) = (Some("2001:db8:0:100::1".parse().unwrap()), Instant::now());
        assert_eq!((0..10_000).filter(|_| addresses.take_call(one, now).is_ok()).count(), 100);
        let other = Some("2001:db8:0:200::1".parse().unwrap());
        assert_eq!((0..200).filter(|_| addresses.take_call(other, now).is_ok()).count(), 100);
    }

    #[test]
    fn a_proxys_calls_are_those_of_whom_it_names() {
        let addresses = addresses(|_| {});
        let mut headers = HeaderMap::new();
        headers.insert("x-forwarded-for", "192.0.2.1".parse().unwrap());
        let own: IpAddr = "10.0.0.1".parse().unwrap();
        let forwarded: IpAddr = "192.0.2.1".parse().unwrap();
        assert_eq!(addresses.caller(Origin::Proxy(own), &headers), Some(forwarded));
        assert_eq!(addresses.caller(Origin::Address(own), &headers), Some(own), "not trusted");
        assert_eq!(addresses.caller(Origin::Proxy(own), &HeaderMap::new()), Some(own));
    }
}

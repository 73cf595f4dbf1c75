//! Caller addresses that trusted proxies forward.
//!
//! An HTTP proxy appends the address it was called from to `Forwarded` (RFC 7239) or to
//! `X-Forwarded-For`. A proxy that passes bytes first writes a header of the PROXY protocol
//! (`proxy_protocol`). The front of a list may be forged by the caller, so a list is read from its
//! end: the last address that is no trusted proxy's is believed, since a trusted proxy has written
//! it. A proxy that writes one of the two headers leaves the other as it came. If both are present
//! and differ, neither is believed, and the call counts as the proxy's own.

pub(crate) mod proxy_protocol;

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use http::HeaderMap;

const FORWARDED: &str = "forwarded";
const X_FORWARDED_FOR: &str = "x-forwarded-for";
/// Headers that a proxy adds, even if it does not name the caller.
const PROXY_HEADERS: [&str; 5] =
    [FORWARDED, X_FORWARDED_FOR, "x-forwarded-proto", "x-real-ip", "via"];

/// Network: an address and the length of its prefix in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    bits: u32,
}

impl Network {
    /// Parses `10.0.0.7`, `10.0.0.0/8` or `fd00::/8`. `None` if the text is no such thing.
    #[must_use]
    pub fn parse(text: &str) -> Option<Network> {
        let (address, bits) = match text.split_once('/') {
            Some((address, bits)) => (address, Some(bits)),
            None => (text, None),
        };
        let address = address.parse::<IpAddr>().ok()?.to_canonical();
        let most = if address.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => bits.parse().ok()?,
            Some(_) => return None,
            None => most,
        };
        (bits <= most).then_some(Network { address, bits })
    }

    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let alike = match (self.address, address.to_canonical()) {
            (IpAddr::V4(ours), IpAddr::V4(other)) => {
                (ours.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V6(ours), IpAddr::V6(other)) => {
                (ours.to_bits() ^ other.to_bits()).leading_zeros()
            }
            (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => return false,
        };
        alike >= self.bits
    }
}

/// Networks of trusted proxies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<Network>);

impl TrustedProxies {
    #[must_use]
    pub const fn new(networks: Vec<Network>) -> TrustedProxies {
        TrustedProxies(networks)
    }

    /// Whether no proxy is trusted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the headers say that a proxy, trusted or not, has forwarded the call.
    #[must_use]
    pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
        PROXY_HEADERS.iter().any(|name| headers.contains_key(*name))
    }

    #[must_use]
    pub fn trust(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }

    /// Address of the caller according to the trusted proxy. `None` if the headers contain none
    /// that can be believed.
    #[must_use]
    pub(crate) fn caller_address(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let forwarded = header_elements(headers, FORWARDED)
            .map(|list| self.last_untrusted(list.map(forwarded_for)));
        let plain = header_elements(headers, X_FORWARDED_FOR)
            .map(|list| self.last_untrusted(list.map(parse_node)));
        match (forwarded, plain) {
            (Some(one), Some(other)) if one != other => None,
            (Some(address), _) | (None, Some(address)) => address,
            (None, None) => None,
        }
    }

    /// Last address that is not a trusted proxy's. `None` if that element is no address.
    fn last_untrusted(
        &self,
        mut backwards: impl Iterator<Item = Option<IpAddr>>,
    ) -> Option<IpAddr> {
        backwards.find(|address| address.is_none_or(|address| !self.trust(address))).flatten()
    }
}

/// Elements of a list header, from the last to the first. `None` if the header is absent.
fn header_elements<'a>(
    headers: &'a HeaderMap,
    name: &'static str,
) -> Option<impl Iterator<Item = &'a str>> {
    headers.contains_key(name).then(|| {
        let values = headers.get_all(name).iter().collect::<Vec<_>>().into_iter().rev();
        // A value that is not text becomes one element that is no address.
        values.flat_map(|value| value.to_str().unwrap_or("").rsplit(',').map(str::trim))
    })
}

/// The `for` of an element of `Forwarded`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut named = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, value) = named.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    parse_node(value.trim().trim_matches('"'))
}

/// Parses an address, with optional brackets and port.
fn parse_node(text: &str) -> Option<IpAddr> {
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse::<Ipv6Addr>().ok();
    let plain = text.parse().ok().or_else(|| bracketed().map(IpAddr::V6));
    plain
        .or_else(|| text.parse::<SocketAddr>().ok().map(|address| address.ip()))
        .map(|address| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn proxies() -> TrustedProxies {
        let networks = ["10.0.0.0/8", "fd00::/8"].map(|text| Network::parse(text).unwrap());
        TrustedProxies::new(networks.to_vec())
    }

    fn check(headers: &[(&'static str, &str)], expected: Option<&str>) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let expected = expected.map(|text| text.parse().unwrap());
        assert_eq!(proxies().caller_address(&map), expected, "{headers:?}");
    }

    #[test]
    fn networks_hold_their_addresses() {
        let holds = |network: &str, address: &str| {
            Network::parse(network).unwrap().contains(address.parse().unwrap())
        };
        assert!(holds("10.0.0.7", "10.0.0.7") && holds("10.0.0.7", "::ffff:10.0.0.7"));
        assert!(!holds("10.0.0.7", "10.0.0.8") && !holds("10.0.0.7", "fd00::1"));
        assert!(holds("10.1.2.3/16", "10.1.255.255") && !holds("10.1.2.3/16", "10.2.0.0"));
        assert!(holds("fd00::/8", "fdff::1") && !holds("fd00::/8", "fe00::1"));
        assert!(holds("0.0.0.0/0", "192.0.2.1") && !holds("0.0.0.0/0", "2001:db8::1"));
        for bad in ["", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "room", "fd00::/129", "10.0.0"] {
            assert_eq!(Network::parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_last_address_that_is_no_proxys_is_believed() {
        check(&[("x-forwarded-for", "192.0.2.1")], Some("192.0.2.1"));
        check(&[("x-forwarded-for", "198.51.100.9, 192.0.2.1, 10.0.0.3")], Some("192.0.2.1"));
        check(
            &[("x-forwarded-for", "198.51.100.9"), ("x-forwarded-for", "192.0.2.1")],
            Some("192.0.2.1"),
        );
        check(&[("x-forwarded-for", "192.0.2.1:4711")], Some("192.0.2.1"));
        check(&[("x-forwarded-for", "[2001:db8::1]:4711")], Some("2001:db8::1"));
        check(&[("forwarded", "for=192.0.2.1;proto=https;by=10.0.0.3")], Some("192.0.2.1"));
        check(
            &[(
                "forwarded",
                "for=198.51.100.9, By=10.0.0.1; For=\"[2001:db8::1]:47\", for=10.0.0.3",
            )],
            Some("2001:db8::1"),
        );
    }

    #[test]
    fn what_is_no_address_is_nobodys() {
        check(&[], None);
        check(&[("x-forwarded-for", "192.0.2.1, unknown")], None);
        check(&[("x-forwarded-for", "192.0.2.1,")], None);
        check(&[("forwarded", "for=192.0.2.1, for=_hidden")], None);
        check(&[("forwarded", "for=192.0.2.1, by=10.0.0.3")], None);
        check(&[("x-forwarded-for", "10.0.0.3, 10.0.0.4")], None);
    }

    #[test]
    fn a_header_that_only_one_of_two_wrote_is_not_believed() {
        let both = |forwarded, plain| [("forwarded", forwarded), ("x-forwarded-for", plain)];
        check(&both("for=192.0.2.1", "192.0.2.1"), Some("192.0.2.1"));
        check(&both("for=198.51.100.9", "192.0.2.1"), None);
        check(&both("nonsense", "192.0.2.1"), None);
    }
}

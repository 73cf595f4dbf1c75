//! PROXY protocol, versions 1 and 2: the header that a proxy which passes bytes writes first.
//!
//! Only trusted proxies' headers are read. No other connection begins like one of the two headers:
//! HTTP/2 begins with `PRI`, TLS with a byte 22, HTTP/1 with a method, and no method is called
//! `PROXY`.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::TcpStream;

const V1_PREFIX: &[u8] = b"PROXY ";
const V2_PREFIX: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";
/// Bytes of the longest line of version 1, with its end.
const MAX_V1_BYTES: usize = 107;
/// Most bytes after the fixed part of version 2: addresses and extensions.
const MAX_V2_BYTES: u16 = 4096;
/// Time before an incomplete beginning is read again.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Beginning of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Header {
    /// No PROXY header. No byte was consumed.
    None,
    /// Address that the proxy was called from; `None` if the proxy speaks for itself.
    From(Option<IpAddr>),
}

/// Consumes the header of the connection, if there is one.
///
/// # Errors
/// The connection broke, or the header is malformed.
pub(crate) async fn read_header(stream: &mut TcpStream) -> io::Result<Header> {
    let mut first = [0; 12];
    loop {
        let seen = stream.peek(&mut first).await?;
        let seen = first.get(..seen).unwrap_or_default();
        if seen.starts_with(V1_PREFIX) {
            return read_v1(stream).await.map(Header::From);
        }
        if seen == V2_PREFIX {
            return read_v2(stream).await.map(Header::From);
        }
        if seen.is_empty() || !(V1_PREFIX.starts_with(seen) || V2_PREFIX.starts_with(seen)) {
            return Ok(Header::None);
        }
        tokio::time::sleep(POLL_INTERVAL).await;
    }
}

/// Parses `PROXY TCP4 192.0.2.1 192.0.2.9 56324 443`, or `PROXY UNKNOWN` followed by anything.
async fn read_v1(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<IpAddr>> {
    let mut line = Vec::with_capacity(MAX_V1_BYTES);
    while !line.ends_with(b"\r\n") {
        if line.len() == MAX_V1_BYTES {
            return Err(malformed());
        }
        line.push(stream.read_u8().await?);
    }
    let line = std::str::from_utf8(&line).map_err(|_| malformed())?;
    let mut words = line.trim_end().split(' ').skip(1);
    match words.next() {
        Some("UNKNOWN") => Ok(None),
        Some("TCP4") => {
            let address: Option<Ipv4Addr> = words.next().and_then(|word| word.parse().ok());
            Ok(Some(address.ok_or_else(malformed)?.into()))
        }
        Some("TCP6") => {
            let address: Option<Ipv6Addr> = words.next().and_then(|word| word.parse().ok());
            Ok(Some(address.ok_or_else(malformed)?.to_canonical()))
        }
        Some(_) | None => Err(malformed()),
    }
}

async fn read_v2(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<IpAddr>> {
    let mut head = [0; 16];
    stream.read_exact(&mut head).await?;
    let [.., command, family, high, low] = head;
    let length = u16::from_be_bytes([high, low]);
    if length > MAX_V2_BYTES {
        return Err(malformed());
    }
    let mut rest = vec![0; usize::from(length)];
    stream.read_exact(&mut rest).await?;
    match (command, family >> 4) {
        // LOCAL: the proxy's own health check.
        (0x20, _) => Ok(None),
        (0x21, 1) => {
            let source: &[u8; 4] =
                rest.first_chunk().filter(|_| length >= 12).ok_or_else(malformed)?;
            Ok(Some(Ipv4Addr::from(*source).into()))
        }
        (0x21, 2) => {
            let source: &[u8; 16] =
                rest.first_chunk().filter(|_| length >= 36).ok_or_else(malformed)?;
            Ok(Some(Ipv6Addr::from(*source).to_canonical()))
        }
        (0x21, _) => Ok(None),
        (_, _) => Err(malformed()),
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "not a header of the PROXY protocol")
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::TcpListener;

    use super::*;

    /// Header and remaining bytes of a connection that begins with `bytes`.
    async fn taken(bytes: &[u8]) -> (io::Result<Header>, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut out = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut stream, _) = listener.accept().await.unwrap();
        let (early, late) = bytes.split_at(bytes.len().min(3));
        out.write_all(early).await.unwrap();
        let late = late.to_vec();
        let writing = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            out.write_all(&late).await.unwrap();
        });
        let header = read_header(&mut stream).await;
        writing.await.unwrap();
        let mut left = Vec::new();
        if header.is_ok() {
            stream.read_to_end(&mut left).await.unwrap();
        }
        (header, left)
    }

    async fn check(bytes: &[u8], expected: Option<&str>) {
        let (header, left) = taken(&[bytes, b"PRI * HTTP/2.0"].concat()).await;
        let expected = expected.map(|address| address.parse().unwrap());
        assert_eq!(header.unwrap(), Header::From(expected), "{bytes:?}");
        assert_eq!(left, b"PRI * HTTP/2.0");
    }

    fn v2_header(command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [V2_PREFIX, &[command, family], &length, rest].concat()
    }

    #[tokio::test]
    async fn both_versions_name_an_address() {
        check(b"PROXY TCP4 192.0.2.1 192.0.2.9 56324 443\r\n", Some("192.0.2.1")).await;
        check(b"PROXY TCP6 2001:db8::1 2001:db8::2 56324 443\r\n", Some("2001:db8::1")).await;
        check(b"PROXY UNKNOWN ff 1\r\n", None).await;
        let four = [&[192, 0, 2, 1, 192, 0, 2, 9][..], &[0; 4], b"more"].concat();
        check(&v2_header(0x21, 0x11, &four), Some("192.0.2.1")).await;
        let address = "2001:db8::1".parse::<Ipv6Addr>().unwrap().octets();
        check(&v2_header(0x21, 0x21, &[&address[..], &[0; 20]].concat()), Some("2001:db8::1"))
            .await;
        check(&v2_header(0x20, 0, &[]), None).await;
        check(&v2_header(0x21, 0x31, &[0; 216]), None).await;
    }

    #[tokio::test]
    async fn what_is_malformed_ends_the_connection() {
        for bad in [
            &b"PROXY TCP4 room 192.0.2.9 1 2\r\n"[..],
            b"PROXY NEWS\r\n",
            &[b"PROXY ", &[b'x'; 200][..]].concat(),
            &v2_header(0x21, 0x11, &[1; 8]),
            &v2_header(0x11, 0x11, &[1; 12]),
        ] {
            assert!(taken(bad).await.0.is_err(), "{bad:?}");
        }
    }

    #[tokio::test]
    async fn a_connection_that_begins_otherwise_is_left_alone() {
        for plain in [&b"PRI * HTTP/2.0\r\n"[..], b"POST / HTTP/1.1\r\n", &[22, 3, 1, 0, 0, 0, 0]] {
            let (header, left) = taken(plain).await;
            assert_eq!(header.unwrap(), Header::None);
            assert_eq!(left, plain);
        }
    }
}

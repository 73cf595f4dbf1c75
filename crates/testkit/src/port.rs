//! Ports of the loopback interface.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// First port to try. Systems assign higher ports to outgoing connections.
const FIRST_PORT: u32 = 10_000;
const PORT_COUNT: u32 = 20_000;

/// TCP port on 127.0.0.1 that was free a moment ago. It is not reserved, but no outgoing connection
/// gets it, and this process returns it only once. Prefer to pass a listener instead of a number
/// where that is possible.
///
/// # Errors
/// The system has no port left.
pub fn free_port() -> anyhow::Result<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Test processes that run at the same time begin at different ports.
    let begin = std::process::id().wrapping_mul(97) % PORT_COUNT;
    for _ in 0..PORT_COUNT {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from(FIRST_PORT + (begin + next) % PORT_COUNT)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no port of 127.0.0.1 from {FIRST_PORT} on is free")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_can_be_listened_on() {
        let port = free_port().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert_eq!(listener.local_addr().unwrap().port(), port);
        assert_ne!(free_port().unwrap(), port, "it is handed out once");
    }
}

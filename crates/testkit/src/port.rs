//! Ports of the loopback interface.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// Ports that systems give to nobody by themselves: connections that go out get higher ones.
const FIRST: u32 = 10_000;
const COUNT: u32 = 20_000;

/// A TCP port on 127.0.0.1 that was free a moment ago. Nothing keeps it for the caller, but no
/// connection that goes out is given it either, and this process hands it out once. Where a listener can
/// be passed instead of a number, do that.
///
/// # Errors
/// If the system has no port left.
pub fn free_port() -> anyhow::Result<u16> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Tests of several processes begin at different places.
    let begin = std::process::id().wrapping_mul(97) % COUNT;
    for _ in 0..COUNT {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = u16::try_from(FIRST + (begin + next) % COUNT)?;
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    anyhow::bail!("no port of 127.0.0.1 from {FIRST} on is free")
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

//! Ports of the loopback interface.

use std::net::{Ipv4Addr, TcpListener};

/// A TCP port on 127.0.0.1 that was free a moment ago. The system hands it out again late, but
/// nothing keeps it for the caller: where a listener can be passed instead of a number, do that.
///
/// # Errors
/// If the system has no port left.
pub fn free_port() -> anyhow::Result<u16> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    Ok(listener.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_can_be_listened_on() {
        let port = free_port().unwrap();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert_eq!(listener.local_addr().unwrap().port(), port);
    }
}

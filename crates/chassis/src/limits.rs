//! What one server takes from its callers. The transport's own defaults bound none of this.

use std::num::NonZeroU32;
use std::time::Duration;

/// Bounds of one listening server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Open HTTP/2 streams on a connection.
    pub streams: u32,
    /// Streams of a connection that we had to reset before it is closed.
    pub error_resets: usize,
    /// Streams that a caller reset before we accepted them, before the connection is closed.
    pub pending_resets: usize,
    /// Bytes of one message taken in. A service hands this to its generated server:
    /// `max_decoding_message_size(limits.message_bytes)`.
    pub message_bytes: usize,
    /// Bytes of a request's headers.
    pub header_bytes: u32,
    /// After this much silence a connection is asked whether it lives …
    pub keepalive: Duration,
    /// … and has this long to answer. A new one has both together to ask for something.
    pub keepalive_answer: Duration,
    /// A connection is asked to leave after this, give or take a tenth; what runs on it may end.
    pub connection_age: Duration,
    /// The whole of a unary call, unless the caller asks for less. Streams have no deadline.
    pub unary_deadline: Duration,
    /// Calls at work at once on a connection; more are refused, not queued.
    pub connection_calls: usize,
    /// Calls that one player may begin in a second, over all his connections; more are told when to
    /// come again.
    pub player_calls: Option<NonZeroU32>,
    /// Connections of one address; loopback is exempt, for whoever sits there is a proxy or ourselves.
    pub address_connections: Option<usize>,
    /// TLS handshakes have this long.
    pub handshake: Duration,
}

impl Limits {
    /// For the public edge.
    #[must_use]
    pub const fn public() -> Limits {
        Limits {
            streams: 32,
            error_resets: 64,
            pending_resets: 20,
            message_bytes: 64 * 1024,
            header_bytes: 8 * 1024,
            keepalive: Duration::from_secs(20),
            keepalive_answer: Duration::from_secs(10),
            connection_age: Duration::from_secs(30 * 60),
            unary_deadline: Duration::from_secs(5),
            connection_calls: 32,
            player_calls: NonZeroU32::new(20),
            address_connections: Some(16),
            handshake: Duration::from_secs(5),
        }
    }

    /// For services among themselves: few connections, much on each.
    #[must_use]
    pub const fn inside() -> Limits {
        Limits {
            streams: 256,
            message_bytes: 1024 * 1024,
            connection_calls: 256,
            // Who calls for players here has been told his pace at the edge.
            player_calls: None,
            address_connections: None,
            ..Limits::public()
        }
    }
}

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
    /// Bytes of one message taken in, unless the method's option names more. A service hands this to
    /// its generated server: `max_decoding_message_size(limits.message_bytes)`.
    pub message_bytes: usize,
    /// Bytes of a request's headers.
    pub header_bytes: u32,
    /// After this much silence a connection is asked whether it lives …
    pub keepalive: Duration,
    /// … and has this long to answer. A new one has both together to ask for something.
    pub keepalive_answer: Duration,
    /// A connection is asked to leave after this, give or take a tenth; what runs on it may end …
    pub connection_age: Duration,
    /// … within this, if there is a bound: then its streams are ended, and what is left is cut.
    pub connection_grace: Option<Duration>,
    /// A stream of an answer that takes nothing for so long is reset.
    pub stream_stall: Duration,
    /// The whole of a unary call, unless the caller asks for less. Streams have no deadline.
    pub unary_deadline: Duration,
    /// Calls at work at once on a connection; more are refused, not queued.
    pub connection_calls: usize,
    /// Units of calls that one player may begin in a second, over all their connections: a call costs
    /// one unless its method's option says more, and so does each message of a stream. More are told
    /// when to come again.
    pub player_calls: Option<NonZeroU32>,
    /// Calls and streams of one player that are open at once, over all their connections …
    pub player_open: Option<usize>,
    /// … and the streams among them.
    pub player_streams: Option<usize>,
    /// Connections of all addresses together.
    pub connections: Option<usize>,
    /// Connections of one address.
    pub address_connections: Option<usize>,
    /// Streams of one address that are open at once, over all its connections.
    pub address_streams: Option<usize>,
    /// Units of calls a second of one address, with or without a token.
    pub address_calls: Option<NonZeroU32>,
    /// Whether 127.0.0.1 and ::1, and no other address, are exempt from what bounds an address, where no
    /// proxy is trusted and none has handed a call on.
    pub exempt_loopback: bool,
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
            connection_grace: Some(Duration::from_secs(30)),
            stream_stall: Duration::from_secs(30),
            unary_deadline: Duration::from_secs(5),
            connection_calls: 32,
            player_calls: NonZeroU32::new(20),
            player_open: Some(64),
            player_streams: Some(8),
            connections: Some(4096),
            address_connections: Some(16),
            address_streams: Some(64),
            address_calls: NonZeroU32::new(200),
            exempt_loopback: false,
            handshake: Duration::from_secs(5),
        }
    }

    /// No connection gets as old.
    pub const NEVER: Duration = Duration::from_millis(u64::MAX);

    /// For services among themselves: few connections, much on each, and none of them ages. A client
    /// that begins a call while its connection is being closed cannot tell whether it was sent, and
    /// there is nobody here to be kept from staying.
    #[must_use]
    pub const fn inside() -> Limits {
        Limits {
            streams: 256,
            // Where calls of one peer run out of time at once, so many resets come at once.
            error_resets: 4096,
            pending_resets: 4096,
            message_bytes: 1024 * 1024,
            connection_age: Limits::NEVER,
            connection_grace: None,
            connection_calls: 256,
            player_calls: None,
            player_open: None,
            player_streams: None,
            connections: None,
            address_connections: None,
            address_streams: None,
            address_calls: None,
            ..Limits::public()
        }
    }
}

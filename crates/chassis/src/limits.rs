//! Limits of one listening server. The transport's defaults bound none of this.
//!
//! Specification: ARCHITECTURE.md §7.

use std::num::NonZeroU32;
use std::time::Duration;

/// Limits of one listening server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Open HTTP/2 streams of a connection.
    pub streams: u32,
    /// Streams of a connection that the server resets before it closes the connection.
    pub error_resets: usize,
    /// Streams that a caller resets before they are accepted, before the connection is closed.
    pub pending_resets: usize,
    /// Bytes of one message taken in, unless the method's option names another bound. A service
    /// passes this to its generated server: `max_decoding_message_size(limits.message_bytes)`.
    pub message_bytes: usize,
    /// Bytes of a request's headers.
    pub header_bytes: u32,
    /// Silence on a connection after which it is pinged.
    pub keepalive_interval: Duration,
    /// Time to answer a ping. A new connection has to send a request within this time and
    /// `keepalive_interval` together.
    pub keepalive_timeout: Duration,
    /// Age, give or take a tenth, at which a connection is asked to leave. Its calls may go on.
    pub max_connection_age: Duration,
    /// Time after `max_connection_age` at which the connection's streams end and the rest is cut.
    /// `None` means no bound.
    pub connection_grace: Option<Duration>,
    /// Time after which a response stream is reset if the caller takes none of it.
    pub stream_stall_timeout: Duration,
    /// Deadline of a unary call, unless the caller asks for an earlier one. A method whose option
    /// says that it waits for somebody outside the room has that much longer. Streams have no
    /// deadline.
    pub unary_deadline: Duration,
    /// Concurrent calls of a connection. More are refused, not queued.
    pub connection_calls: usize,
    /// Units a second of one player, over all their connections. A call costs one unit unless its
    /// method's option says more; each message of a stream costs one. More are refused with the
    /// time to wait.
    pub player_calls: Option<NonZeroU32>,
    /// Calls and streams of one player that are open at once, over all their connections.
    pub player_open: Option<usize>,
    /// Streams of one player that are open at once, over all their connections.
    pub player_streams: Option<usize>,
    /// Connections of all addresses together.
    pub connections: Option<usize>,
    /// Connections of one address.
    pub address_connections: Option<usize>,
    /// Streams of one address that are open at once, over all its connections.
    pub address_streams: Option<usize>,
    /// Units a second of one address, with or without a token.
    pub address_calls: Option<NonZeroU32>,
    /// Tokens a minute of one address that are malformed or that no issuer signed; beyond that, a
    /// token that was not verified before is not looked at.
    pub wrong_tokens: Option<NonZeroU32>,
    /// Streams without a token of one address that are open at once.
    pub address_anonymous_streams: Option<usize>,
    /// Streams without a token of all addresses together that are open at once.
    pub anonymous_streams: Option<usize>,
    /// Whether 127.0.0.1 and ::1 are exempt from the limits per address. It applies only if no
    /// proxy is trusted and no proxy has forwarded the call.
    pub exempt_loopback: bool,
    /// Time for a TLS handshake.
    pub handshake_timeout: Duration,
}

impl Limits {
    /// Limits of the public port.
    #[must_use]
    pub const fn public() -> Limits {
        Limits {
            streams: 32,
            error_resets: 64,
            pending_resets: 20,
            message_bytes: 64 * 1024,
            header_bytes: 8 * 1024,
            keepalive_interval: Duration::from_secs(20),
            keepalive_timeout: Duration::from_secs(10),
            max_connection_age: Duration::from_secs(30 * 60),
            connection_grace: Some(Duration::from_secs(30)),
            stream_stall_timeout: Duration::from_secs(30),
            unary_deadline: Duration::from_secs(5),
            connection_calls: 32,
            player_calls: NonZeroU32::new(20),
            player_open: Some(64),
            player_streams: Some(8),
            connections: Some(4096),
            address_connections: Some(16),
            address_streams: Some(64),
            address_calls: NonZeroU32::new(200),
            wrong_tokens: NonZeroU32::new(5),
            address_anonymous_streams: Some(8),
            anonymous_streams: Some(1024),
            exempt_loopback: false,
            handshake_timeout: Duration::from_secs(5),
        }
    }

    /// Age that no connection reaches.
    pub const NEVER: Duration = Duration::from_millis(u64::MAX);

    /// Limits among services: few connections with many calls each, none of which ages. Closing a
    /// connection by age has a cost: a client that begins a call meanwhile cannot tell whether it
    /// was sent. And there is no hostile caller here to be shed.
    #[must_use]
    pub const fn internal() -> Limits {
        Limits {
            streams: 256,
            // Calls of one peer may run out of time together, and then as many resets come at once.
            error_resets: 4096,
            pending_resets: 4096,
            message_bytes: 1024 * 1024,
            max_connection_age: Limits::NEVER,
            connection_grace: None,
            connection_calls: 256,
            player_calls: None,
            player_open: None,
            player_streams: None,
            connections: None,
            address_connections: None,
            address_streams: None,
            address_calls: None,
            wrong_tokens: None,
            address_anonymous_streams: None,
            anonymous_streams: None,
            ..Limits::public()
        }
    }
}

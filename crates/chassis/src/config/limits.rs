//! Settings below `limits`.

use std::num::NonZeroU32;
use std::time::Duration;

use super::settings::Settings;
use crate::limits::Limits;

/// Limits of a server; `default` holds for what is not set. A bound that may be absent is absent if
/// it is set to 0.
pub(super) fn limits(settings: &mut Settings, default: &Limits) -> Limits {
    let streams = settings.number("limits.streams", 1..=10_000, default.streams.into());
    let message_bytes = 1024..=64 * 1024 * 1024;
    let message_bytes =
        settings.number("limits.message_bytes", message_bytes, wide(default.message_bytes));
    let calls =
        settings.number("limits.connection_calls", 1..=10_000, wide(default.connection_calls));
    let header_bytes = 1024..=64 * 1024;
    let header_bytes =
        settings.number("limits.header_bytes", header_bytes, default.header_bytes.into());
    let (error_resets, pending_resets) = resets(settings, default);
    Limits {
        error_resets,
        pending_resets,
        header_bytes: u32::try_from(header_bytes).unwrap_or(default.header_bytes),
        keepalive_interval: settings.millis("limits.keepalive_ms", default.keepalive_interval),
        keepalive_timeout: settings
            .millis("limits.keepalive_timeout_ms", default.keepalive_timeout),
        handshake_timeout: settings.millis("limits.handshake_ms", default.handshake_timeout),
        streams: u32::try_from(streams).unwrap_or(default.streams),
        message_bytes: size(message_bytes),
        connection_calls: size(calls),
        player_calls: rate(settings, "limits.player_calls", default.player_calls),
        player_open: count(settings, "limits.player_open", default.player_open),
        player_streams: count(settings, "limits.player_streams", default.player_streams),
        connections: count(settings, "limits.connections", default.connections),
        address_connections: count(
            settings,
            "limits.address_connections",
            default.address_connections,
        ),
        address_streams: count(settings, "limits.address_streams", default.address_streams),
        address_calls: rate(settings, "limits.address_calls", default.address_calls),
        wrong_tokens: rate(settings, "limits.wrong_tokens", default.wrong_tokens),
        address_anonymous_streams: count(
            settings,
            "limits.address_anonymous_streams",
            default.address_anonymous_streams,
        ),
        anonymous_streams: count(settings, "limits.anonymous_streams", default.anonymous_streams),
        exempt_loopback: settings
            .choice("limits.exempt_loopback", &["true", "false"])
            .map_or(default.exempt_loopback, |word| word == "true"),
        stream_stall_timeout: settings
            .millis("limits.stream_stall_ms", default.stream_stall_timeout),
        unary_deadline: settings.millis("limits.unary_deadline_ms", default.unary_deadline),
        max_connection_age: settings.millis("limits.connection_age_ms", default.max_connection_age),
        connection_grace: grace(settings, default.connection_grace),
    }
}

/// Streams that the server resets, and that callers reset before they are accepted.
fn resets(settings: &mut Settings, default: &Limits) -> (usize, usize) {
    let mut resets = |key, default| size(settings.number(key, 1..=100_000, wide(default)));
    (
        resets("limits.error_resets", default.error_resets),
        resets("limits.pending_resets", default.pending_resets),
    )
}

fn rate(settings: &mut Settings, key: &str, default: Option<NonZeroU32>) -> Option<NonZeroU32> {
    let default = default.map_or(0, |rate| rate.get().into());
    u32::try_from(settings.number(key, 0..=1_000_000, default)).ok().and_then(NonZeroU32::new)
}

fn count(settings: &mut Settings, key: &str, default: Option<usize>) -> Option<usize> {
    let count = settings.number(key, 0..=1_000_000, default.map_or(0, wide));
    (count > 0).then(|| size(count))
}

fn grace(settings: &mut Settings, default: Option<Duration>) -> Option<Duration> {
    let unset = default.map_or(0, |grace| u64::try_from(grace.as_millis()).unwrap_or(u64::MAX));
    let millis = settings.number("limits.connection_grace_ms", 0..=86_400_000, unset);
    (millis > 0).then(|| Duration::from_millis(millis))
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

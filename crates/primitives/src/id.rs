//! Identifiers: 16 raw bytes, written like UUIDs. Each kind of identifier is a type of its own.

use std::fmt;
use std::str::FromStr;

use crate::UnixMicros;

/// The text is not 32 hexadecimal digits, with or without the four hyphens of a UUID; or they are
/// an id that services keep for themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an id is 16 bytes, written as a UUID: 01234567-89ab-cdef-0123-456789abcdef")]
pub struct IdError;

/// The stream of the service's own clock, in the log of each service: no UUID of any version.
const CLOCK: [u8; 16] = *b"sabacc/own-clock";
/// The stream of the dealer's chance as a whole: no UUID of any version.
const CHANCE: [u8; 16] = *b"sabacc/of-chance";

/// The stream of revoked tokens, in the table service's log: no UUID of any version.
const REVOCATIONS: [u8; 16] = *b"sabacc/revoked/0";
/// The stream of the room as a whole, in the table service's log: no UUID of any version.
const ROOM: [u8; 16] = *b"sabacc/room-wide";

/// An id that a table, a person or a command may have.
fn not_ours(id: [u8; 16]) -> Result<[u8; 16], IdError> {
    if [CLOCK, CHANCE, REVOCATIONS, ROOM].contains(&id) { Err(IdError) } else { Ok(id) }
}

/// An id of whatever there is a stream of, the services' own among them.
const fn any(id: [u8; 16]) -> Result<[u8; 16], IdError> {
    Ok(id)
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        id! { $(#[$doc])* $name: not_ours }
    };
    ($(#[$doc:meta])* $name:ident: $check:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(pub [u8; 16]);

        impl $name {
            #[must_use]
            pub const fn bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl TryFrom<&[u8]> for $name {
            type Error = IdError;

            fn try_from(bytes: &[u8]) -> Result<$name, IdError> {
                $check(bytes.try_into().map_err(|_| IdError)?).map($name)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<$name, IdError> {
                $check(parse(text)?).map($name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hyphenated(&self.0, f)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<$name, D::Error> {
                let text = <std::borrow::Cow<'_, str>>::deserialize(from)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_hyphenated(&self.0, f)
            }
        }
    };
}

id! {
    /// Id of a table. Those made here are UUIDv7.
    TableId
}
id! {
    /// Id of a dispute, a player's objection to a hand. Those made here are UUIDv7.
    DisputeId
}
id! {
    /// Id of a player's account: a random pseudonym, never a name.
    PlayerId
}
id! {
    /// Id of a hand, derived from the table and the hand number, so it is known before the hand
    /// starts.
    HandId
}
id! {
    /// Id that a caller gives to a command, so that a repeat changes nothing.
    RequestId
}
id! {
    /// Id of a hold: the id of the request that placed it.
    HoldId
}
id! {
    /// Id of a proposed adjustment of an account, made of the request's id and its proposer.
    AdjustmentId
}
id! {
    /// Id of a stream of events within a log: a table, a hand, an account, the service's clock.
    StreamId: any
}

impl StreamId {
    /// Stream of the steps of the service's own clock. No table, hand, account or person has this
    /// id.
    pub const CLOCK: StreamId = StreamId(CLOCK);
    /// Stream of the dealer's chance as a whole: of its generators, and of the tests of its outcomes.
    pub const CHANCE: StreamId = StreamId(CHANCE);
    /// Stream of revoked tokens. It is no player's, for tokens of an erased player are revoked too.
    pub const REVOCATIONS: StreamId = StreamId(REVOCATIONS);
    /// Stream of the room as a whole: of the games that are disabled in it.
    pub const ROOM: StreamId = StreamId(ROOM);
}

impl From<TableId> for StreamId {
    fn from(id: TableId) -> StreamId {
        StreamId(id.0)
    }
}

impl From<HandId> for StreamId {
    fn from(id: HandId) -> StreamId {
        StreamId(id.0)
    }
}

impl From<DisputeId> for StreamId {
    fn from(id: DisputeId) -> StreamId {
        StreamId(id.0)
    }
}

impl From<PlayerId> for StreamId {
    fn from(id: PlayerId) -> StreamId {
        StreamId(id.0)
    }
}

/// Milliseconds below which an id counts as one without time: 2004, before any id was made.
const MIN_TIME_MS: u64 = 1 << 40;

impl RequestId {
    /// Time at which the id says that it was made, to the millisecond. None for an id that is no
    /// UUIDv7.
    #[must_use]
    pub fn created_at(self) -> Option<UnixMicros> {
        self.leading_time().filter(|_| !self.is_derived())
    }

    /// Time in front of the id, by which ids sort, to the millisecond. None for an id that is
    /// neither a UUIDv7 nor of version 8, and for one without time.
    ///
    /// A hand's id is of version 8 too, and consists of hash bits alone. The time in front of it
    /// means nothing, which does no harm: the time decides only where a key sorts.
    #[must_use]
    pub fn leading_time(self) -> Option<UnixMicros> {
        let [a, b, c, d, e, f, ..] = self.0;
        let millis = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let is_timed = self.has_version(7) || self.has_version(8);
        (is_timed && millis >= MIN_TIME_MS).then_some(UnixMicros(millis.saturating_mul(1000)))
    }

    /// Makes an id that a service derives, a UUID of version 8 (RFC 9562, section 5.8). In front are
    /// the Unix milliseconds of `at`, as in a UUIDv7. After them come 74 bits of a hash, from its
    /// last ten bytes.
    #[must_use]
    pub fn derived(at: UnixMicros, hash: [u8; 16]) -> RequestId {
        let mut id = hash;
        id[..6].copy_from_slice(&(at.0 / 1000).to_be_bytes()[2..]);
        id[6] = id[6] & 0x0f | 0x80;
        id[8] = id[8] & 0x3f | 0x80;
        RequestId(id)
    }

    /// Whether the id is a UUID of version 8, the version of derived ids.
    #[must_use]
    pub const fn is_derived(self) -> bool {
        self.has_version(8)
    }

    /// Whether the id is a UUID of this version (RFC 9562, section 4.2).
    const fn has_version(self, version: u8) -> bool {
        self.0[6] >> 4 == version && self.0[8] >> 6 == 0b10
    }
}

/// A hand asks the wallet for its one settlement under its own id.
impl From<HandId> for RequestId {
    fn from(id: HandId) -> RequestId {
        RequestId(id.0)
    }
}

/// A hold has the id of the request that placed it.
impl From<RequestId> for HoldId {
    fn from(id: RequestId) -> HoldId {
        HoldId(id.0)
    }
}

fn parse(text: &str) -> Result<[u8; 16], IdError> {
    let bytes = text.as_bytes();
    let hyphens = match bytes.len() {
        32 => false,
        36 => true,
        _ => return Err(IdError),
    };
    let mut id = [0; 16];
    let mut digits = 0_usize;
    for (at, &byte) in bytes.iter().enumerate() {
        if hyphens && matches!(at, 8 | 13 | 18 | 23) {
            if byte != b'-' {
                return Err(IdError);
            }
            continue;
        }
        let value = char::from(byte).to_digit(16).and_then(|v| u8::try_from(v).ok());
        let value = value.ok_or(IdError)?;
        let slot = id.get_mut(digits.div_euclid(2)).ok_or(IdError)?;
        *slot = (*slot << 4) | value;
        digits = digits.saturating_add(1);
    }
    Ok(id)
}

/// Writes the id in one call: names of accounts are made of ids, and there are many of them.
fn write_hyphenated(id: &[u8; 16], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'0');
    let mut text = [b'-'; 36];
    let places = (0..36_usize).filter(|at| !matches!(at, 8 | 13 | 18 | 23));
    let nibbles = id.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    for (at, nibble) in places.zip(nibbles) {
        if let Some(place) = text.get_mut(at) {
            *place = digit(nibble);
        }
    }
    f.write_str(std::str::from_utf8(&text).expect("hexadecimal digits and hyphens are UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips_with_and_without_hyphens() {
        let id = TableId([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 255]);
        assert_eq!(id.to_string(), "00010203-0405-0607-0809-0a0b0c0d0eff");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!("000102030405060708090A0B0C0D0EFF".parse(), Ok(id));
    }

    #[test]
    fn an_id_shows_its_time_and_whether_it_is_derived() {
        let v7: RequestId = "019a0000-0000-7000-8000-00000000ffff".parse().unwrap();
        assert_eq!(v7.created_at(), Some(UnixMicros(0x019a_0000_0000 * 1000)));
        for other in [
            "019a0000-0000-4000-8000-00000000ffff",
            "019a0000-0000-7000-0000-00000000ffff",
            "00000000-0000-7000-8000-00000000ffff",
        ] {
            let other: RequestId = other.parse().unwrap();
            assert_eq!((other.created_at(), other.leading_time()), (None, None), "{other}");
        }
        assert_eq!(v7.leading_time(), v7.created_at());
        assert!(!v7.is_derived());
    }

    #[test]
    fn a_derived_id_begins_with_its_time() {
        let at = UnixMicros(0x019a_0000_0000 * 1000);
        for hash in [[0; 16], [0x7f; 16], [0xff; 16]] {
            let derived = RequestId::derived(at, hash);
            assert!(derived.is_derived() && derived.created_at().is_none());
            assert_eq!(derived.leading_time(), Some(at));
            assert_eq!(RequestId::derived(UnixMicros(at.0 + 999), hash), derived);
            assert_eq!(RequestId::derived(at, derived.0), derived);
            assert!(derived < RequestId::derived(UnixMicros(at.0 + 1000), [0; 16]));
            let untimed = RequestId::derived(UnixMicros(0), hash);
            assert!(untimed.is_derived() && untimed.leading_time().is_none());
        }
        let derived = RequestId::derived(at, [0xff; 16]).to_string();
        assert_eq!(derived, "019a0000-0000-8fff-bfff-ffffffffffff");
    }

    #[test]
    fn nobody_but_the_clock_has_the_clocks_stream() {
        let text = StreamId::CLOCK.to_string();
        assert_eq!(text.parse(), Ok(StreamId::CLOCK));
        assert_eq!(StreamId::try_from(&CLOCK[..]), Ok(StreamId::CLOCK));
        assert_eq!(text.parse::<PlayerId>(), Err(IdError));
        assert_eq!(PlayerId::try_from(&CLOCK[..]), Err(IdError));
        assert_eq!(TableId::try_from(&CLOCK[..]), Err(IdError));
        assert_eq!(HandId::try_from(&CLOCK[..]), Err(IdError));
        assert_eq!(DisputeId::try_from(&CLOCK[..]), Err(IdError));
        // What is derived or made by the clock or by chance says so in bits that this has not.
        assert_ne!(CLOCK[8] >> 6, 0b10);
        assert_eq!(PlayerId::try_from(&REVOCATIONS[..]), Err(IdError));
        assert_ne!(REVOCATIONS[8] >> 6, 0b10);
        assert_eq!(TableId::try_from(&ROOM[..]), Err(IdError));
        assert_ne!(ROOM[8] >> 6, 0b10);
    }

    #[test]
    fn nobody_but_chance_has_the_stream_of_chance() {
        assert_eq!(StreamId::try_from(&CHANCE[..]), Ok(StreamId::CHANCE));
        assert_eq!(PlayerId::try_from(&CHANCE[..]), Err(IdError));
        assert_eq!(TableId::try_from(&CHANCE[..]), Err(IdError));
        assert_eq!(HandId::try_from(&CHANCE[..]), Err(IdError));
        assert_ne!(CHANCE[8] >> 6, 0b10);
    }

    #[test]
    fn anything_else_is_refused() {
        for bad in
            ["", "0", "00010203-0405-0607-0809-0a0b0c0d0ef", "+0010203-0405-0607-0809-0a0b0c0d0eff"]
        {
            assert_eq!(bad.parse::<TableId>(), Err(IdError), "{bad:?}");
        }
        let misplaced = "000102030405-0607-0809-0a0b-0c0d0eff";
        assert_eq!(misplaced.parse::<TableId>(), Err(IdError));
        assert_eq!(TableId::try_from(&[0_u8; 15][..]), Err(IdError));
    }
}

//! Refresh tokens of guests. Pure.
//!
//! A token names its player and its generation, which counts how often it was given in place of
//! another, and has a tag that only this room can make. So a token that was used long ago is known
//! for what it is, though only the hashes of the newest two are kept. The rest of a token follows
//! from the request that it was given for: whoever repeats that request gets the same token.

use hmac::{Hmac, Mac};
use primitives::{PlayerId, RequestId};
use sha2::{Digest as _, Sha256};
use zeroize::Zeroizing;

/// Beginning of every refresh token, by which scanners for secrets find it.
const PREFIX: &str = "sabacc_refresh_";
const GENERATION: std::ops::Range<usize> = 16..24;
const NONCE: std::ops::Range<usize> = 24..40;
const TAG: std::ops::Range<usize> = 40..72;
const BYTES: usize = 72;

/// Secret that tokens are made with.
#[derive(Clone)]
pub(crate) struct RefreshSecret(Zeroizing<[u8; 32]>);

/// Refresh token. It has no `Debug`.
pub(crate) struct RefreshToken {
    pub player: PlayerId,
    /// Number of tokens that were given to the player before this one.
    pub generation: u64,
    bytes: Zeroizing<[u8; BYTES]>,
}

impl RefreshSecret {
    #[must_use]
    pub(crate) const fn new(secret: Zeroizing<[u8; 32]>) -> RefreshSecret {
        RefreshSecret(secret)
    }

    /// Token of a player that is given for a request.
    #[must_use]
    pub(crate) fn token(
        &self,
        player: PlayerId,
        generation: u64,
        request: RequestId,
    ) -> RefreshToken {
        let mut bytes = Zeroizing::new([0; BYTES]);
        bytes[..16].copy_from_slice(player.bytes());
        bytes[GENERATION].copy_from_slice(&generation.to_be_bytes());
        let nonce = self.mac("nonce", &[&bytes[..NONCE.start], request.bytes()]);
        bytes[NONCE].copy_from_slice(&nonce.finalize().into_bytes()[..16]);
        let tag = self.mac("token", &[&bytes[..TAG.start]]);
        bytes[TAG].copy_from_slice(&tag.finalize().into_bytes());
        RefreshToken { player, generation, bytes }
    }

    /// Whether this room has made the token, with this secret.
    #[must_use]
    pub(crate) fn has_made(&self, token: &RefreshToken) -> bool {
        let tag = self.mac("token", &[&token.bytes[..TAG.start]]);
        tag.verify_slice(&token.bytes[TAG]).is_ok()
    }

    /// Id of the player that a request makes: a random-looking UUID of version 4.
    #[must_use]
    pub(crate) fn player_of(&self, request: RequestId) -> PlayerId {
        let made = self.mac("player", &[request.bytes()]).finalize().into_bytes();
        let mut id = [0; 16];
        id.copy_from_slice(&made[..16]);
        id[6] = id[6] & 0x0f | 0x40;
        id[8] = id[8] & 0x3f | 0x80;
        PlayerId(id)
    }

    fn mac(&self, what: &str, parts: &[&[u8]]) -> Hmac<Sha256> {
        let mut mac = <Hmac<Sha256> as hmac::KeyInit>::new_from_slice(&self.0[..])
            .expect("HMAC takes keys of any length");
        // All parts of one kind have one length.
        mac.update(what.as_bytes());
        parts.iter().for_each(|part| mac.update(part));
        mac
    }
}

impl RefreshToken {
    /// Parses a token; `None` for a text that is none.
    #[must_use]
    pub(crate) fn parse(text: &str) -> Option<RefreshToken> {
        let digits = text.strip_prefix(PREFIX)?.as_bytes();
        if digits.len() != BYTES * 2 {
            return None;
        }
        let mut bytes = Zeroizing::new([0; BYTES]);
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let [high, low] = [digit(pair[0])?, digit(pair[1])?];
            *byte = high << 4 | low;
        }
        let player = PlayerId::try_from(&bytes[..16]).ok()?;
        let generation = u64::from_be_bytes(bytes[GENERATION].try_into().ok()?);
        Some(RefreshToken { player, generation, bytes })
    }

    /// Text of the token.
    #[must_use]
    pub(crate) fn expose(&self) -> String {
        let digits = self.bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        let digits = digits.map(|digit| char::from(b"0123456789abcdef"[usize::from(digit)]));
        PREFIX.chars().chain(digits).collect()
    }

    /// SHA-256 of the token, which is what is kept of it.
    #[must_use]
    pub(crate) fn sha256(&self) -> [u8; 32] {
        Sha256::digest(&self.bytes[..]).into()
    }
}

/// Value of a lower-case hexadecimal digit.
const fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANN: PlayerId = PlayerId([1; 16]);
    const REQUEST: RequestId = RequestId([9; 16]);

    fn secret(byte: u8) -> RefreshSecret {
        RefreshSecret::new(Zeroizing::new([byte; 32]))
    }

    #[test]
    fn a_token_is_read_as_it_was_written_and_known_by_its_maker() {
        let token = secret(1).token(ANN, 7, REQUEST);
        let text = token.expose();
        let read = RefreshToken::parse(&text).unwrap();
        assert_eq!((read.player, read.generation, read.sha256()), (ANN, 7, token.sha256()));
        assert!(secret(1).has_made(&read) && !secret(2).has_made(&read));
        for at in PREFIX.len()..text.len() {
            let mut digits = text.clone().into_bytes();
            digits[at] = if digits[at] == b'0' { b'1' } else { b'0' };
            let other = RefreshToken::parse(std::str::from_utf8(&digits).unwrap()).unwrap();
            assert!(!secret(1).has_made(&other), "digit {at}");
        }
        for bad in ["", PREFIX, &text[1..], &text[..text.len() - 1], &text.to_uppercase()] {
            assert!(RefreshToken::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn what_is_repeated_gives_the_same_and_everything_else_another() {
        let one = secret(1).token(ANN, 1, REQUEST).sha256();
        assert_eq!(secret(1).token(ANN, 1, REQUEST).sha256(), one);
        assert_ne!(secret(1).token(ANN, 2, REQUEST).sha256(), one);
        assert_ne!(secret(1).token(ANN, 1, RequestId([8; 16])).sha256(), one);
        assert_ne!(secret(1).token(PlayerId([2; 16]), 1, REQUEST).sha256(), one);
        assert_ne!(secret(2).token(ANN, 1, REQUEST).sha256(), one);
        let player = secret(1).player_of(REQUEST);
        assert_eq!(player, secret(1).player_of(REQUEST));
        assert_ne!(player, secret(1).player_of(RequestId([8; 16])));
        assert_eq!((player.0[6] >> 4, player.0[8] >> 6), (4, 0b10));
    }
}

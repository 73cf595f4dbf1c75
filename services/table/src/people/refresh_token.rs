//! Refresh tokens of guests. Pure.
//!
//! A token names its player and its generation, which counts how often it was given in place of
//! another, and has a tag that only this room can make. So a token that was used long ago is known
//! for what it is, though only the hashes of the newest two are kept. The rest of a token follows
//! from the request that it was given for and from a secret that its caller brought: the secret of a
//! sign-in, or the token before. Whoever repeats that request with that secret gets the same token.
//! A request's id and everything else that is on record give none, even with the room's secret.

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
/// Bytes of a caller's secret.
const SIGN_IN_BYTES: usize = 32;

/// Secret that tokens are made with.
#[derive(Clone)]
pub(crate) struct RefreshSecret(Zeroizing<[u8; 32]>);

/// Secret that a caller makes for a sign-in, so that they alone can repeat it. It has no `Debug`, and
/// nothing is kept of it but HMACs under the room's secret.
pub(crate) struct SignInSecret(Zeroizing<[u8; SIGN_IN_BYTES]>);

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

    /// First token of a player, given for a sign-in.
    #[must_use]
    pub(crate) fn first_token(
        &self,
        player: PlayerId,
        request: RequestId,
        secret: &SignInSecret,
    ) -> RefreshToken {
        self.token(player, 0, request, &secret.0[..])
    }

    /// Token that is given for another, by a request.
    #[must_use]
    pub(crate) fn next_token(&self, used: &RefreshToken, request: RequestId) -> RefreshToken {
        self.token(used.player, used.generation.saturating_add(1), request, &used.bytes[..])
    }

    pub(super) fn token(
        &self,
        player: PlayerId,
        generation: u64,
        request: RequestId,
        brought: &[u8],
    ) -> RefreshToken {
        let brought = Zeroizing::new(<[u8; 32]>::from(Sha256::digest(brought)));
        let mut bytes = Zeroizing::new([0; BYTES]);
        bytes[..16].copy_from_slice(player.bytes());
        bytes[GENERATION].copy_from_slice(&generation.to_be_bytes());
        let nonce = self.mac("nonce", &[&bytes[..NONCE.start], request.bytes(), &brought[..]]);
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

    /// Id of the player that a sign-in makes: a random-looking UUID of version 4.
    #[must_use]
    pub(crate) fn player_of(&self, request: RequestId, secret: &SignInSecret) -> PlayerId {
        let made = self.mac("player", &[request.bytes(), &secret.0[..]]).finalize().into_bytes();
        let mut id = [0; 16];
        id.copy_from_slice(&made[..16]);
        id[6] = id[6] & 0x0f | 0x40;
        id[8] = id[8] & 0x3f | 0x80;
        PlayerId(id)
    }

    /// Digest of a sign-in's content that also tells its secret from others.
    #[must_use]
    pub(crate) fn bound_digest(&self, digest: [u8; 32], secret: &SignInSecret) -> [u8; 32] {
        self.mac("sign-in", &[&digest, &secret.0[..]]).finalize().into_bytes().into()
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

impl SignInSecret {
    /// Reads a secret; `None` for one that is not 32 bytes, or of one byte repeated, which no
    /// generator made.
    #[must_use]
    pub(crate) fn read(bytes: Vec<u8>) -> Option<SignInSecret> {
        let bytes = Zeroizing::new(bytes);
        let secret = <[u8; SIGN_IN_BYTES]>::try_from(&bytes[..]).ok()?;
        let is_made = secret.iter().any(|byte| *byte != secret[0]);
        is_made.then(|| SignInSecret(Zeroizing::new(secret)))
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

    /// Part of the token that nobody can compute without its caller's secret.
    #[cfg(test)]
    pub(super) fn nonce(&self) -> &[u8] {
        &self.bytes[NONCE]
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

    fn brought(byte: u8) -> SignInSecret {
        let mut bytes = vec![byte; SIGN_IN_BYTES];
        bytes[0] = !byte;
        SignInSecret::read(bytes).unwrap()
    }

    #[test]
    fn a_sign_ins_secret_is_32_bytes_that_a_generator_may_have_made() {
        for bad in [vec![], vec![0; 32], vec![7; 32], (0..31).collect(), (0..33).collect()] {
            assert!(SignInSecret::read(bad).is_none());
        }
        assert!(SignInSecret::read((0..32).collect()).is_some());
    }

    #[test]
    fn a_token_is_read_as_it_was_written_and_known_by_its_maker() {
        let token = secret(1).token(ANN, 7, REQUEST, &[3]);
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
        let first = |by, request| secret(by).first_token(ANN, request, &brought(3));
        let one = first(1, REQUEST);
        assert_eq!(first(1, REQUEST).sha256(), one.sha256());
        let other = secret(1).first_token(ANN, REQUEST, &brought(4));
        let others = [first(2, REQUEST), first(1, RequestId([8; 16])), other];
        let nexts = others.each_ref().map(|token| secret(1).next_token(token, REQUEST).sha256());
        let next = secret(1).next_token(&one, REQUEST);
        assert_eq!((next.player, next.generation), (ANN, 1));
        assert_eq!(secret(1).next_token(&one, REQUEST).sha256(), next.sha256());
        assert_ne!(secret(1).next_token(&one, RequestId([8; 16])).sha256(), next.sha256());
        assert!(others.iter().all(|token| token.sha256() != one.sha256()));
        assert!(!nexts.contains(&next.sha256()), "a token follows from the one before it");
        let player = secret(1).player_of(REQUEST, &brought(3));
        assert_eq!(player, secret(1).player_of(REQUEST, &brought(3)));
        assert_ne!(player, secret(1).player_of(RequestId([8; 16]), &brought(3)));
        assert_ne!(player, secret(1).player_of(REQUEST, &brought(4)));
        let digest = secret(1).bound_digest([5; 32], &brought(3));
        assert_ne!(digest, secret(1).bound_digest([6; 32], &brought(3)));
        assert_ne!(digest, secret(1).bound_digest([5; 32], &brought(4)));
        assert_ne!(digest, secret(2).bound_digest([5; 32], &brought(3)), "nobody can try secrets");
        assert_eq!((player.0[6] >> 4, player.0[8] >> 6), (4, 0b10));
    }
}

//! JWS compact serialization (RFC 7515) with EdDSA over Ed25519 (RFC 8037), and no other algorithm.
//!
//! Crate `jsonwebtoken` would bring all other algorithms, and a second implementation of this one.

use base64ct::{Base64UrlUnpadded, Encoding};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use serde::Deserialize;

/// Bytes of the longest token that is parsed.
pub(super) const MAX_TOKEN_BYTES: usize = 4096;

/// `{"alg":"EdDSA","typ":"JWT"}`
const HEADER: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9";

#[derive(Deserialize)]
struct Header {
    alg: String,
    #[serde(default)]
    typ: Option<String>,
    /// Critical extensions. A token that has any is refused, because none are supported.
    #[serde(default)]
    crit: Option<serde_json::Value>,
    #[serde(default)]
    b64: Option<serde_json::Value>,
}

/// Parsed token with an accepted header. Its signature is not checked yet.
pub(super) struct UnverifiedToken<'a> {
    signed: &'a [u8],
    payload: Vec<u8>,
    signature: Signature,
}

impl UnverifiedToken<'_> {
    /// Parses a token. `None` unless it is three parts of canonical base64url, the header asks for
    /// EdDSA and nothing beyond it, and the signature has 64 bytes.
    pub(super) fn parse(token: &str) -> Option<UnverifiedToken<'_>> {
        if token.len() > MAX_TOKEN_BYTES {
            return None;
        }
        let (signed, signature) = token.rsplit_once('.')?;
        let (header, payload) = signed.split_once('.')?;
        let decode = |part: &str| Base64UrlUnpadded::decode_vec(part).ok();
        let header: Header = serde_json::from_slice(&decode(header)?).ok()?;
        let plain = header.typ.is_none_or(|typ| typ.eq_ignore_ascii_case("JWT"));
        if header.alg != "EdDSA" || !plain || header.crit.is_some() || header.b64.is_some() {
            return None;
        }
        let signature = Signature::from_slice(&decode(signature)?).ok()?;
        Some(UnverifiedToken { signed: signed.as_bytes(), payload: decode(payload)?, signature })
    }

    /// The payload, if `key` signed it.
    pub(super) fn verify(&self, key: &VerifyingKey) -> Option<&[u8]> {
        key.verify_strict(self.signed, &self.signature).ok()?;
        Some(&self.payload)
    }
}

/// Signs `payload` and returns the token.
pub(super) fn sign(payload: &[u8], key: &SigningKey) -> String {
    let signed = format!("{HEADER}.{}", Base64UrlUnpadded::encode_string(payload));
    let signature = key.sign(signed.as_bytes());
    format!("{signed}.{}", Base64UrlUnpadded::encode_string(&signature.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard() {
        // RFC 8037, appendix A.4: its header has no typ.
        let key = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
        let key: [u8; 32] = Base64UrlUnpadded::decode_vec(key).unwrap().try_into().unwrap();
        let token = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.\
            hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt\
            9g7sVvpAr_MuM0KAg";
        let parsed = UnverifiedToken::parse(token).unwrap();
        let key = VerifyingKey::from_bytes(&key).unwrap();
        assert_eq!(parsed.verify(&key), Some(&b"Example of Ed25519 signing"[..]));
    }

    #[test]
    fn our_header_is_what_it_says() {
        let header = Base64UrlUnpadded::decode_vec(HEADER).unwrap();
        assert_eq!(header, br#"{"alg":"EdDSA","typ":"JWT"}"#);
    }

    #[test]
    fn other_headers_are_not_ours() {
        let signature = Base64UrlUnpadded::encode_string(&[0; 64]);
        for header in [
            r#"{"alg":"none"}"#,
            r#"{"alg":"HS256"}"#,
            r#"{"alg":"eddsa"}"#,
            r#"{"alg":"EdDSA","crit":["exp"]}"#,
            r#"{"alg":"EdDSA","b64":false}"#,
            r#"{"alg":"EdDSA","typ":"at+jwt"}"#,
            r#"{}"#,
        ] {
            let header = Base64UrlUnpadded::encode_string(header.as_bytes());
            assert!(UnverifiedToken::parse(&format!("{header}.e30.{signature}")).is_none());
        }
        assert!(UnverifiedToken::parse(&format!("{HEADER}.e30.{signature}")).is_some());
        for token in ["", ".", "..", "a.b", "a.b.c.d"] {
            assert!(UnverifiedToken::parse(token).is_none(), "{token}");
        }
        assert!(UnverifiedToken::parse(&format!("{HEADER}.e30=.{signature}")).is_none());
        assert!(
            UnverifiedToken::parse(&format!("{HEADER}.e31.{signature}")).is_none(),
            "stray bits"
        );
        assert!(UnverifiedToken::parse(&"a".repeat(MAX_TOKEN_BYTES + 1)).is_none());
    }
}

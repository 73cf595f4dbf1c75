//! Private keys as files: OpenSSL reads those that are written, and both versions of the format are
//! read.

use std::process::Command;

use chassis::auth::{TokenIssuer, private_key_pem};
use ed25519_dalek::SigningKey;
use ed25519_dalek::pkcs8::EncodePrivateKey as _;
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;

/// Runs `openssl` with these arguments; `None` where this machine has none.
fn openssl(arguments: &[&str]) -> Option<Vec<u8>> {
    let done = Command::new("openssl").args(arguments).output().ok()?;
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "openssl {arguments:?}: {said}");
    Some(done.stdout)
}

#[test]
fn openssl_reads_a_private_key_and_finds_its_public_one() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let issuer = TokenIssuer::from_pem("test", &private_key_pem(&key)).unwrap();
    assert_eq!(issuer.public_key(), key.verifying_key());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key.pem");
    std::fs::write(&path, issuer.private_pem().expose()).unwrap();
    let path = path.to_str().unwrap();
    let Some(public) = openssl(&["pkey", "-in", path, "-pubout"]) else { return };
    assert_eq!(String::from_utf8(public).unwrap(), issuer.public_pem());
    let der = openssl(&["pkey", "-in", path, "-outform", "DER"]).unwrap();
    assert_eq!(der.len(), 48, "the first version of the format, without a public key");
}

#[test]
fn a_key_with_its_public_part_is_still_read() {
    let key = SigningKey::from_bytes(&[7; 32]);
    let second_version = key.to_pkcs8_pem(LineEnding::LF).unwrap();
    assert_ne!(*second_version, *private_key_pem(&key));
    let issuer = TokenIssuer::from_pem("test", &second_version).unwrap();
    assert_eq!(issuer.public_key(), key.verifying_key());
}

use ed25519_dalek::pkcs8::EncodePrivateKey as _;

use super::*;

fn pem(seed: u8) -> String {
    let key = SigningKey::from_bytes(&[seed; 32]);
    key.to_pkcs8_pem(ed25519_dalek::pkcs8::spki::der::pem::LineEnding::LF).unwrap().to_string()
}

fn parsed(text: &str) -> Result<Vec<(Option<u8>, u64)>, String> {
    let keys = PreviousLogKey::parse(text)?;
    Ok(keys.iter().map(|key| (key.secret.as_ref().map(|seed| seed[0]), key.until)).collect())
}

#[test]
fn previous_keys_are_read_with_the_size_that_they_count_until() {
    let text = format!("until 100\n{}until 250\n\nuntil 300\n{}", pem(1), pem(2));
    let expected = vec![(Some(1), 100), (None, 250), (Some(2), 300)];
    assert_eq!(parsed(&text).unwrap(), expected);
    assert_eq!(parsed(&text.replace('\n', "\r\n")).unwrap(), expected);
    assert_eq!(parsed("\n").unwrap(), []);
    for wrong in [pem(1), format!("until\n{}", pem(1)), "until -1".to_owned()] {
        assert!(parsed(&wrong).unwrap_err().contains("until SIZE"), "{wrong}");
    }
    assert_eq!(parsed("until 100\nno key\n").unwrap_err(), NOT_A_KEY);
    let shown = format!("{:?}", PreviousLogKey::parse(&text).unwrap());
    assert!(
        shown.contains("until: 250") && !shown.contains('1'.to_string().repeat(3).as_str()),
        "{shown}"
    );
}

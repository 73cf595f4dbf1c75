use primitives::UnixMicros;

use super::*;

fn timestamp(seconds: i64) -> Option<prost_types::Timestamp> {
    Some(prost_types::Timestamp { seconds, nanos: 7_000 })
}

#[test]
fn a_revocation_is_read_whole_or_not_at_all() {
    let subject = pb::Revocation {
        tokens: Some(pb::revocation::Tokens::Subject("till".to_owned())),
        issued_until_time: timestamp(5),
        forget_time: timestamp(9),
    };
    let read = parse(subject.clone()).unwrap();
    let issued_until = UnixMicros(5_000_007);
    let tokens = RevokedTokens::Subject { subject: "till".to_owned(), issued_until };
    assert_eq!(read, Revocation { tokens, forgotten_at: UnixMicros(9_000_007) });
    assert_eq!(parse(pb::Revocation { issued_until_time: None, ..subject.clone() }), None);
    assert_eq!(parse(pb::Revocation { forget_time: timestamp(-1), ..subject.clone() }), None);
    assert_eq!(parse(pb::Revocation { tokens: None, ..subject }), None);
}

//! Keys files.

use merkle::note::{KeyId, KeyName, Signature, WitnessKey};
use sha2::{Digest as _, Sha256};

use super::{Hostile, Kind};
use crate::tests::fixture::{LogName, log_key};

pub(super) fn all() -> Vec<Hostile> {
    let key = log_key(LogName::Table).public().to_string();
    let other = log_key(LogName::Wallet).public().to_string();
    let mut all = texts(&key);
    all.extend(ends(&key));
    all.extend(spellings(&key));
    all.extend(witnesses(&key));
    let good = |name, text: String| Hostile::new(Kind::Keys, name, text).good();
    all.extend([
        good("nothing", String::new()),
        good("comments", format!("# \u{2028}\u{85}\u{7f}\u{0}\r\n\r\n\n{key}\n{other}\r\n#")),
        good("one-key-twice", format!("{key}\n{key} until 7\n")),
        good("100000-empty-lines", format!("{}{key}", "\n".repeat(100_000))),
    ]);
    all
}

fn texts(key: &str) -> Vec<Hostile> {
    let of = |name, text: String| Hostile::new(Kind::Keys, name, text);
    let renamed = key.replacen("specimen", "another", 1);
    vec![
        of("mark", format!("\u{feff}{key}\n")),
        of("mark-alone", "\u{feff}".to_owned()),
        of("mark-later", format!("{key}\n\u{feff}\n")),
        of("key-behind-a-comment", format!("# ours\u{2028}{key}\n{key}\u{2028}\n")),
        of("two-keys-in-a-line", format!("{key}\u{2028}{key}\n")),
        of("two-keys-parted-by-next-line", format!("{key}\u{85}{key}\n")),
        of("two-keys-parted-by-feed", format!("{key}\u{c}{key}\n")),
        of("lines-ended-by-cr", format!("{key}\r{key}\r")),
        of("cr-twice", format!("{key}\r\r\n")),
        of("cr-at-the-end", format!("{key}\r")),
        of("comment-behind-a-space", format!(" # ours\n{key}\n")),
        of("comment-behind-a-key", format!("{key} # ours\n")),
        of("space-before", format!(" {key}\n")),
        of("space-behind", format!("{key} \n")),
        of("tab-behind", format!("{key}\t\n")),
        of("no-break-space", format!("\u{a0}{key}\n")),
        of("zero-byte", format!("{key}\u{0}\n")),
        of("another-name", renamed),
        of("a-page", "<!doctype html><title>Keys</title>\n".to_owned()),
        of("one-line-of-1-mb", "+".repeat(1 << 20)),
        Hostile::new(Kind::Keys, "not-utf-8", [key.as_bytes(), b"\n# \xff\n"].concat()),
        Hostile::new(Kind::Keys, "half-a-pair", [key.as_bytes(), b"\n# \xed\xa0\x80\n"].concat()),
        Hostile::new(Kind::Keys, "utf-16", [0xff, 0xfe, b'#', 0, b'\n', 0]),
    ]
}

fn ends(key: &str) -> Vec<Hostile> {
    let until = |name, end: &str| Hostile::new(Kind::Keys, name, format!("{key}{end}\n"));
    vec![
        until("until-0", " until 0").good(),
        until("until-2-63-less-1", " until 9223372036854775807").good(),
        until("until-2-64-less-1", " until 18446744073709551615").good(),
        until("until-2-64", " until 18446744073709551616"),
        until("until-of-5000-digits", &format!(" until {}", "9".repeat(5000))),
        until("until-nothing", " until "),
        until("until-at-the-end", " until"),
        until("until-leading-zero", " until 07"),
        until("until-signed", " until +7"),
        until("until-negative", " until -1"),
        until("until-arabic-digits", " until \u{667}"),
        until("until-twice", " until 7 until 8"),
        until("until-two-spaces", "  until 7"),
        until("until-capital", " Until 7"),
        until("until-and-more", " until 7 "),
        until("until-underscore", " until 1_000"),
        until("until-cr", " until 7\r").good(),
    ]
}

/// Encodes in base64: what stands behind a signature's name.
fn base64(bytes: &[u8]) -> String {
    let (id, bytes) = bytes.split_first_chunk().unwrap();
    let name = KeyName::try_new("any").unwrap();
    let line = Signature { name, id: KeyId(*id), bytes: bytes.to_vec() }.to_string();
    line.rsplit(' ').next().unwrap().to_owned()
}

/// Other spellings of one key, and points that are no keys.
fn spellings(key: &str) -> Vec<Hostile> {
    let of = |name, text: String| Hostile::new(Kind::Keys, name, text);
    let [name, id, point] = <[&str; 3]>::try_from(key.splitn(3, '+').collect::<Vec<_>>()).unwrap();
    let small = |byte: u8| {
        let mut point = [0; 32];
        point[0] = byte;
        let hash = Sha256::new().chain_update(name.as_bytes()).chain_update([b'\n', 1]);
        let hash = hash.chain_update(point).finalize();
        let id: String = hash[..4].iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{name}+{id}+{}", base64(&[&[1][..], &point].concat()))
    };
    vec![
        of("id-in-capitals", format!("{name}+{}+{point}", id.to_uppercase())),
        of("id-of-another", format!("{name}+00000000+{point}")),
        of("key-with-padding", format!("{key}=")),
        of("key-in-url-letters", format!("{name}+{id}+{}", point.replace(['+', '/'], "_"))),
        of("key-cut", format!("{name}+{id}+{}", &point[..40])),
        of("key-without-a-name", format!("+{id}+{point}")),
        of("key-of-small-order", small(0)),
        of("key-of-the-neutral-point", small(1)),
        of("key-that-is-no-point", small(2)),
    ]
}

fn witnesses(key: &str) -> Vec<Hostile> {
    let of = |name, text: String| Hostile::new(Kind::WitnessKeys, name, text);
    let witness = WitnessKey::new(KeyName::try_new("one.example").unwrap(), &[3; 32]);
    let witness = witness.public().to_string();
    vec![
        of("witness", format!("# ours\n{witness}\r\n")).good(),
        of("no-witness", String::new()).good(),
        of("witness-and-log", format!("{witness}\n{key}\n")),
        of("log", format!("{key}\n")),
        of("witness-behind-mark", format!("\u{feff}{witness}\n")),
    ]
}

//! Signed notes and checkpoints.

use merkle::note::{KeyName, LogKey};

use super::logs::{lines, signed};
use super::{Hostile, Kind};
use crate::tests::fixture::{LogName, log_key};

pub(super) fn all() -> Vec<Hostile> {
    let mut all = notes();
    all.extend(signatures());
    all.extend(checkpoints());
    all.extend(sizes());
    all
}

fn notes() -> Vec<Hostile> {
    let of = |name, text: String| Hostile::new(Kind::Note, name, text);
    let key = log_key(LogName::Table);
    let with = |name, text: &str| of(name, signed(&key, text));
    let good = signed(&key, "a\nb\n");
    vec![
        with("good", "a\nb\n").good(),
        with("blank-lines", "a\n\n\nb\n").good(),
        with("no-text", "\n").good(),
        with("other-letters", "\u{80}\u{85}\u{2028}\u{feff}\u{202e}\u{10ffff}\n").good(),
        with("zero-byte", "a\u{0}\n"),
        with("tab", "a\tb\n"),
        with("cr", "a\r\n"),
        with("escape", "a\u{1b}[2J\n"),
        with("unit-separator", "a\u{1f}\n"),
        with("delete", "a\u{7f}\n"),
        of("lines-ended-by-cr", good.replace('\n', "\r\n")),
        of("no-last-line-feed", good.trim_end().to_owned()),
        of("line-feed-too-many", format!("{good}\n")),
        of("empty", String::new()),
        of("text-alone", "a\nb\n".to_owned()),
        of("signature-alone", good["a\nb\n".len()..].to_owned()),
        of("line-feeds", "\n".repeat(1_000_000)),
        of("too-long", signed(&key, &format!("{}\n", "a".repeat(1_000_000)))),
        of("as-long-as-allowed", {
            let rest = signed(&key, "\n").len();
            signed(&key, &format!("{}\n", "a".repeat(1_000_000 - rest)))
        })
        .good(),
        of("too-long-in-bytes", signed(&key, &format!("{}\n", "\u{2028}".repeat(400_000)))),
    ]
}

fn signatures() -> Vec<Hostile> {
    let of = |name, line: &str| Hostile::new(Kind::Note, name, format!("a\n\n{line}\n"));
    let key = log_key(LogName::Table);
    let line = key.sign("a\n").to_string();
    let [dash, name, blob] = <[&str; 3]>::try_from(line.split(' ').collect::<Vec<_>>()).unwrap();
    let times = |count: usize| vec![line.clone(); count].join("\n");
    vec![
        of("signature-of-a-hyphen", &format!("- {name} {blob}")),
        of("signature-of-two-spaces", &format!("{dash}  {name} {blob}")),
        of("signature-and-more", &format!("{dash} {name} {blob} more")),
        of("signature-without-a-name", &format!("{dash} {blob}")),
        of("signature-of-a-name-with-plus", &format!("{dash} a+b {blob}")),
        of("signature-of-a-name-with-space", &format!("{dash} a\u{a0}b {blob}")),
        of("signature-of-a-name-with-delete", &format!("{dash} a\u{7f}b {blob}")),
        of("signature-of-a-name-with-mark", &format!("{dash} \u{feff}b {blob}")).good(),
        of("signature-of-a-name-with-next-line", &format!("{dash} a\u{85}b {blob}")),
        of("signature-of-a-name-with-vowel-separator", &format!("{dash} a\u{180e}b {blob}")).good(),
        of("signature-of-4-bytes", &format!("{dash} {name} AAAAAA==")),
        of("signature-of-5-bytes", &format!("{dash} {name} AAAAAAA=")).good(),
        of("signature-without-padding", &format!("{dash} {name} AAAAAAA")),
        of("signature-of-loose-bits", &format!("{dash} {name} AAAAAAB=")),
        of("signature-of-nothing", &format!("{dash} {name} ")),
        of("signatures-100", &times(100)).good(),
        of("signatures-101", &times(101)),
        of("signatures-10000", &times(10_000)),
    ]
}

fn checkpoints() -> Vec<Hostile> {
    let [origin, size, root] = lines();
    let key = log_key(LogName::Table);
    let of = |name, text: String| Hostile::new(Kind::Checkpoint, name, signed(&key, &text));
    let same_name = LogKey::new(key.public().name().clone(), &[77; 32]);
    let stranger = LogKey::new(KeyName::try_new("stranger.example/table").unwrap(), &[77; 32]);
    let text = format!("{origin}\n{size}\n{root}\n");
    let forged = {
        let mut signature = same_name.sign(&text);
        signature.id = key.public().id();
        signature.to_string()
    };
    let raw = |name, note: String| Hostile::new(Kind::Checkpoint, name, note);
    vec![
        of("good", text.clone()).good(),
        of("more", format!("{text}more\nand \u{2028}\n")).good(),
        of("more-empty", format!("{text}\n")),
        of("more-with-delete", format!("{text}a\u{7f}\n")),
        of("two-lines", format!("{origin}\n{size}\n")),
        of("no-lines", "\n".to_owned()),
        of("another-origin", format!("specimen.example/wallet\n{size}\n{root}\n")),
        of("empty-origin", format!("\n{size}\n{root}\n")),
        of("origin-and-space", format!("{origin} \n{size}\n{root}\n")),
        of("root-cut", format!("{origin}\n{size}\n{}\n", &root[..40])),
        of("root-of-33-bytes", format!("{origin}\n{size}\n{}AA==\n", root.replace('=', "A"))),
        of("root-and-space", format!("{origin}\n{size}\n{root} \n")),
        raw("stranger", signed(&stranger, &text)),
        raw("same-name-another-key", signed(&same_name, &text)),
        raw("forged", format!("{text}\n{forged}\n")),
        raw("signed-and-forged", format!("{}{forged}\n", signed(&key, &text))),
        raw("signed-and-strange", format!("{}{}\n", signed(&key, &text), stranger.sign(&text)))
            .good(),
        raw("signature-over-another-text", signed(&key, &text).replacen(&size, "1", 1)),
    ]
}

fn sizes() -> Vec<Hostile> {
    let [origin, _, root] = lines();
    let key = log_key(LogName::Table);
    let of = |name, size: &str| {
        let text = format!("{origin}\n{size}\n{root}\n");
        Hostile::new(Kind::Checkpoint, name, signed(&key, &text))
    };
    vec![
        of("size-2-63-less-1", "9223372036854775807").good(),
        of("size-2-63", "9223372036854775808"),
        of("size-2-64", "18446744073709551616"),
        of("size-5000-digits", &"9".repeat(5000)),
        of("size-900000-digits", &"9".repeat(900_000)),
        of("size-0", "0"),
        of("size-00", "00"),
        of("size-nothing", ""),
        of("size-leading-zero", "07"),
        of("size-signed", "+7"),
        of("size-negative", "-7"),
        of("size-hexadecimal", "0x7"),
        of("size-exponent", "1e3"),
        of("size-underscore", "1_000"),
        of("size-space", " 7"),
        of("size-space-behind", "7 "),
        of("size-arabic-digits", "\u{667}"),
        of("size-full-width-digits", "\u{ff17}"),
    ]
}

//! Evidence files.

use fairness::evidence::{Entry, HEADER, MAX_LINE_BYTES, SignedEntry};
use primitives::UnixMicros;

use super::{Hostile, Kind};

pub(super) fn all() -> Vec<Hostile> {
    let mut all = whole();
    all.extend(notes());
    all.extend(lines());
    all
}

fn of(name: &str, line: &str) -> Hostile {
    Hostile::new(Kind::Evidence, name, format!("{HEADER}\n{line}\n"))
}

fn whole() -> Vec<Hostile> {
    let file = |name, text: String| Hostile::new(Kind::Evidence, name, text);
    vec![
        file("nothing", String::new()),
        file("line-feed", "\n".to_owned()),
        file("header-alone", format!("{HEADER}\n")).good(),
        file("header-without-end", HEADER.to_owned()),
        file("header-of-2", "sabacc-evidence 2\n".to_owned()),
        file("header-and-space", format!("{HEADER} \n")),
        file("header-behind-mark", format!("\u{feff}{HEADER}\n")),
        file("header-twice", format!("{HEADER}\n{HEADER}\n")),
        file("header-ended-by-cr", format!("{HEADER}\r\n")),
        file("last-line-without-end", format!("{HEADER}\nnote 1 words")),
        file("empty-line", format!("{HEADER}\n\nnote 1 words\n")),
        file("empty-last-line", format!("{HEADER}\nnote 1 words\n\n")),
        file("zeros", "\0".repeat(1 << 20)),
        file("100000-notes", format!("{HEADER}\n{}", "n\n".repeat(100_000))),
        Hostile::new(Kind::Evidence, "not-utf-8", [HEADER.as_bytes(), b"\nnote 1 \xff\n"].concat()),
        Hostile::new(Kind::Evidence, "half-a-pair", {
            [HEADER.as_bytes(), b"\nnote 1 \xed\xa0\x80\n"].concat()
        }),
    ]
}

fn notes() -> Vec<Hostile> {
    let letters = |count: usize| format!("note 1 {}", "w".repeat(count - "note 1 ".len()));
    vec![
        of("note", "note 18446744073709551615 \u{202e}words \u{2028} #").good(),
        of("note-of-spaces", "note 1  ").good(),
        of("note-of-no-words", "note 1 "),
        of("note-of-no-space", "note 1"),
        of("note-over-64-bits", "note 18446744073709551616 words").good(),
        of("note-of-5000-digits", &format!("note {} words", "9".repeat(5000))).good(),
        of("note-of-leading-zero", "note 01 words").good(),
        of("note-of-sign", "note +1 words").good(),
        of("note-of-arabic-digits", "note \u{661} words").good(),
        of("note-of-a-control", "note 1 a\u{1b}[2J"),
        of("note-of-delete", "note 1 a\u{7f}"),
        of("note-of-next-line", "note 1 a\u{85}"),
        of("note-of-a-late-control", "note 1 a\u{9f}"),
        of("note-of-cr", "note 1 a\r"),
        of("note-as-long-as-allowed", &letters(MAX_LINE_BYTES - 1)).good(),
        of("note-too-long", &letters(MAX_LINE_BYTES)),
        of("note-too-long-in-bytes", &format!("note 1 {}", "\u{2028}".repeat(12_000))),
        of("note-of-1-mb", &letters(1 << 20)),
        of("note-of-two-spaces", "note  1 words"),
    ]
}

fn lines() -> Vec<Hostile> {
    let signed = |message: &[u8]| {
        let entry = SignedEntry { message: message.to_vec(), signature: [7; 64], key: [9; 32] };
        Entry::Signed(entry).to_string()
    };
    let open = |bytes: &[u8]| Entry::Open(bytes.to_vec()).to_string();
    let note = Entry::note(UnixMicros(1), "words").to_string();
    let some = signed(b"abc");
    let [_, message, signature, key] =
        <[&str; 4]>::try_from(some.split(' ').collect::<Vec<_>>()).unwrap();
    vec![
        of("signed-by-nobody", &some).good(),
        of("signed-nothing", &format!("signed  {signature} {key}")),
        of("signed-without-key", &format!("signed {message} {signature}")),
        of("signed-and-more", &format!("{some} {key}")),
        of("signed-and-space", &format!("{some} ")),
        of("signed-two-spaces", &format!("signed  {message} {signature} {key}")),
        of("signed-short-signature", &format!("signed {message} {key} {key}")),
        of("signed-long-key", &format!("signed {message} {signature} {signature}")),
        of("signed-lengths-that-lie", &signed(&[0xff; 40])).good(),
        of("signed-lengths-of-nothing", &signed(&[0; 4000])).good(),
        of("open-strange", &open(b"abc")).good(),
        of("open-lengths-that-lie", &open(&[0xff; 40])).good(),
        of("open-lengths-of-nothing", &open(&[0; 4000])).good(),
        of("open-nothing", "open "),
        of("open-no-space", "open"),
        of("open-loose-bits", "open AB=="),
        of("open-no-padding", "open AA"),
        of("open-url-letters", "open _w=="),
        of("open-padding-too-much", "open AA==="),
        of("open-two", "open AAAA AAAA"),
        of("another-kind", "sealed AAAA"),
        of("kind-in-capitals", &note.to_uppercase()),
        of("kind-behind-space", &format!(" {note}")),
        of("kind-behind-mark", &format!("\u{feff}{note}")),
        of("kind-and-tab", "note\t1 words"),
    ]
}

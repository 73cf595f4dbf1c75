//! Files in short: lines `TIMES HEX`, a piece that stands there so often, and `= FROM LENGTH`, that
//! part of `bundles/honest.sabacc`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Longest piece that is looked for repeated, in bytes.
const MAX_PIECE: usize = 160;

/// Fewest bytes for which a line of its own is written.
const MIN_RUN: usize = 64;

/// Fewest bytes that are taken from the honest file.
const MIN_COPY: usize = 16;

/// Writes bytes in short.
pub(super) fn write(bytes: &[u8], honest: &[u8]) -> String {
    let mut places: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (place, window) in honest.windows(MIN_COPY).enumerate() {
        places.entry(window).or_default().push(place);
    }
    let (mut text, mut from, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let (short, length) = if let Some((piece, times)) = run(rest) {
            (hex_line(times, &rest[..piece]), piece * times)
        } else if let Some((place, length)) = copy(rest, honest, &places) {
            (format!("= {place} {length}\n"), length)
        } else {
            at += 1;
            continue;
        };
        text += &(hex_line(1, &bytes[from..at]) + &short);
        at += length;
        from = at;
    }
    text + &hex_line(1, &bytes[from..])
}

/// Finds a piece at the beginning that is repeated, and how often it stands there.
fn run(bytes: &[u8]) -> Option<(usize, usize)> {
    (1..=MAX_PIECE.min(bytes.len())).find_map(|piece| {
        let first = &bytes[..piece];
        if bytes.get(piece..2 * piece) != Some(first) {
            return None;
        }
        let times = bytes.chunks_exact(piece).take_while(|chunk| chunk == &first).count();
        (times * piece >= MIN_RUN).then_some((piece, times))
    })
}

/// Finds the longest part of the honest file that stands at the beginning: its place and length.
fn copy(
    bytes: &[u8],
    honest: &[u8],
    places: &BTreeMap<&[u8], Vec<usize>>,
) -> Option<(usize, usize)> {
    let places = places.get(bytes.get(..MIN_COPY)?)?;
    let common = |place: usize| {
        bytes.iter().zip(&honest[place..]).take_while(|(one, other)| one == other).count()
    };
    places.iter().map(|place| (*place, common(*place))).max_by_key(|(_, length)| *length)
}

fn hex_line(times: usize, bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return String::new();
    }
    let mut line = format!("{times} ");
    for byte in bytes {
        write!(line, "{byte:02x}").expect("a string takes it");
    }
    line + "\n"
}

/// Reads the bytes that [`write`] has written.
pub(super) fn read(text: &str, honest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in text.lines() {
        let (first, rest) = line.split_once(' ').expect("two words");
        if first == "=" {
            let (from, length) = rest.split_once(' ').expect("three words");
            let [from, length] = [from, length].map(|it| it.parse::<usize>().expect("a number"));
            bytes.extend(&honest[from..from + length]);
        } else {
            let digits = |at: usize| u8::from_str_radix(&rest[at..at + 2], 16).expect("digits");
            let piece: Vec<u8> = (0..rest.len()).step_by(2).map(digits).collect();
            bytes.extend(piece.repeat(first.parse().expect("a number")));
        }
    }
    bytes
}

//! Search for secrets in bytes of any kind: raw, and as text in the usual encodings.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes in a row that cannot match by chance.
pub(crate) const WINDOW: usize = 8;

/// Secrets to search for.
#[derive(Default)]
pub(crate) struct Secrets {
    /// Every window of each secret, and the secret's name.
    windows: BTreeMap<[u8; WINDOW], String>,
    /// The first two bytes of each window, to skip most of the haystack quickly.
    starts: BTreeSet<[u8; 2]>,
    /// Card codes, matched as words.
    codes: BTreeSet<String>,
    /// Texts, matched anywhere.
    texts: BTreeMap<String, String>,
}

impl Secrets {
    /// Adds a secret of at least [`WINDOW`] bytes; any window of it counts as found.
    pub(crate) fn bytes(&mut self, name: &str, secret: &[u8]) {
        assert!(secret.len() >= WINDOW, "{name} is too short to be told from chance");
        for window in secret.windows(WINDOW) {
            let window: [u8; WINDOW] = window.try_into().unwrap();
            self.starts.insert([window[0], window[1]]);
            self.windows.insert(window, name.to_owned());
        }
    }

    pub(crate) fn code(&mut self, code: &str) {
        self.codes.insert(code.to_owned());
    }

    pub(crate) fn text(&mut self, name: &str, text: &str) {
        self.texts.insert(text.to_owned(), name.to_owned());
    }

    /// Returns the secrets in some bytes, in any encoding.
    pub(crate) fn in_bytes(&self, haystack: &[u8]) -> BTreeSet<String> {
        let mut found = self.in_any(haystack);
        for reading in strided(haystack) {
            self.look(&reading, &mut found);
        }
        found
    }

    fn in_any(&self, haystack: &[u8]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.look(haystack, &mut found);
        for reading in runs(haystack) {
            self.look(&reading, &mut found);
        }
        let text = String::from_utf8_lossy(haystack);
        found.extend(self.texts.iter().filter(|it| text.contains(it.0)).map(|it| it.1.clone()));
        found
    }

    /// Returns the secrets in a text, with card codes matched as words.
    pub(crate) fn in_text(&self, text: &str) -> BTreeSet<String> {
        let mut found = self.in_any(text.as_bytes());
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        let codes = words.filter(|word| self.codes.contains(*word));
        found.extend(codes.map(|code| format!("card {code}")));
        found
    }

    fn look(&self, haystack: &[u8], found: &mut BTreeSet<String>) {
        for window in haystack.windows(WINDOW) {
            if self.starts.contains(&[window[0], window[1]])
                && let Some(name) = self.windows.get(window)
            {
                found.insert(name.clone());
            }
        }
    }
}

/// Every second and every fourth byte: small numbers in wide encodings.
fn strided(haystack: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let strides = [(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)];
    strides
        .into_iter()
        .map(|(step, from)| haystack.iter().skip(from).step_by(step).copied().collect::<Vec<u8>>())
}

/// Decodes hexadecimal, base64 and lists of numbers.
fn runs(haystack: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    let hexadecimal = long_runs(haystack, |byte| byte.is_ascii_hexdigit(), 2 * WINDOW);
    let hexadecimal = hexadecimal.flat_map(|run| [unhex(run), unhex(&run[1..])]);
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    let base64 = long_runs(haystack, base64, 12);
    let base64 = base64.flat_map(|run| (0..4).map(|from| unbase64(&run[from..])));
    let list = |byte: u8| byte.is_ascii_digit() || b", \\[]".contains(&byte);
    let lists = long_runs(haystack, list, 2 * WINDOW - 1).map(numbers);
    hexadecimal.chain(base64).chain(lists)
}

fn long_runs(
    haystack: &[u8],
    member: impl Fn(u8) -> bool + Copy,
    least: usize,
) -> impl Iterator<Item = &[u8]> {
    haystack.split(move |byte| !member(*byte)).filter(move |run| run.len() >= least)
}

fn unhex(digits: &[u8]) -> Vec<u8> {
    let value = |digit: u8| match digit {
        b'0'..=b'9' => digit - b'0',
        _ => digit.to_ascii_lowercase().wrapping_sub(b'a') + 10,
    };
    digits.chunks_exact(2).map(|two| value(two[0]) << 4 | value(two[1])).collect()
}

fn unbase64(letters: &[u8]) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    };
    let mut bytes = Vec::with_capacity(letters.len());
    for four in letters.chunks_exact(4) {
        let number = four.iter().fold(0_u32, |sum, letter| sum << 6 | u32::from(value(*letter)));
        bytes.extend(&number.to_be_bytes()[1..]);
    }
    bytes
}

/// Parses `[7, 255, 12]` as three bytes; numbers that are not bytes are skipped.
fn numbers(list: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(list);
    let words = text.split(|letter: char| !letter.is_ascii_digit());
    words.filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use base64ct::Encoding as _;

    use super::*;

    /// Distinct bytes in no order.
    fn seed() -> [u8; 64] {
        let mut at = 0_u8;
        [(); 64].map(|()| {
            at += 1;
            at.wrapping_mul(37).wrapping_add(11)
        })
    }

    fn secrets() -> Secrets {
        let mut secrets = Secrets::default();
        secrets.bytes("the seed", &seed());
        secrets.bytes("the shoe", &[3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]);
        secrets.code("S15");
        secrets.text("the password", "hunter2");
        secrets
    }

    fn check(haystack: &[u8], then: &[&str]) {
        let found = secrets().in_bytes(haystack);
        assert!(found.iter().eq(then), "{found:?} in {haystack:?}");
    }

    #[test]
    fn a_planted_secret_is_found_however_it_is_written() {
        let named = ["the seed"];
        check(&[&[7; 5], &seed()[..], &[7; 5]].concat(), &named);
        check(&[&[7; 5], &seed()[20..28], &[7; 5]].concat(), &named);
        let hex: String = seed().iter().map(|byte| format!("{byte:02x}")).collect();
        check(format!("seed={hex}.").as_bytes(), &named);
        check(format!("f{}", hex[30..62].to_uppercase()).as_bytes(), &named);
        check(format!("Seed {{ {:?} }}", &seed()[..12]).as_bytes(), &named);
        for from in 0..3 {
            let text = base64ct::Base64::encode_string(&seed()[from..from + 18]);
            check(format!("x: \"{text}\"").as_bytes(), &named);
            let text = base64ct::Base64Url::encode_string(&seed()[from..from + 18]);
            check(format!("x{text}").as_bytes(), &named);
        }
        let wide: Vec<u8> =
            [3_u32, 1, 4, 1, 5, 9, 2, 6].iter().flat_map(|it| it.to_be_bytes()).collect();
        check(&wide, &["the shoe"]);
        let wide: Vec<u8> =
            [3_u16, 1, 4, 1, 5, 9, 2, 6].iter().flat_map(|it| it.to_le_bytes()).collect();
        check(&[&[0], &wide[..]].concat(), &["the shoe"]);
        check(b"3 1 4 1 5 9 2 6", &["the shoe"]);
        check(b"postgres://x:hunter2@", &["the password"]);
    }

    #[test]
    fn what_is_no_secret_is_not_found() {
        check(&seed()[..7], &[]);
        check(b"3 1 4 1 5 9 2 7", &[]);
        check(&[0; 100], &[]);
        assert!(secrets().in_text("S1 S155 XS15 s15").is_empty());
    }

    #[test]
    fn a_card_is_found_as_a_word() {
        for text in ["S15", "deal p1 S15", "code: \"S15\"", "[S15,C2]"] {
            assert!(secrets().in_text(text).contains("card S15"), "{text}");
        }
    }
}

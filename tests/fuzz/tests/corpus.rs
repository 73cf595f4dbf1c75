//! The fuzz targets without a fuzzer: on the inputs that are kept, and on made-up ones, the same in
//! every run. A target that takes all of its inputs or none looks at nothing.

use std::path::{Path, PathBuf};

use fuzz::{bundle_file, evidence_file, keys_file, note_file};

/// Longest made-up input; long enough that a hand depends on it.
const LONGEST: u64 = 1024;

/// Numbers that look random and are the same in every run (SplitMix64).
struct Numbers(u64);

impl Numbers {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n.max(1)).expect("lengths fit");
        usize::try_from(self.next() % n).expect("it is below a length")
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.next() >> 56).expect("eight bits")
    }

    /// Bytes; or a kept input with some changes, where there is one.
    fn input(&mut self, kept: &[(PathBuf, Vec<u8>)]) -> Vec<u8> {
        if kept.is_empty() || self.below(8) == 0 {
            let length = (self.next() % LONGEST) >> self.below(8);
            return (0..length).map(|_| self.byte()).collect();
        }
        let mut input = kept[self.below(kept.len())].1.clone();
        for _ in 0..=self.below(6) {
            let from = self.below(input.len() + 1);
            let to = (from + self.below(8)).min(input.len());
            match self.below(3) {
                0 => drop(input.drain(from..to)),
                1 => drop(input.splice(from..to, [self.byte()])),
                _ => {
                    let part = input[from..to].to_vec();
                    let at = self.below(input.len() + 1);
                    drop(input.splice(at..at, part));
                }
            }
        }
        input
    }
}

/// Says which input is at work when a target panics.
struct AtWork<'a> {
    name: &'a str,
    input: &'a [u8],
}

impl Drop for AtWork<'_> {
    #[expect(clippy::print_stdout, reason = "a failed test shows its input")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let bytes: String = self.input.iter().map(|byte| format!("{byte:02x}")).collect();
            println!("the input of `{}`, in hexadecimal: {bytes}", self.name);
        }
    }
}

fn run(name: &str, input: &[u8], target: fn(&[u8]) -> bool) -> bool {
    let _at_work = AtWork { name, input };
    target(input)
}

/// Files of a folder and of those in it, by path.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for entry in entries {
        let path = entry.expect("a folder of the tree").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let bytes = std::fs::read(&path).expect("a file of the tree");
            found.push((path, bytes));
        }
    }
    found.sort();
    found
}

fn tree(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Runs a target on what is kept for it and on `made` inputs. Returns how many of how many are taken.
#[expect(clippy::print_stdout, reason = "a test shows what it looked at")]
fn run_all(name: &str, made: usize, target: fn(&[u8]) -> bool) -> (usize, usize) {
    let kept = files(&tree("bolero/tests/__fuzz__").join(name));
    let mut taken = kept.iter().filter(|(_, input)| run(name, input, target)).count();
    let mut numbers = Numbers(0);
    for _ in 0..made {
        taken += usize::from(run(name, &numbers.input(&kept), target));
    }
    let all = kept.len() + made;
    println!("{name}: {taken} of {all} inputs are taken");
    (taken, all)
}

fn check(name: &str, made: usize, target: fn(&[u8]) -> bool) {
    let (taken, all) = run_all(name, made, target);
    assert!(taken > 0 && taken < all, "{taken} of {all}");
}

/// Any bytes are a hand: what is not legal is refused move by move.
#[test]
fn moves() {
    let (taken, all) = run_all("moves", 100, fuzz::moves);
    assert_eq!(taken, all);
}

#[test]
fn lines() {
    check("lines", 1000, fuzz::lines);
}

#[test]
fn edits() {
    check("edits", 400, fuzz::edits);
}

#[test]
fn history_files() {
    check("files", 1000, fuzz::files);
}

#[test]
fn bundles() {
    check("bundles", 300, fuzz::bundles);
}

#[test]
fn checkpoints() {
    check("checkpoints", 2000, fuzz::checkpoints);
}

#[test]
fn keys() {
    check("keys", 2000, fuzz::keys);
}

#[test]
fn tiles() {
    check("tiles", 500, fuzz::tiles);
}

#[test]
fn evidence() {
    check("evidence", 2000, fuzz::evidence);
}

/// A hostile file in short, by lines: `TIMES HEX`, or `= FROM LENGTH` of the honest bundle.
fn expand(short: &[u8], honest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in str::from_utf8(short).expect("lines").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words[at].parse::<usize>().expect("a number");
        if words[0] == "=" {
            bytes.extend(&honest[number(1)..number(1) + number(2)]);
            continue;
        }
        let digits = words[1].as_bytes().chunks(2);
        let byte = |pair| u8::from_str_radix(str::from_utf8(pair).expect("digits"), 16);
        let piece: Vec<u8> = digits.map(|pair| byte(pair).expect("hexadecimal")).collect();
        bytes.extend(piece.repeat(number(0)));
    }
    bytes
}

/// The files that were made to do harm hold what the targets demand of every file: one spelling, and
/// work that is bounded by the size. Whether they are read is in the list.
#[test]
fn hostile_files() {
    let folder = tree("../golden/hostile");
    let read = |path: &str| std::fs::read(folder.join(path)).expect("a file of the tree");
    let honest = read("bundles/honest.sabacc");
    let list: serde_json::Value = serde_json::from_slice(&read("expected.json")).expect("JSON");
    let list = list.as_array().expect("a list");
    assert!(list.len() > 300, "{} files", list.len());
    for row in list {
        let text = |field: &str| row[field].as_str().expect("text");
        let (path, is_refused) = (text("file"), text("verdict") == "refused");
        let bytes = read(path);
        let bytes = if path.ends_with(".short") { expand(&bytes, &honest) } else { bytes };
        match text("kind") {
            "bundle" => assert_eq!(run(path, &bytes, bundle_file), !is_refused, "{path}"),
            "keys" => assert_eq!(run(path, &bytes, keys_file), !is_refused, "{path}"),
            "note" => assert_eq!(run(path, &bytes, note_file), !is_refused, "{path}"),
            // A note of another key, or with another text, is a note all the same.
            "checkpoint" => assert!(run(path, &bytes, note_file) || is_refused, "{path}"),
            "witness_keys" => assert!(run(path, &bytes, keys_file) || is_refused, "{path}"),
            // Copies for others are shorter than what may be read.
            "evidence" => assert!(!run(path, &bytes, evidence_file) || !is_refused, "{path}"),
            other => panic!("no such kind: {other}"),
        }
    }
}

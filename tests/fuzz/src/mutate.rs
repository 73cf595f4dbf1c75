//! Changes to files.

use crate::bytes::Bytes;

/// Words that stand in files of some kind, and words that should not.
pub(crate) type Pieces = &'static [&'static str];

/// Most changes to one file.
const MAX_CHANGES: u64 = 6;

/// Changes a file in a few places: parts of it moved, bytes exchanged, `pieces` put in.
pub(crate) fn mutate(bytes: &mut Bytes<'_>, file: &mut Vec<u8>, pieces: Pieces) {
    for _ in 0..bytes.below(MAX_CHANGES) {
        let at = bytes.index(file.len() + 1);
        let cut = if bytes.below(2) == 0 { 0 } else { bytes.index(24) };
        let end = (at + cut).min(file.len());
        match bytes.below(3) {
            0 => {
                let from = bytes.index(file.len() + 1);
                let to = (from + bytes.index(80)).min(file.len());
                let moved = file[from..to].to_vec();
                file.splice(at..end, moved);
            }
            1 => drop(file.splice(at..end, [bytes.byte()])),
            _ => drop(file.splice(at..end, bytes.one_of(pieces).bytes())),
        }
    }
}

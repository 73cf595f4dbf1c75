use super::*;

const KEY: EvidenceKey =
    EvidenceKey { player: Some(PlayerId([7; 16])), table: TableId([1; 16]), hand_no: 5 };

fn note(words: &str) -> Entry {
    Entry::note(UnixMicros(1), words)
}

#[test]
fn lines_are_there_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let directory = EvidenceDirectory::open(folder.path().join("new/evidence")).unwrap();
    assert_eq!(directory.load(&KEY).unwrap(), []);
    assert_eq!(directory.last_hand(KEY.player, KEY.table).unwrap(), None);
    directory.append(&KEY, &[note("one")]).unwrap();
    directory.append(&KEY, &[note("two"), note("three")]).unwrap();
    let other = EvidenceKey { player: None, hand_no: 12, ..KEY };
    directory.append(&other, &[note("seen")]).unwrap();
    let again = EvidenceDirectory::open(folder.path().join("new/evidence")).unwrap();
    assert_eq!(again.load(&KEY).unwrap(), [note("one"), note("two"), note("three")]);
    assert_eq!(again.last_hand(KEY.player, KEY.table).unwrap(), Some(5));
    assert_eq!(again.last_hand(None, KEY.table).unwrap(), Some(12));
    assert_eq!(again.secret().expose(), directory.secret().expose());
    let text = fs::read(again.path(&KEY)).unwrap();
    assert_eq!(text, b"sabacc-evidence 1\nnote 1 one\nnote 1 two\nnote 1 three\n");
}

/// The write of a line was cut off at any byte.
#[test]
fn a_line_cut_off_by_a_crash_is_no_line() {
    let folder = tempfile::tempdir().unwrap();
    let directory = EvidenceDirectory::open(folder.path()).unwrap();
    directory.append(&KEY, &[note("one")]).unwrap();
    let whole = fs::read(directory.path(&KEY)).unwrap();
    for length in 0..=whole.len() {
        fs::write(directory.path(&KEY), &whole[..length]).unwrap();
        let before = directory.load(&KEY).unwrap();
        assert_eq!(before.len(), usize::from(length == whole.len()), "{length}");
        directory.append(&KEY, &[note("two")]).unwrap();
        let after = directory.load(&KEY).unwrap();
        assert_eq!(after, [before, vec![note("two")]].concat(), "{length}");
    }
    fs::write(directory.path(&KEY), b"something else\n").unwrap();
    let error = directory.load(&KEY).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert!(error.to_string().contains("5.evidence: line 1"), "{error}");
}

#[cfg(unix)]
#[test]
fn nobody_but_the_owner_may_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let directory = EvidenceDirectory::open(folder.path().join("evidence")).unwrap();
    directory.append(&KEY, &[note("one")]).unwrap();
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(directory.path(&KEY)), 0o600);
    assert_eq!(mode(directory.table(KEY.player, KEY.table)), 0o700);
    assert_eq!(mode(directory.root.join("secret")), 0o600);
    assert_eq!(mode(directory.root.clone()), 0o700);
}

#[test]
fn old_files_go_and_the_newest_number_stays() {
    let folder = tempfile::tempdir().unwrap();
    let directory = EvidenceDirectory::open(folder.path()).unwrap();
    for hand_no in [5, 9, 10] {
        directory.append(&EvidenceKey { hand_no, ..KEY }, &[note("one")]).unwrap();
    }
    let modified = fs::metadata(directory.path(&KEY)).unwrap().modified().unwrap();
    let written = UnixMicros(0).plus(modified.duration_since(UNIX_EPOCH).unwrap());
    let day = Duration::from_secs(24 * 60 * 60);
    let numbers = || {
        let mut files = hand_files(&directory.table(KEY.player, KEY.table)).unwrap();
        files.sort_unstable();
        files.into_iter().map(|(number, _)| number).collect::<Vec<_>>()
    };
    directory.prune(written.plus(89 * day)).unwrap();
    assert_eq!(numbers(), [5, 9, 10]);
    directory.prune(written.plus(91 * day)).unwrap();
    assert_eq!(numbers(), [10]);
}

#[test]
fn a_damaged_secret_is_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("secret"), b"short").unwrap();
    let error = EvidenceDirectory::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("32 bytes"), "{error}");
}

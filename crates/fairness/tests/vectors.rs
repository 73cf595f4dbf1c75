//! Checks the vectors in `vectors/v1.json`, made by an implementation in another language that
//! shares no code with this one (`vectors/make.py`), and the published figures, which are repeated
//! here.

use anyhow::{Context as _, Result, ensure};
use fairness::{
    Beacon, ClientCommitment, Commitment, Context, Entropy, Handle, Keys, Operation,
    OperationRequest, Outcome, ProvedCard, PublicOutcome, RowStatus, Seed, Shoe, ShuffleInput,
    Transcript, TranscriptRow, deck, perform,
};
use primitives::{PlayerId, TableId};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

#[derive(Deserialize)]
struct File {
    scheme: String,
    published: Published,
    sequences: Vec<Sequence>,
}

#[derive(Deserialize, PartialEq, Debug)]
struct Published {
    ctx: String,
    dc: String,
    tr: String,
    k_hand: String,
    k_salt: String,
    shuffle: String,
    root: String,
    roll: Vec<u8>,
    pulse: u8,
    pick: u32,
    sample: Vec<u32>,
}

#[derive(Deserialize)]
struct Sequence {
    origin: String,
    table: String,
    hand_no: String,
    rules: String,
    seed: String,
    beacon: Option<BeaconOf>,
    rows: Vec<RowOf>,
    ctx: String,
    dc: String,
    tr: String,
    keys: String,
    operations: Vec<OperationOf>,
}

#[derive(Deserialize)]
struct BeaconOf {
    kind: u8,
    round: String,
    value: String,
}

#[derive(Deserialize)]
struct RowOf {
    seat: u8,
    player: String,
    status: u8,
    commitment: Option<String>,
    entropy: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Kind {
    Shuffle {
        pile: u8,
        range: Option<(u16, u16)>,
        cards: Option<String>,
        first: String,
        all: String,
        root: String,
        leaf: Leaf,
    },
    Roll {
        sides: Vec<u8>,
        result: Vec<u8>,
    },
    Pulse {
        ppm: u32,
        result: u8,
    },
    Pick {
        n: u32,
        result: u32,
    },
    Sample {
        n: u32,
        k: u32,
        result: Vec<u32>,
    },
}

#[derive(Deserialize)]
struct OperationOf {
    index: u32,
    #[serde(flatten)]
    kind: Kind,
}

#[derive(Deserialize)]
struct Leaf {
    position: u16,
    record: String,
    hash: String,
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Result<Vec<u8>> {
    ensure!(text.len().is_multiple_of(2), "an odd number of digits");
    let pairs = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16));
    Ok(pairs.collect::<Result<_, _>>()?)
}

fn bytes<const N: usize>(text: &str) -> Result<[u8; N]> {
    unhex(text)?.try_into().ok().with_context(|| format!("{text} is not {N} bytes"))
}

fn file() -> Result<File> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/vectors/v1.json");
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

/// The bytes 0, 1, 2 …
fn counting<const N: usize>() -> [u8; N] {
    std::array::from_fn(|at| u8::try_from(at).expect("at most 64"))
}

/// The hand of the published figures.
fn published_hand() -> Result<(Context, Commitment, Transcript, Keys)> {
    let seed = Seed::new(Zeroizing::new(counting()));
    let rules = Sha256::digest(b"rules").into();
    let context = Context::new("sabacc.example/room1", TableId(counting()), 7, &rules);
    let dealer = Commitment::new(&context, &seed);
    let row = |seat, player, status, entropy| {
        let (player, entropy) = (PlayerId([player; 16]), Entropy([entropy; 32]));
        let commitment = ClientCommitment::new(&context, &dealer, seat, player, &entropy);
        TranscriptRow { seat, player, status, commitment, entropy }
    };
    let rows = [
        row(1, 0xa1, RowStatus::Revealed, 0x11),
        row(3, 0xa2, RowStatus::Revealed, 0x22),
        row(4, 0xa3, RowStatus::Withheld, 0x33),
    ];
    let transcript = Transcript::try_new(&context, &dealer, None, &rows)?;
    let keys = Keys::derive(&transcript, &seed);
    Ok((context, dealer, transcript, keys))
}

fn published() -> Result<Published> {
    let (context, dealer, transcript, keys) = published_hand()?;
    let cards = (0..76).collect();
    let Outcome::Shuffled(deck) = perform(&keys, 0, &Operation::Shuffle { pile: 0, cards })? else {
        panic!("a shuffle shuffles")
    };
    let Outcome::Rolled(roll) = perform(&keys, 1, &Operation::Roll { sides: vec![6, 6] })? else {
        panic!("a roll rolls")
    };
    let Outcome::Pulsed(pulse) = perform(&keys, 2, &Operation::Pulse { ppm: 100_000 })? else {
        panic!("a pulse pulses")
    };
    let Outcome::Picked(pick) = perform(&keys, 3, &Operation::Pick { n: 4 })? else {
        panic!("a pick picks")
    };
    let Outcome::Sampled(sample) = perform(&keys, 4, &Operation::Sample { n: 16, k: 3 })? else {
        panic!("a sample samples")
    };
    let published = Published {
        ctx: hex(&context.0),
        dc: hex(&dealer.0),
        tr: hex(&transcript.0),
        k_hand: hex(keys.expose_hand()),
        k_salt: hex(keys.expose_salt()),
        shuffle: hex(&deck),
        root: hex(&deck::root(&keys, 0, &deck)),
        roll,
        pulse: u8::from(pulse),
        pick,
        sample,
    };
    Ok(published)
}

/// fairness/SPEC.md §11.2, §11.3, §11.4.
#[test]
fn the_published_figures() -> Result<()> {
    let here = published()?;
    let file = file()?;
    assert_eq!(file.scheme, "sabacc/fair/v1");
    assert_eq!(here, file.published);
    assert_eq!(here.ctx, "9d9aeb6be9e330227590a61d02bbb8c483f4f1d7c779cc7d462329a443d2403f");
    assert_eq!(here.dc, "d56d4c8460dd1b4824c86abe4b2cc4cb8c7686d84e1532f6b9788c5d68031c17");
    assert_eq!(here.tr, "e1db4a15128673ea790269da500033052752d3f9bc8575e28447445d1d91a101");
    let k_hand = "7d2d37eda17ec07f0112222ce4a05318351a6535a0b5d2ff480caa9dcbc51ab5\
                  f5da0033e15221619a82edb49c3a8e16ac6081e84dae6c5743827866a86184a9";
    assert_eq!(here.k_hand, k_hand);
    let k_salt = "d1d7d16a25454766a36ea39f862f4d885bfa23a4389802542f9abc68f6482f63\
                  0f1acd779d26e90bf3c580ad8d1893506e247dbd6817be28b621ef3233530ce2";
    assert_eq!(here.k_salt, k_salt);
    assert_eq!(unhex(&here.shuffle)?[..12], [44, 19, 58, 60, 70, 56, 33, 55, 30, 49, 73, 68]);
    assert_eq!(here.root, "e5ac9fb5845ab6e4f2f65fdafaf2ea28ad7105e6fd0c822404eff59b169a6ae6");
    assert_eq!(here.roll, [5, 3]);
    assert_eq!((here.pulse, here.pick), (0, 3));
    assert_eq!(here.sample, [8, 10, 3]);
    Ok(())
}

/// A shoe's answer has the published root, and each of its cards is proved against that root, with
/// every part of the proof needed.
/// fairness/SPEC.md §7.3, §7.4, §11.4.
#[test]
fn every_card_of_the_published_shuffle_is_proved() -> Result<()> {
    let (_, _, _, keys) = published_hand()?;
    let order = unhex(&published()?.shuffle)?;
    let mut shoe = Shoe::new(keys);
    let input = ShuffleInput::Fresh { first: 0, count: 76 };
    let PublicOutcome::Shuffled { root, count } =
        shoe.perform(0, &OperationRequest::Shuffle { pile: 0, input })?
    else {
        panic!("a shuffle shuffles")
    };
    let published = "e5ac9fb5845ab6e4f2f65fdafaf2ea28ad7105e6fd0c822404eff59b169a6ae6";
    assert_eq!((hex(&root), count), (published.to_owned(), 76));
    for (position, card) in (0_u16..).zip(order) {
        let opened = shoe.prove_current(Handle { op: 0, position })?;
        assert_eq!((opened.card, opened.root()), (card, Some(root)));
        let mut salt = opened.salt;
        salt[31] ^= 1;
        let mut path = opened.path.clone();
        path[0][0] ^= 1;
        let forged = [
            ProvedCard { card: opened.card ^ 1, ..opened.clone() },
            ProvedCard { salt, ..opened.clone() },
            ProvedCard { path, ..opened.clone() },
            ProvedCard { path: opened.path[1..].to_vec(), ..opened.clone() },
            ProvedCard { handle: Handle { op: 1, position }, ..opened.clone() },
            ProvedCard {
                handle: Handle { op: 0, position: (position + 1) % 76 },
                ..opened.clone()
            },
            ProvedCard { handle: Handle { op: 0, position: 76 }, ..opened },
        ];
        for forged in forged {
            assert_ne!(forged.root(), Some(root), "{forged:?}");
        }
    }
    Ok(())
}

/// fairness/SPEC.md §4.3, §5.1, §5.2, §5.5, §5.7, §6.2, §6.5, §6.6, §7.1, §7.2, §7.3, §11.5.
#[test]
fn every_random_sequence() -> Result<()> {
    let file = file()?;
    assert_eq!(file.sequences.len(), 1000);
    for (number, sequence) in file.sequences.iter().enumerate() {
        check(sequence).with_context(|| format!("sequence {number}"))?;
    }
    Ok(())
}

fn check(given: &Sequence) -> Result<()> {
    let table = TableId(bytes(&given.table)?);
    let context = Context::new(&given.origin, table, given.hand_no.parse()?, &bytes(&given.rules)?);
    assert_eq!(hex(&context.0), given.ctx);
    let seed = Seed::new(Zeroizing::new(bytes(&given.seed)?));
    let dealer = Commitment::new(&context, &seed);
    assert_eq!(hex(&dealer.0), given.dc);
    assert!(dealer.opens(&context, &seed));
    let beacon = match &given.beacon {
        None => None,
        Some(BeaconOf { kind, round, value }) => {
            Some(Beacon { kind: *kind, round: round.parse()?, value: bytes(value)? })
        }
    };
    let rows = given.rows.iter().map(row).collect::<Result<Vec<_>>>()?;
    let transcript = Transcript::try_new(&context, &dealer, beacon, &rows)?;
    assert_eq!(hex(&transcript.0), given.tr);
    let keys = Keys::derive(&transcript, &seed);
    let both = [&keys.expose_hand()[..], &keys.expose_salt()[..]].concat();
    assert_eq!(hex(&Sha256::digest(both)), given.keys);
    given.operations.iter().try_for_each(|operation| check_operation(&keys, operation))
}

/// Reads a row. Fields that the file leaves out are filled with junk, which must not count.
fn row(row: &RowOf) -> Result<TranscriptRow> {
    let field = |text: &Option<String>| text.as_deref().map_or(Ok([0xEE; 32]), bytes);
    let status = match row.status {
        1 => RowStatus::Revealed,
        2 => RowStatus::Withheld,
        _ => RowStatus::Absent,
    };
    assert_eq!(status as u8, row.status);
    Ok(TranscriptRow {
        seat: row.seat,
        player: PlayerId(bytes(&row.player)?),
        status,
        commitment: ClientCommitment(field(&row.commitment)?),
        entropy: Entropy(field(&row.entropy)?),
    })
}

fn check_operation(keys: &Keys, OperationOf { index, kind }: &OperationOf) -> Result<()> {
    let (operation, expected) = match kind {
        Kind::Shuffle { .. } => return check_shuffle(keys, *index, kind),
        Kind::Roll { sides, result } => {
            (Operation::Roll { sides: sides.clone() }, Outcome::Rolled(result.clone()))
        }
        Kind::Pulse { ppm, result } => {
            (Operation::Pulse { ppm: *ppm }, Outcome::Pulsed(*result == 1))
        }
        Kind::Pick { n, result } => (Operation::Pick { n: *n }, Outcome::Picked(*result)),
        Kind::Sample { n, k, result } => {
            (Operation::Sample { n: *n, k: *k }, Outcome::Sampled(result.clone()))
        }
    };
    assert_eq!(perform(keys, *index, &operation)?, expected, "operation {index}");
    Ok(())
}

fn check_shuffle(keys: &Keys, index: u32, kind: &Kind) -> Result<()> {
    let Kind::Shuffle { pile, range, cards, first, all, root, leaf } = kind else {
        panic!("called for shuffles")
    };
    let cards = match (range, cards) {
        (Some((first, count)), None) => {
            (*first..first + count).map(u8::try_from).collect::<Result<_, _>>()?
        }
        (None, Some(cards)) => unhex(cards)?,
        both => panic!("a range or cards, not {both:?}"),
    };
    let Outcome::Shuffled(deck) = perform(keys, index, &Operation::Shuffle { pile: *pile, cards })?
    else {
        panic!("a shuffle shuffles")
    };
    assert_eq!(hex(&deck[..deck.len().min(12)]), *first);
    assert_eq!(hex(&Sha256::digest(&deck)), *all);
    assert_eq!(hex(&deck::root(keys, index, &deck)), *root);
    let card = deck[usize::from(leaf.position)];
    let record = deck::record(index, leaf.position, card, &deck::salt(keys, index, leaf.position));
    assert_eq!(hex(&record), leaf.record);
    assert_eq!(deck::records(keys, index, &deck)[usize::from(leaf.position)], record);
    assert_eq!(hex(&Sha256::digest([&[0], &record[..]].concat())), leaf.hash);
    Ok(())
}

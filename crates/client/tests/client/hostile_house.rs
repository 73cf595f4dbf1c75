//! A house that cheats: a table service over gRPC, with the keys of table and dealer, and a seat of
//! its own. Against it play the clients that integrators use, each with its evidence on disk.
//!
//! Each guest has a line of its own to the house, so it can be sent something else than the others.

mod closings;
mod demands;
mod numbers;
mod seeds;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use client::{EvidenceDirectory, FairnessViolation};
use fairness::evidence::{self, Entry, SignedEntry, Statement};
use fairness::{ClientCommitment, ClosingRow, Entropy, RowStatus, TranscriptRow};
use primitives::{PlayerId, UnixMicros};
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use system::clock::{Clock, ManualClock};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::fake::{EntropyAnswer, EntropyRequest, FakeServer, ME, Table};
use crate::hand_fixture::{HAND, HandFixture, OTHER, OTHER_PLAYER, SEAT, TABLE};

/// Seat of the house itself.
const HOUSE_SEAT: u8 = 7;
const HOUSE_PLAYER: PlayerId = PlayerId([0x77; 16]);

/// Longest wait of a test that fails.
const LONGEST: Duration = Duration::from_secs(20);
/// Time in which a guest would have revealed, if it did.
const A_WHILE: Duration = Duration::from_millis(300);

/// A seat that is dealt in.
#[derive(Debug, Clone, Copy)]
struct Seat {
    number: u8,
    player: PlayerId,
}

/// The guests' seats.
const GUESTS: [Seat; 2] =
    [Seat { number: SEAT, player: PlayerId(ME) }, Seat { number: OTHER, player: OTHER_PLAYER }];

/// Messages of the guests to the house.
#[derive(Default)]
struct Received {
    commitments: BTreeMap<u8, ClientCommitment>,
    reveals: BTreeMap<u8, Entropy>,
}

struct RoomFixture {
    fixture: Arc<HandFixture>,
    received: Arc<Mutex<Received>>,
    /// The guests' clock.
    clock: Arc<ManualClock>,
}

impl RoomFixture {
    fn new() -> RoomFixture {
        RoomFixture {
            fixture: Arc::new(HandFixture::new("dice")),
            received: Arc::default(),
            clock: Arc::new(ManualClock::new(UnixMicros(1_700_000_000_000_000))),
        }
    }

    fn received(&self) -> MutexGuard<'_, Received> {
        self.received.lock().unwrap()
    }

    /// Seats the first guest, who commits.
    async fn seat_one(&self) -> Guest {
        let guest = self.seat(GUESTS[0]).await;
        self.until(|received| received.commitments.len() == 1).await;
        guest
    }

    /// Seats both guests, who commit.
    async fn seat_both(&self) -> [Guest; 2] {
        let guests = [self.seat(GUESTS[0]).await, self.seat(GUESTS[1]).await];
        self.until(|received| received.commitments.len() == 2).await;
        guests
    }

    async fn seat(&self, seat: Seat) -> Guest {
        let view = pb::TableView { next_hand: Some(self.fixture.next_hand()), ..self.view() };
        self.seat_in(tempfile::tempdir().unwrap(), seat, view).await
    }

    /// Seats a guest whose evidence is in this directory.
    async fn seat_in(&self, directory: TempDir, seat: Seat, view: pb::TableView) -> Guest {
        let line = self.line(seat, Table { view, ..Table::default() });
        let evidence = Arc::new(EvidenceDirectory::open(directory.path()).unwrap());
        let client = line.client(0).await.with_trusted_keys(self.fixture.trusted_keys());
        let client = client.with_evidence(evidence);
        let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
        let chance = client.chance(TABLE, Some(seat.player)).with_clock(clock);
        let mut play = client.play(TABLE).with_chance(chance);
        let playing = tokio::spawn(async move {
            loop {
                match play.next().await {
                    Ok(Some(_)) => {}
                    Ok(None) => return None,
                    Err(client::Error::FairnessViolation(found)) => return Some(found),
                    Err(error) => panic!("{error}"),
                }
            }
        });
        Guest { seat, line, directory, playing }
    }

    /// A guest's line to the house. Every part in chance is kept, and gets its receipt.
    fn line(&self, seat: Seat, table: Table) -> FakeServer {
        let (fixture, received) = (Arc::clone(&self.fixture), Arc::clone(&self.received));
        FakeServer::new(table).on_entropy(Box::new(move |_, part| {
            let mut received = received.lock().unwrap();
            let Seat { number, player } = seat;
            Ok(match part {
                EntropyRequest::Commit(commit) => {
                    let commitment = commit.commitment.as_slice().try_into().unwrap();
                    let commitment = ClientCommitment(commitment);
                    received.commitments.insert(number, commitment);
                    let row = ClosingRow { seat: number, player, commitment: Some(commitment) };
                    EntropyAnswer::Committed(fixture.receipt_of(&row, &commit.key))
                }
                EntropyRequest::Reveal(reveal) => {
                    let entropy = Entropy(reveal.entropy.as_slice().try_into().unwrap());
                    received.reveals.insert(number, entropy);
                    EntropyAnswer::Revealed(Some(
                        fixture.reveal_receipt_of(number, player, entropy),
                    ))
                }
            })
        }))
    }

    fn view(&self) -> pb::TableView {
        let mut view = self.fixture.view();
        view.seats.push(pb::SeatView {
            seat: HOUSE_SEAT.into(),
            player_id: HOUSE_PLAYER.to_string(),
            stack_credits: 500,
            state: pb::SeatState::Playing.into(),
            ..pb::SeatView::default()
        });
        view
    }

    /// Waits until the guests have sent this.
    async fn until(&self, done: impl Fn(&Received) -> bool) {
        let reached = async {
            while !done(&self.received()) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(LONGEST, reached).await.expect("the guests take part");
    }

    /// Rows of the closing: the guests' commitments, and one to this number of the house's own.
    fn closing_rows(&self, own: &Entropy) -> Vec<ClosingRow> {
        let received = self.received();
        let row = |Seat { number: seat, player }| {
            let commitment = received.commitments.get(&seat).copied();
            ClosingRow { seat, player, commitment }
        };
        let commitment = self.fixture.commitment_of(HOUSE_SEAT, HOUSE_PLAYER, own);
        let own =
            ClosingRow { seat: HOUSE_SEAT, player: HOUSE_PLAYER, commitment: Some(commitment) };
        GUESTS.into_iter().map(row).chain([own]).collect()
    }

    /// Rows of the transcript: what the guests have revealed, and this number of the house's own.
    fn transcript_rows(&self, own: &Entropy) -> Vec<TranscriptRow> {
        let closed = self.closing_rows(own);
        let received = self.received();
        let row = |ClosingRow { seat, player, commitment }| {
            let entropy = if seat == HOUSE_SEAT { Some(own) } else { received.reveals.get(&seat) };
            let status = if entropy.is_some() { RowStatus::Revealed } else { RowStatus::Absent };
            let commitment = commitment.unwrap_or(ClientCommitment([0; 32]));
            let entropy = entropy.copied().unwrap_or(Entropy([0; 32]));
            TranscriptRow { seat, player, status, commitment, entropy }
        };
        closed.into_iter().map(row).collect()
    }

    fn roster() -> Vec<u32> {
        GUESTS.iter().map(|seat| seat.number).chain([HOUSE_SEAT]).map(u32::from).collect()
    }

    /// The open hand, before anything is closed.
    fn open(&self) -> pb::Entropy {
        let committed: Vec<u8> = self.received().commitments.keys().copied().collect();
        pb::Entropy { roster: RoomFixture::roster(), ..self.fixture.entropy(false, &committed) }
    }

    /// The hand closed with this number of the house's own.
    fn closed(&self, own: &Entropy) -> pb::Entropy {
        let closed = self.fixture.closed_with(&self.closing_rows(own));
        pb::Entropy { roster: RoomFixture::roster(), ..closed }
    }

    /// The hand dealt from this number of the house's own.
    fn started(&self, own: &Entropy) -> pb::HandStarted {
        self.fixture.started(&self.transcript_rows(own))
    }

    /// Whether the dealer's key signed this.
    fn is_dealers(&self, entry: &Entry) -> bool {
        signed(entry).is_some_and(|signed| {
            signed.key == self.fixture.dealer.verifying_key().to_bytes()
                && signed.statement().is_ok()
        })
    }
}

/// A client at its seat.
struct Guest {
    seat: Seat,
    line: FakeServer,
    directory: TempDir,
    /// The violation that it found, or none if the table closed before.
    playing: JoinHandle<Option<Box<FairnessViolation>>>,
}

impl Guest {
    fn send(&self, what: What) {
        self.line.table().push(what);
    }

    /// Waits for the violation that the guest finds.
    async fn distrusts(self) -> Caught {
        let found = tokio::time::timeout(LONGEST, self.playing).await.expect("it is found");
        let found = found.unwrap().expect("it is found before the table closes");
        Caught { found, evidence: read(self.directory.path(), self.seat.player) }
    }

    /// Closes the table, at which the guest has found nothing. Returns its evidence.
    async fn leaves_content(self) -> Vec<Entry> {
        self.send(What::Closed(pb::TableClosed {}));
        self.line.table().end(pb::EndReason::TableClosed);
        let found = tokio::time::timeout(LONGEST, self.playing).await.expect("the table closes");
        assert_eq!(found.unwrap(), None);
        read(self.directory.path(), self.seat.player)
    }
}

/// A violation, and the evidence of the hand that lies on the guest's disk.
struct Caught {
    found: Box<FairnessViolation>,
    evidence: Vec<Entry>,
}

/// Reads the evidence of the hand.
fn read(directory: &Path, player: PlayerId) -> Vec<Entry> {
    let path = directory.join(player.to_string()).join(TABLE.to_string());
    let bytes = std::fs::read(path.join(format!("{HAND}.evidence"))).unwrap();
    evidence::parse(&bytes, evidence::MAX_COPY_BYTES).unwrap()
}

fn signed(entry: &Entry) -> Option<&SignedEntry> {
    match entry {
        Entry::Signed(signed) => Some(signed),
        Entry::Open(_) | Entry::Note { .. } => None,
    }
}

/// Signed texts among entries.
fn statements(entries: &[Entry]) -> Vec<Statement> {
    entries.iter().filter_map(signed).map(|signed| signed.statement().unwrap()).collect()
}

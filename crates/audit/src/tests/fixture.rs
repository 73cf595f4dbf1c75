//! Fixture: honest records of made-up tables.
//!
//! A [`TableFixture`] has one table with its dealer and its wallet, no network and a clock of its own. It
//! plays hands by random legal moves and writes into its [`Script`] the events that the services
//! would write, in their order. A number determines the script. A test changes one record and looks
//! which check fails; [`Script::records`] chains the changed records anew.

mod bundle;
mod commitment;
mod entropy;
mod hand;
mod script;
mod seats;
mod suspension;

use std::collections::{BTreeMap, BTreeSet};

use ::ledger::{Account, Amount, Command, Kind, Ledger, Leg, Transfer};
use ed25519_dalek::SigningKey;
use primitives::{Credits, HandId, PlayerId, RequestId, TableId, UnixMicros};
use proto::event::v1 as pb;
use rules::TableSettings;
use sha2::{Digest, Sha256};
use wire::{DealerRecord, TableRecord};

use crate::hand::TextKey;

pub(crate) use bundle::{bundle, log_key, signed_log, trusted};
pub(crate) use script::{AnyRecord, Entry, LogName, Script};
pub(crate) use suspension::{Suspension, SuspensionEnd};

use commitment::Secret;

/// Seconds for a decision at every table.
pub(crate) const ACTION_SECONDS: u32 = 20;
/// Seconds of a time bank at every table.
pub(crate) const BANK_SECONDS: u32 = 30;
const BUY_IN: u64 = 2000;
/// Time between two events, in microseconds.
const STEP_MICROS: u64 = 700;
/// Origins of the logs, in the order of [`crate::bundle::LOGS`].
pub(crate) const ORIGINS: [&str; 3] =
    ["specimen.example/table", "specimen.example/dealer", "specimen.example/wallet"];
/// Secret keys of the logs, in the order of [`crate::bundle::LOGS`]. A dishonest operator has them.
pub(crate) const SECRETS: [[u8; 32]; 3] = [[5; 32], [7; 32], [9; 32]];

/// A taken seat.
#[derive(Debug, Clone)]
pub(crate) struct Seat {
    pub(crate) player: PlayerId,
    pub(crate) stack: u64,
    misses: u32,
    taken_at: UnixMicros,
    /// Numbers in which the player withheld.
    withheld: u32,
    /// The first hand that the player is dealt into again, and the time before which they are not.
    excluded_until: u64,
    excluded_until_micros: u64,
}

/// Behaviour of a seat in the entropy of a hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntropyBehaviour {
    /// Commits with a key before the hand is open, reveals, and signs decisions.
    Reveals,
    /// Commits without a key after the hand is open, and reveals.
    Late,
    /// Does not commit.
    Absent,
    /// Commits and does not reveal.
    Withholds,
    /// Commits, does not reveal in time, and opens the number after it was burnt.
    OpensLate,
    /// Commits, and the table acts as if the seat had not.
    Dropped,
}

/// Options for the hands of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct HandOptions {
    /// By seat. A seat that is not named reveals if its number is odd, and is absent otherwise.
    pub(crate) entropy: BTreeMap<u32, EntropyBehaviour>,
    /// The dealer falls silent.
    pub(crate) suspension: Option<Suspension>,
    /// The table burns the number although nobody has withheld.
    pub(crate) burns_anyway: bool,
    /// Commitments are closed although too few have committed.
    pub(crate) closes_anyway: bool,
    /// Settlements have no legs of 0 credits.
    pub(crate) without_zero_legs: bool,
    /// Seats that the house marks as its own.
    pub(crate) house_seats: BTreeSet<u32>,
}

/// A table with the records of all its services.
#[derive(Clone)]
pub(crate) struct TableFixture {
    pub(crate) script: Script,
    pub(crate) table: TableId,
    pub(crate) seats: BTreeMap<u32, Seat>,
    pub(crate) hand_no: u64,
    pub(crate) options: HandOptions,
    pub(crate) settings: TableSettings,
    sabacc_pot: u64,
    carried_pot: u64,
    button: Option<u32>,
    rule_set: String,
    /// The commitment to the next hand.
    next_secret: Option<Secret>,
    ledger: Ledger,
    key: SigningKey,
    now: u64,
    random_state: u64,
}

impl TableFixture {
    /// Creates a table without players. `variant` is the id of a variant of the rules.
    ///
    /// # Panics
    /// If there is no such variant.
    #[must_use]
    pub(crate) fn open(number: u64, variant: &str) -> TableFixture {
        let variant = rules::variant(variant).expect("a variant of the registry");
        let rule_set = rules::RuleSet::defaults(variant).canonical();
        TableFixture::with_rules(number, rule_set)
    }

    /// Creates a table from the canonical text of a rule set.
    #[must_use]
    pub(crate) fn with_rules(number: u64, rule_set: String) -> TableFixture {
        TableFixture::with_settings(number, rule_set, TableSettings::default())
    }

    /// Creates a table from the canonical text of a rule set, with settings.
    #[must_use]
    pub(crate) fn with_settings(
        number: u64,
        rule_set: String,
        settings: TableSettings,
    ) -> TableFixture {
        let mut room = TableFixture {
            script: Script::default(),
            table: TableId(id("table", number)),
            seats: BTreeMap::new(),
            hand_no: 0,
            options: HandOptions::default(),
            settings,
            sabacc_pot: 0,
            carried_pot: 0,
            button: None,
            rule_set: rule_set.clone(),
            next_secret: None,
            ledger: Ledger::new(),
            key: SigningKey::from_bytes(&SECRETS[1]),
            now: 1_700_000_000_000_000,
            random_state: number,
        };
        let created = pb::TableCreated {
            name: "Specimen".to_owned(),
            rule_set,
            seats: 8,
            min_buy_in: 1,
            max_buy_in: 100_000,
            settings: settings.canonical(),
            pause_ms: 1000,
            idle_seconds: 600,
        };
        room.append_to_table(created);
        room
    }

    /// Creates a table with this many seats taken.
    #[must_use]
    pub(crate) fn seated(number: u64, variant: &str, seats: u32) -> TableFixture {
        let mut room = TableFixture::open(number, variant);
        for seat in 1..=seats {
            room.sit(seat, BUY_IN);
        }
        room
    }

    /// Creates a table with this many seats taken, and settings.
    #[must_use]
    pub(crate) fn seated_with(
        number: u64,
        variant: &str,
        seats: u32,
        settings: TableSettings,
    ) -> TableFixture {
        let variant = rules::variant(variant).expect("a variant of the registry");
        let rule_set = rules::RuleSet::defaults(variant).canonical();
        let mut room = TableFixture::with_settings(number, rule_set, settings);
        for seat in 1..=seats {
            room.sit(seat, BUY_IN);
        }
        room
    }

    /// Sets the options of the hands from now on.
    #[must_use]
    pub(crate) fn with_options(mut self, ways: HandOptions) -> TableFixture {
        self.options = ways;
        self
    }

    /// Returns the dealer's public key.
    #[must_use]
    pub(crate) fn dealer_keys(&self) -> Vec<TextKey> {
        vec![TextKey { key: self.key.verifying_key().to_bytes(), until: None }]
    }

    /// Returns the records of a hand.
    #[must_use]
    pub(crate) fn records(&self, hand_no: u64) -> crate::hand::HandRecords {
        self.script.records(self.table, hand_no, self.dealer_keys())
    }

    /// Returns a pseudorandom number below `n`, which is at least 1.
    pub(crate) fn random_below(&mut self, n: u64) -> u64 {
        self.random_state = self.random_state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.random_state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (word ^ (word >> 31)) % n
    }

    /// Returns the present time of the table's clock.
    #[must_use]
    pub(crate) fn now(&self) -> UnixMicros {
        UnixMicros(self.now)
    }

    fn advance_ms(&mut self, ms: u64) {
        self.now += ms * 1000;
    }

    fn append(&mut self, log: LogName, stream: [u8; 16], recorded: AnyRecord) -> u64 {
        self.now += STEP_MICROS;
        self.append_now(log, stream, recorded)
    }

    fn append_now(&mut self, log: LogName, stream: [u8; 16], recorded: AnyRecord) -> u64 {
        let at = self.now();
        self.script.push(Entry { log, stream: primitives::StreamId(stream), at, recorded })
    }

    fn append_to_table(&mut self, event: impl Into<TableRecord>) {
        self.append(LogName::Table, self.table.0, AnyRecord::Table(event.into()));
    }

    fn append_to_hand(&mut self, hand: HandId, event: impl Into<TableRecord>) {
        self.append(LogName::Table, hand.0, AnyRecord::Table(event.into()));
    }

    fn append_to_dealer(&mut self, hand: HandId, event: impl Into<DealerRecord>) {
        self.append(LogName::Dealer, hand.0, AnyRecord::Dealer(event.into()));
    }

    /// Posts a transfer. Returns its position in the wallet's log.
    fn post(&mut self, transfer: Transfer) -> u64 {
        self.execute_wallet(Command::PostTransfer(transfer))
    }

    /// Executes a command of the wallet, after ending holds that are over. Returns the position of
    /// its last event. All events have one time.
    ///
    /// # Panics
    /// If the ledger refuses the command.
    pub(crate) fn execute_wallet(&mut self, command: Command) -> u64 {
        self.now += STEP_MICROS;
        let mut entries = self.ledger.expired(self.now());
        self.append_to_wallet(&entries);
        entries = ::ledger::decide(&self.ledger, self.now(), command)
            .expect("the room asks for lawful commands only");
        self.append_to_wallet(&entries)
    }

    /// Ends the holds of the wallet that are over.
    pub(crate) fn expire_holds(&mut self) {
        self.now += STEP_MICROS;
        let entries = self.ledger.expired(self.now());
        self.append_to_wallet(&entries);
    }

    /// Writes the wallet's event of a snapshot of its state.
    pub(crate) fn snapshot_wallet(&mut self) {
        self.expire_holds();
        self.ledger.forget(self.now());
        let digest = Sha256::digest(::ledger::snapshot::write(&self.ledger)).into();
        self.append_to_wallet(&[::ledger::Event::SnapshotTaken { digest }]);
    }

    fn append_to_wallet(&mut self, entries: &[::ledger::Event]) -> u64 {
        let mut position = 0;
        for entry in entries {
            let stream = wire::ledger::stream(entry);
            position = self.append_now(
                LogName::Wallet,
                stream.0,
                AnyRecord::Wallet(wire::ledger::to_record(entry)),
            );
            ::ledger::evolve(&mut self.ledger, UnixMicros(self.now), entry);
        }
        position
    }

    /// Advances the clock without an event.
    pub(crate) fn advance(&mut self, time: std::time::Duration) {
        self.now = UnixMicros(self.now).plus(time).0;
    }

    fn request(&mut self, what: &str) -> RequestId {
        let number = self.random_below(u64::MAX);
        RequestId(id(what, number))
    }
}

/// Returns an id that is computed from a name and a number.
fn id(what: &str, number: u64) -> [u8; 16] {
    let hash = Sha256::new().chain_update(what).chain_update(number.to_be_bytes()).finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&hash[..16]);
    id
}

fn as_signed(credits: u64) -> i64 {
    i64::try_from(credits).expect("far below the limit")
}

/// Returns a transfer of these legs without those that move nothing and are not allowed there.
fn transfer_of(id: RequestId, kind: Kind, legs: &[(Account, i64)]) -> Transfer {
    let leg = |&(account, amount): &(Account, i64)| Leg {
        account,
        amount: Amount::try_new(amount).expect("far below the limit"),
    };
    let stands = |(account, amount): &&(Account, i64)| *amount != 0 || kind.admits_zero(account);
    let legs = legs.iter().filter(stands).map(leg).collect();
    Transfer { id, kind, legs, reason: String::new() }
}

fn transfer_between(
    id: RequestId,
    kind: Kind,
    from: Account,
    to: Account,
    credits: Credits,
) -> Transfer {
    let amount = as_signed(credits.get());
    transfer_of(id, kind, &[(from, -amount), (to, amount)])
}

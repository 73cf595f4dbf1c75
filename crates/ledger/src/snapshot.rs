//! Canonical byte form of a ledger: one form for each state.
//!
//! Numbers are big-endian. The magic comes first, then four lists, each with its count before it:
//! accounts in their order, pending holds and pending adjustments in the order of their ids,
//! players' play in the order of players. Entries older than the longest window must be dropped at
//! the same time everywhere ([`Ledger::forget`]), as the event that names a snapshot does; then the
//! same log gives the same bytes wherever it is folded.
//!
//! Specification: ARCHITECTURE.md §2.10.

use primitives::{AdjustmentId, Credits, HoldId, PlayerId, TableId, UnixMicros};

use crate::limits::{AllLimitTerms, HourlyBuyIn, LimitTerms, Limits, Seconds};
use crate::{
    Account, AccountDetails, AccountState, Adjustment, Amount, Exclusion, Hold, HourlyPlay,
    InvariantViolation, Ledger, PendingAdjustment, PendingHold, PlayHistory,
};

const MAGIC: [u8; 4] = *b"SLS1";

const FROZEN: u8 = 1;
const CLOSED: u8 = 2;
const EXCLUDED: u8 = 4;
const FOR_GOOD: u8 = 8;
const OWN_LIMITS: u8 = 16;
const OPERATOR_LIMITS: u8 = 32;
/// Set where the account has an [`AccountDetails`].
const DETAILS: u8 = 128;

/// Error of bytes that are no snapshot of a ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotError {
    #[error("the bytes are no snapshot, or of another form")]
    Malformed,
    #[error("the snapshot speaks of what cannot be: {0}")]
    InvalidState(#[from] InvariantViolation),
}

/// Writes a ledger.
#[must_use]
pub fn write(ledger: &Ledger) -> Vec<u8> {
    let mut to = Writer(Vec::with_capacity(ledger.accounts.len().saturating_mul(48)));
    to.0.extend(MAGIC);
    to.count(ledger.accounts.len());
    for (account, state) in ledger.accounts() {
        to.account(account);
        to.0.extend(state.number.to_be_bytes());
        to.0.extend(state.balance.get().to_be_bytes());
        to.details(state);
    }
    to.count(ledger.holds().len());
    ledger.holds().for_each(|pending| to.hold(pending));
    to.count(ledger.adjustments().len());
    ledger.adjustments().for_each(|proposed| to.adjustment(proposed));
    to.count(ledger.play_histories.len());
    for (player, played) in &ledger.play_histories {
        to.0.extend(player.0);
        to.play_history(played);
    }
    to.0
}

/// Reads a ledger. Writing it again gives the same bytes.
///
/// # Errors
/// [`SnapshotError`] if the bytes are malformed or their state violates an invariant.
pub fn read(bytes: &[u8]) -> Result<Ledger, SnapshotError> {
    let (parts, played) = Reader(bytes).contents().ok_or(SnapshotError::Malformed)?;
    let mut ledger = Ledger::restore(parts.accounts, parts.holds, parts.adjustments)?;
    ledger.play_histories = played.into_iter().collect();
    Ok(ledger)
}

struct Writer(Vec<u8>);

impl Writer {
    fn count(&mut self, count: usize) {
        self.0.extend(u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0.extend(number.to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    fn account(&mut self, account: &Account) {
        match account {
            Account::Issuance => self.0.push(1),
            Account::Rake => self.0.push(2),
            Account::Suspense => self.0.push(7),
            Account::Player(player) => self.tagged(3, &player.0),
            Account::Seat(table, player) => {
                self.tagged(4, &table.0);
                self.0.extend(player.0);
            }
            Account::SabaccPot(table) => self.tagged(5, &table.0),
            Account::CarriedPot(table) => self.tagged(6, &table.0),
        }
    }

    fn tagged(&mut self, tag: u8, id: &[u8; 16]) {
        self.0.push(tag);
        self.0.extend(id);
    }

    fn details(&mut self, state: &AccountState) {
        let Some(extra) = state.details.as_deref() else { return self.0.push(0) };
        let AccountDetails {
            held,
            frozen,
            closed,
            exclusion: excluded,
            own_limits: own,
            operator_limits: operator,
            buy_ins: brought,
        } = extra;
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let exclusion = match excluded {
            None => 0,
            Some(Exclusion::Until(_)) => EXCLUDED,
            Some(Exclusion::ForGood) => EXCLUDED | FOR_GOOD,
        };
        self.0.push(
            DETAILS
                | flag(*frozen, FROZEN)
                | flag(*closed, CLOSED)
                | exclusion
                | flag(own.is_some(), OWN_LIMITS)
                | flag(operator.is_some(), OPERATOR_LIMITS),
        );
        self.number(held.get());
        if let Some(Exclusion::Until(until)) = excluded {
            self.number(until.0);
        }
        for terms in [own, operator].into_iter().flatten() {
            let AllLimitTerms { buy_in, loss, time } = **terms;
            self.terms(&buy_in, Credits::get);
            self.terms(&loss, Credits::get);
            self.terms(&time, |Seconds(seconds)| seconds);
        }
        self.count(brought.len());
        for HourlyBuyIn { hour, amount } in brought {
            self.number(*hour);
            self.number(amount.get());
        }
    }

    fn terms<T: Copy>(&mut self, terms: &LimitTerms<T>, unit: impl Fn(T) -> u64) {
        let LimitTerms { now, later } = terms;
        self.limits(now, &unit);
        self.0.push(u8::from(later.is_some()));
        if let Some((from, limits)) = later {
            self.number(from.0);
            self.limits(limits, &unit);
        }
    }

    /// A missing limit is written as all ones, which no limit is.
    fn limits<T: Copy>(&mut self, limits: &Limits<T>, unit: &impl Fn(T) -> u64) {
        let Limits { day, week, month } = limits;
        for limit in [day, week, month] {
            self.number(limit.map_or(u64::MAX, unit));
        }
    }

    fn hold(&mut self, pending: &PendingHold) {
        let PendingHold { hold: Hold { id, from, to, amount, expires_at }, left } = pending;
        self.0.extend(id.0);
        self.account(from);
        self.account(to);
        self.number(amount.get());
        self.number(expires_at.0);
        self.number(left.get());
    }

    fn adjustment(&mut self, proposed: &PendingAdjustment) {
        let PendingAdjustment { adjustment, proposed_at: at } = proposed;
        let Adjustment { id, account, amount, reason, proposed_by } = adjustment;
        self.0.extend(id.0);
        self.account(account);
        self.0.extend(amount.get().to_be_bytes());
        self.text(reason);
        self.text(proposed_by);
        self.number(at.0);
    }

    fn play_history(&mut self, played: &PlayHistory) {
        let PlayHistory { seated_since: seated, hours } = played;
        self.0.push(u8::from(seated.is_some()));
        if let Some(since) = seated {
            self.number(since.0);
        }
        self.count(hours.len());
        for (hour, HourlyPlay { net, seated_micros }) in hours {
            self.number(*hour);
            self.0.extend(net.to_be_bytes());
            self.number(*seated_micros);
        }
    }
}

struct Contents {
    accounts: Vec<(Account, AccountState)>,
    holds: Vec<PendingHold>,
    adjustments: Vec<PendingAdjustment>,
}

type PlayHistories = Vec<(PlayerId, PlayHistory)>;

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn contents(mut self) -> Option<(Contents, PlayHistories)> {
        if self.take::<4>()? != MAGIC {
            return None;
        }
        let accounts = self.list(|it| {
            let account = it.account()?;
            let number = u32::from_be_bytes(it.take()?);
            let balance = it.amount()?;
            Some((account, AccountState { number, balance, details: it.details()?.map(Box::new) }))
        })?;
        let holds = self.list(Reader::hold)?;
        let adjustments = self.list(Reader::adjustment)?;
        let played = self.list(|it| Some((PlayerId(it.take()?), it.play_history()?)))?;
        self.0.is_empty().then_some((Contents { accounts, holds, adjustments }, played))
    }

    /// Reads a count and that many items. An item takes at least a byte, so memory is reserved for
    /// no more items than bytes are left.
    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = usize::try_from(u32::from_be_bytes(self.take()?)).ok()?;
        let mut all = Vec::with_capacity(count.min(self.0.len()));
        for _ in 0..count {
            all.push(one(self)?);
        }
        Some(all)
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn number(&mut self) -> Option<u64> {
        self.take().map(u64::from_be_bytes)
    }

    fn amount(&mut self) -> Option<Amount> {
        Amount::try_new(i64::from_be_bytes(self.take()?)).ok()
    }

    fn credits(&mut self) -> Option<Credits> {
        Credits::try_new(self.number()?).ok()
    }

    fn time(&mut self) -> Option<UnixMicros> {
        self.number().map(UnixMicros)
    }

    fn flag(&mut self) -> Option<bool> {
        match self.take::<1>()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::try_from(u32::from_be_bytes(self.take()?)).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }

    fn account(&mut self) -> Option<Account> {
        Some(match self.take::<1>()? {
            [1] => Account::Issuance,
            [2] => Account::Rake,
            [3] => Account::Player(PlayerId(self.take()?)),
            [4] => Account::Seat(TableId(self.take()?), PlayerId(self.take()?)),
            [5] => Account::SabaccPot(TableId(self.take()?)),
            [6] => Account::CarriedPot(TableId(self.take()?)),
            [7] => Account::Suspense,
            _ => return None,
        })
    }

    fn details(&mut self) -> Option<Option<AccountDetails>> {
        let [flags] = self.take()?;
        if flags == 0 {
            return Some(None);
        }
        let is = |flag| flags & flag != 0;
        if !is(DETAILS) || flags & 64 != 0 || is(FOR_GOOD) && !is(EXCLUDED) {
            return None;
        }
        let held = self.credits()?;
        let excluded = match (is(EXCLUDED), is(FOR_GOOD)) {
            (false, _) => None,
            (true, true) => Some(Exclusion::ForGood),
            (true, false) => Some(Exclusion::Until(self.time()?)),
        };
        let own = if is(OWN_LIMITS) { Some(Box::new(self.all_terms()?)) } else { None };
        let operator = if is(OPERATOR_LIMITS) { Some(Box::new(self.all_terms()?)) } else { None };
        let brought =
            self.list(|it| Some(HourlyBuyIn { hour: it.number()?, amount: it.credits()? }))?;
        let (frozen, closed) = (is(FROZEN), is(CLOSED));
        Some(Some(AccountDetails {
            held,
            frozen,
            closed,
            exclusion: excluded,
            own_limits: own,
            operator_limits: operator,
            buy_ins: brought,
        }))
    }

    fn all_terms(&mut self) -> Option<AllLimitTerms> {
        let credits = |limit| Credits::try_new(limit).ok();
        Some(AllLimitTerms {
            buy_in: self.terms(credits)?,
            loss: self.terms(credits)?,
            time: self.terms(|limit| Some(Seconds(limit)))?,
        })
    }

    fn terms<T>(&mut self, unit: impl Fn(u64) -> Option<T>) -> Option<LimitTerms<T>> {
        let now = self.limits(&unit)?;
        let later = match self.flag()? {
            true => Some((self.time()?, self.limits(&unit)?)),
            false => None,
        };
        Some(LimitTerms { now, later })
    }

    fn limits<T>(&mut self, unit: &impl Fn(u64) -> Option<T>) -> Option<Limits<T>> {
        let mut next = || match self.number()? {
            u64::MAX => Some(None),
            limit => unit(limit).map(Some),
        };
        Some(Limits { day: next()?, week: next()?, month: next()? })
    }

    fn hold(&mut self) -> Option<PendingHold> {
        let hold = Hold {
            id: HoldId(self.take()?),
            from: self.account()?,
            to: self.account()?,
            amount: self.credits()?,
            expires_at: self.time()?,
        };
        Some(PendingHold { hold, left: self.credits()? })
    }

    fn adjustment(&mut self) -> Option<PendingAdjustment> {
        let adjustment = Adjustment {
            id: AdjustmentId(self.take()?),
            account: self.account()?,
            amount: self.amount()?,
            reason: self.text()?,
            proposed_by: self.text()?,
        };
        Some(PendingAdjustment { adjustment, proposed_at: self.time()? })
    }

    fn play_history(&mut self) -> Option<PlayHistory> {
        let seated = if self.flag()? { Some(self.time()?) } else { None };
        let hours = self.list(|it| {
            let hour = it.number()?;
            let net = i64::from_be_bytes(it.take()?);
            Some((hour, HourlyPlay { net, seated_micros: it.number()? }))
        })?;
        Some(PlayHistory { seated_since: seated, hours: hours.into_iter().collect() })
    }
}

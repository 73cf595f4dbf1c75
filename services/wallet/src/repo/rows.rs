//! Rows as parameters of the statement that appends: one array for each column.

use std::fmt;

use eventlog::Ahead;
use ledger::{Account, Exclusion};
use primitives::Credits;
use sqlx::encode::Encode;
use sqlx::error::BoxDynError;
use sqlx::postgres::PgArguments;
use sqlx::{Arguments as _, Postgres, Type};

use crate::rows::{AdjustmentState, HoldState, Rows, StateRow};

/// Column value of an exclusion without an end.
pub(super) const FOR_GOOD: i64 = i64::MAX;

/// Rows that a group writes beside its events.
#[derive(Default)]
pub(crate) struct Written {
    pub(crate) rows: Rows,
    pub(crate) states: Vec<StateRow>,
}

impl fmt::Debug for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").field("entries", &self.rows.entries.len()).finish_non_exhaustive()
    }
}

impl eventlog::Rows for Written {
    fn ctes(&self) -> Option<&'static str> {
        Some(match self.extent() {
            Extent::Entries => super::ENTRIES,
            Extent::Transfers => super::TRANSFERS,
            Extent::Whole => super::WHOLE,
        })
    }

    fn clearing(&self) -> Option<&'static str> {
        Some(super::CLEARING)
    }

    fn ahead(&self) -> Option<Ahead> {
        match self.extent() {
            Extent::Entries => Some(super::ENTRIES_AHEAD),
            Extent::Transfers => Some(super::TRANSFERS_AHEAD),
            Extent::Whole => None,
        }
    }

    fn bind(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        match self.extent() {
            Extent::Entries => self.entries(to),
            Extent::Transfers => self.bind_transfers(to),
            Extent::Whole => self.bind_all(to),
        }
    }
}

/// Set of tables that a group writes to.
enum Extent {
    /// Transfers between existing accounts that have no state beside a balance: almost every group.
    Entries,
    Transfers,
    Whole,
}

impl Written {
    fn extent(&self) -> Extent {
        let Rows { opened, entries: _, holds, adjustments, .. } = &self.rows;
        if !(opened.is_empty() && holds.is_empty() && adjustments.is_empty()) {
            Extent::Whole
        } else if self.states.is_empty() {
            Extent::Entries
        } else {
            Extent::Transfers
        }
    }

    /// Binds the parameters of `sql/posting.sql` and `sql/changing.sql`.
    fn bind_transfers(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        self.entries(to)?;
        self.states(to)
    }

    /// Binds the parameters of `sql/posting.sql`, `sql/changing.sql` and `sql/others.sql`.
    pub(super) fn bind_all(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        self.bind_transfers(to)?;
        self.accounts(to)?;
        self.holds(to)?;
        self.adjustments(to)
    }

    fn accounts(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows = &self.rows.opened;
        add(to, rows, |row| row.number.cast_signed())?;
        add(to, rows, |row| row.account.to_string())?;
        add(to, rows, |row| row.account.player().map(|player| player.to_string()))?;
        add(to, rows, |row| row.account.table().map(|table| table.to_string()))?;
        add(to, rows, |row| row.opened.0.cast_signed())
    }

    fn entries(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows = &self.rows.entries;
        add(to, rows, |row| row.position.0.cast_signed())?;
        add(to, rows, |row| row.amount.get())?;
        add(to, rows, |row| row.balance.get())?;
        add(to, rows, |row| row.account.cast_signed())?;
        add(to, rows, |row| row.other.map(u32::cast_signed))?;
        add(to, rows, |row| row.kind)?;
        add(to, rows, |row| row.reason.as_deref())
    }

    fn states(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows = &self.states;
        add(to, rows, |row| row.account.cast_signed())?;
        add(to, rows, |row| credits(row.held))?;
        add(to, rows, |row| row.frozen)?;
        add(to, rows, |row| row.closed)?;
        add(to, rows, |row| row.excluded.map(excluded))
    }

    fn holds(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows: Vec<_> = self.rows.holds.values().collect();
        add(to, &rows, |row| row.hold.id.to_string())?;
        add(to, &rows, |row| row.account.cast_signed())?;
        add(to, &rows, |row| row.hold.to.to_string())?;
        add(to, &rows, |row| credits(row.hold.amount))?;
        add(to, &rows, |row| credits(row.left))?;
        add(to, &rows, |row| hold_state(row.state))?;
        add(to, &rows, |row| row.hold.expires_at.0.cast_signed())?;
        add(to, &rows, |row| row.changed.0.cast_signed())
    }

    fn adjustments(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows: Vec<_> = self.rows.adjustments.values().collect();
        add(to, &rows, |row| row.adjustment.id.to_string())?;
        add(to, &rows, |row| row.adjustment.account.to_string())?;
        add(to, &rows, |row| row.adjustment.amount.get())?;
        add(to, &rows, |row| row.adjustment.reason.as_str())?;
        add(to, &rows, |row| row.adjustment.proposed_by.as_str())?;
        add(to, &rows, |row| row.proposed.0.cast_signed())?;
        add(to, &rows, |row| adjustment_state(row.state))?;
        add(to, &rows, |row| row.changed.0.cast_signed())
    }
}

fn add<'a, T, U>(
    to: &mut PgArguments,
    rows: &'a [T],
    column: impl Fn(&'a T) -> U,
) -> Result<(), BoxDynError>
where
    Vec<U>: Encode<'a, Postgres> + Type<Postgres>,
{
    to.add(rows.iter().map(column).collect::<Vec<U>>())
}

/// Column value of credits: at most 2^53 - 1.
pub(super) const fn credits(credits: Credits) -> i64 {
    credits.get().cast_signed()
}

pub(super) fn excluded(exclusion: Exclusion) -> i64 {
    exclusion.end().map_or(FOR_GOOD, |end| end.0.cast_signed())
}

pub(super) const fn hold_state(state: HoldState) -> i16 {
    match state {
        HoldState::Pending => 1,
        HoldState::Captured => 2,
        HoldState::Released => 3,
        HoldState::Expired => 4,
    }
}

pub(super) const fn adjustment_state(state: AdjustmentState) -> i16 {
    match state {
        AdjustmentState::Waits => 1,
        AdjustmentState::Approved => 2,
        AdjustmentState::Rejected => 3,
    }
}

/// Parses an account's name from a column.
pub(super) fn account(name: &str) -> Result<Account, sqlx::Error> {
    name.parse().map_err(|error: ledger::AccountNameError| sqlx::Error::Decode(error.into()))
}

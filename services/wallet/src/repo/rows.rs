//! Rows as parameters of the statement that appends: one array for each column.

use std::fmt;

use eventlog::PipelinedCtes;
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
pub(crate) struct GroupRows {
    pub(crate) rows: Rows,
    pub(crate) states: Vec<StateRow>,
}

impl fmt::Debug for GroupRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written").field("entries", &self.rows.entries.len()).finish_non_exhaustive()
    }
}

impl eventlog::ProjectionRows for GroupRows {
    fn ctes(&self) -> Option<&'static str> {
        Some(match self.table_set() {
            TableSet::EntryTable => super::ENTRY_TABLE,
            TableSet::TransferTables => super::TRANSFER_TABLES,
            TableSet::AllTables => super::ALL_TABLES,
        })
    }

    fn clearing_statement(&self) -> Option<&'static str> {
        Some(super::CLEAR_ENTRIES_AHEAD)
    }

    fn pipelined(&self) -> Option<PipelinedCtes> {
        match self.table_set() {
            TableSet::EntryTable => Some(super::ENTRY_TABLE_AHEAD),
            TableSet::TransferTables => Some(super::TRANSFER_TABLES_AHEAD),
            TableSet::AllTables => None,
        }
    }

    fn bind(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        match self.table_set() {
            TableSet::EntryTable => self.bind_entries(to),
            TableSet::TransferTables => self.bind_transfers(to),
            TableSet::AllTables => self.bind_all(to),
        }
    }
}

/// Set of tables that a group writes to.
enum TableSet {
    /// Transfers between existing accounts that have no state beside a balance: almost every group.
    EntryTable,
    TransferTables,
    AllTables,
}

impl GroupRows {
    fn table_set(&self) -> TableSet {
        let Rows { opened, entries: _, holds, adjustments, .. } = &self.rows;
        if !(opened.is_empty() && holds.is_empty() && adjustments.is_empty()) {
            TableSet::AllTables
        } else if self.states.is_empty() {
            TableSet::EntryTable
        } else {
            TableSet::TransferTables
        }
    }

    /// Binds the parameters of `sql/posting.sql` and `sql/changing.sql`.
    fn bind_transfers(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        self.bind_entries(to)?;
        self.bind_states(to)
    }

    /// Binds the parameters of `sql/posting.sql`, `sql/changing.sql` and `sql/others.sql`.
    pub(super) fn bind_all(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        self.bind_transfers(to)?;
        self.bind_accounts(to)?;
        self.bind_holds(to)?;
        self.bind_adjustments(to)
    }

    fn bind_accounts(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows = &self.rows.opened;
        bind_column(to, rows, |row| row.number.cast_signed())?;
        bind_column(to, rows, |row| row.account.to_string())?;
        bind_column(to, rows, |row| row.account.player().map(|player| player.to_string()))?;
        bind_column(to, rows, |row| row.account.table().map(|table| table.to_string()))?;
        bind_column(to, rows, |row| row.opened.0.cast_signed())
    }

    fn bind_entries(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows = &self.rows.entries;
        bind_column(to, rows, |row| row.position.0.cast_signed())?;
        bind_column(to, rows, |row| row.amount.get())?;
        bind_column(to, rows, |row| row.balance.get())?;
        bind_column(to, rows, |row| row.account.cast_signed())?;
        bind_column(to, rows, |row| row.other.map(u32::cast_signed))?;
        bind_column(to, rows, |row| row.kind)?;
        bind_column(to, rows, |row| row.reason.as_deref())
    }

    fn bind_states(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows = &self.states;
        bind_column(to, rows, |row| row.account.cast_signed())?;
        bind_column(to, rows, |row| credits_column(row.held))?;
        bind_column(to, rows, |row| row.frozen)?;
        bind_column(to, rows, |row| row.closed)?;
        bind_column(to, rows, |row| row.exclusion.map(exclusion_column))
    }

    fn bind_holds(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows: Vec<_> = self.rows.holds.values().collect();
        bind_column(to, &rows, |row| row.hold.id.to_string())?;
        bind_column(to, &rows, |row| row.account.cast_signed())?;
        bind_column(to, &rows, |row| row.hold.to.to_string())?;
        bind_column(to, &rows, |row| credits_column(row.hold.amount))?;
        bind_column(to, &rows, |row| credits_column(row.left))?;
        bind_column(to, &rows, |row| hold_state_column(row.state))?;
        bind_column(to, &rows, |row| row.hold.expires_at.0.cast_signed())?;
        bind_column(to, &rows, |row| row.changed.0.cast_signed())
    }

    fn bind_adjustments(&self, to: &mut PgArguments) -> Result<(), BoxDynError> {
        let rows: Vec<_> = self.rows.adjustments.values().collect();
        bind_column(to, &rows, |row| row.adjustment.id.to_string())?;
        bind_column(to, &rows, |row| row.adjustment.account.to_string())?;
        bind_column(to, &rows, |row| row.adjustment.amount.get())?;
        bind_column(to, &rows, |row| row.adjustment.reason.as_str())?;
        bind_column(to, &rows, |row| row.adjustment.proposed_by.as_str())?;
        bind_column(to, &rows, |row| row.proposed.0.cast_signed())?;
        bind_column(to, &rows, |row| adjustment_state_column(row.state))?;
        bind_column(to, &rows, |row| row.changed.0.cast_signed())
    }
}

fn bind_column<'a, T, U>(
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
pub(super) const fn credits_column(credits: Credits) -> i64 {
    credits.get().cast_signed()
}

pub(super) fn exclusion_column(exclusion: Exclusion) -> i64 {
    exclusion.end().map_or(FOR_GOOD, |end| end.0.cast_signed())
}

pub(super) const fn hold_state_column(state: HoldState) -> i16 {
    match state {
        HoldState::Pending => 1,
        HoldState::Captured => 2,
        HoldState::Released => 3,
        HoldState::Expired => 4,
    }
}

pub(super) const fn adjustment_state_column(state: AdjustmentState) -> i16 {
    match state {
        AdjustmentState::Pending => 1,
        AdjustmentState::Approved => 2,
        AdjustmentState::Rejected => 3,
    }
}

/// Parses an account's name from a column.
pub(super) fn parse_account_name(name: &str) -> Result<Account, sqlx::Error> {
    name.parse().map_err(|error: ledger::AccountNameError| sqlx::Error::Decode(error.into()))
}

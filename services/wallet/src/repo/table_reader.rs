//! Reads whole tables row by row, to compare them with the log.

use std::fmt;

use eventlog::ReadError;
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use sqlx::postgres::{PgRow, Postgres};
use sqlx::{Row as _, Transaction};

use super::rows::{adjustment_state_column, credits_column, exclusion_column, hold_state_column};
use super::{LOG, Repo, read_error};
use crate::rows::{AccountRow, AdjustmentRow, EntryRow, HoldRow, Rows, StateRow};
use crate::verify::Difference;

/// A table to compare.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    Accounts,
    Entries,
    States,
    Holds,
    Adjustments,
}

impl Table {
    const fn name(self) -> &'static str {
        match self {
            Table::Accounts => "accounts",
            Table::Entries => "entries",
            Table::States => "states",
            Table::Holds => "holds",
            Table::Adjustments => "adjustments",
        }
    }

    /// Columns, those of the key first.
    const fn columns(self) -> &'static [&'static str] {
        match self {
            Table::Accounts => &["number", "name", "player", "table_id", "opened"],
            Table::Entries => {
                &["position", "account", "amount", "balance", "other", "kind", "reason"]
            }
            Table::States => &["account", "held", "frozen", "closed", "excluded_until"],
            Table::Holds => &[
                "id",
                "account",
                "destination",
                "amount",
                "remaining",
                "state",
                "expires_at",
                "changed",
            ],
            Table::Adjustments => &[
                "id",
                "account",
                "amount",
                "reason",
                "proposed_by",
                "proposed",
                "state",
                "changed",
            ],
        }
    }

    /// Number of columns of the key.
    const fn key_columns(self) -> usize {
        match self {
            Table::Entries => 2,
            Table::Accounts | Table::States | Table::Holds | Table::Adjustments => 1,
        }
    }

    /// Reads every column as text, in the order of the key.
    const fn sql(self) -> &'static str {
        match self {
            Table::Accounts => {
                "SELECT number::text, name, player::text, table_id::text, opened::text \
                 FROM accounts ORDER BY accounts.number"
            }
            Table::Entries => {
                "SELECT position::text, account::text, amount::text, balance::text, other::text, \
                 kind::text, reason FROM entries ORDER BY entries.position, entries.account"
            }
            Table::States => {
                "SELECT account::text, held::text, frozen::text, closed::text, \
                 excluded_until::text FROM states ORDER BY states.account"
            }
            Table::Holds => {
                "SELECT id::text, account::text, destination, amount::text, remaining::text, \
                 state::text, expires_at::text, changed::text FROM holds ORDER BY holds.id"
            }
            Table::Adjustments => {
                "SELECT id::text, account, amount::text, reason, proposed_by, proposed::text, \
                 state::text, changed::text FROM adjustments ORDER BY adjustments.id"
            }
        }
    }
}

/// A row: the text of each column. Ids are ordered by their text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Row(Vec<Option<String>>);

fn text(value: impl fmt::Display) -> Option<String> {
    Some(value.to_string())
}

impl From<&AccountRow> for Row {
    fn from(row: &AccountRow) -> Row {
        let AccountRow { number, account, opened } = row;
        Row(vec![
            text(number),
            text(account),
            account.player().and_then(text),
            account.table().and_then(text),
            text(opened.0),
        ])
    }
}

impl From<&EntryRow> for Row {
    fn from(row: &EntryRow) -> Row {
        let EntryRow { position, amount, balance, account, other, kind, reason } = row;
        Row(vec![
            text(position.0),
            text(account),
            text(amount),
            text(balance),
            other.and_then(text),
            text(kind),
            reason.as_deref().and_then(text),
        ])
    }
}

impl From<&StateRow> for Row {
    fn from(row: &StateRow) -> Row {
        let StateRow { account, held, frozen, closed, exclusion: until } = row;
        Row(vec![
            text(account),
            text(credits_column(*held)),
            text(frozen),
            text(closed),
            until.map(exclusion_column).and_then(text),
        ])
    }
}

impl From<&HoldRow> for Row {
    fn from(row: &HoldRow) -> Row {
        let HoldRow { hold, account, left, state, changed } = row;
        Row(vec![
            text(hold.id),
            text(account),
            text(hold.to),
            text(credits_column(hold.amount)),
            text(credits_column(*left)),
            text(hold_state_column(*state)),
            text(hold.expires_at.0),
            text(changed.0),
        ])
    }
}

impl From<&AdjustmentRow> for Row {
    fn from(row: &AdjustmentRow) -> Row {
        let AdjustmentRow { adjustment, proposed, state, changed } = row;
        Row(vec![
            text(adjustment.id),
            text(adjustment.account),
            text(adjustment.amount),
            text(&adjustment.reason),
            text(&adjustment.proposed_by),
            text(proposed.0),
            text(adjustment_state_column(*state)),
            text(changed.0),
        ])
    }
}

/// The tables as of one moment.
pub(crate) struct ConsistentRead {
    transaction: Transaction<'static, Postgres>,
    /// Size of the log.
    size: i64,
    /// Size in `projected`, if that has a row; `None` in it if the tables follow the log.
    projected: Option<Option<i64>>,
}

/// Rows of a table, in the order of its key.
pub(crate) struct TableReader<'a> {
    table: Table,
    rows: BoxStream<'a, Result<PgRow, sqlx::Error>>,
}

impl Repo {
    pub(crate) async fn begin_consistent_read(&self) -> Result<ConsistentRead, ReadError> {
        let check = async {
            let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
            let mut moment = self.pool.begin_with(begin).await?;
            let size: Option<i64> = sqlx::query_scalar("SELECT size FROM log_sizes WHERE log = $1")
                .bind(LOG)
                .fetch_optional(&mut *moment)
                .await?;
            let projected = sqlx::query_scalar("SELECT size FROM projected WHERE log = $1")
                .bind(LOG)
                .fetch_optional(&mut *moment)
                .await?;
            Ok(ConsistentRead { transaction: moment, size: size.unwrap_or_default(), projected })
        };
        check.await.map_err(read_error)
    }
}

impl ConsistentRead {
    pub(crate) fn size(&self) -> u64 {
        self.size.unsigned_abs()
    }

    /// Difference between the sizes that the tables have by `projected` and the log. A log that was
    /// never taken has no row.
    pub(crate) fn size_difference(&self) -> Option<Difference> {
        let covered = match self.projected {
            Some(size) => Some(size.unwrap_or(self.size)),
            None => (self.size == 0).then_some(0),
        };
        (covered != Some(self.size)).then(|| Difference {
            table: "projected",
            account: String::new(),
            position: None,
            column: "size",
            expected: self.size.to_string(),
            found: covered.map_or_else(|| "nothing".into(), |size| size.to_string()),
        })
    }

    pub(crate) fn read_table(&mut self, table: Table) -> TableReader<'_> {
        TableReader { table, rows: sqlx::query(table.sql()).fetch(&mut *self.transaction) }
    }
}

/// A column of a row, with the value that the log gives and the stored one.
struct Mismatch<'a> {
    column: &'static str,
    expected: &'a str,
    found: &'a str,
}

/// A row that is not stored.
const MISSING: Mismatch<'_> = Mismatch { column: "row", expected: "one", found: "none" };
/// A row that is stored and that the log does not give.
const SURPLUS: Mismatch<'_> = Mismatch { column: "row", expected: "none", found: "one" };

impl TableReader<'_> {
    /// Compares the next row with the expected one. Returns the first difference.
    pub(crate) async fn expect(
        &mut self,
        expected: Row,
        rows: &Rows,
    ) -> Result<Option<Difference>, ReadError> {
        let table = self.table;
        let Some(found) = self.next().await? else {
            return Ok(Some(table.difference(&expected, &MISSING, rows)));
        };
        if found == expected {
            return Ok(None);
        }
        let (wanted, there) = (table.sort_key(&expected), table.sort_key(&found));
        let difference = if there < wanted {
            table.difference(&found, &SURPLUS, rows)
        } else if wanted < there {
            table.difference(&expected, &MISSING, rows)
        } else {
            let values = table.columns().iter().zip(expected.0.iter().zip(&found.0));
            let first = values.into_iter().find(|(_, (expected, found))| expected != found);
            let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
            let (column, expected_value, found_value) = first
                .map_or(("row", String::new(), String::new()), |(column, (expected, found))| {
                    (*column, text(expected), text(found))
                });
            let unequal = Mismatch { column, expected: &expected_value, found: &found_value };
            table.difference(&expected, &unequal, rows)
        };
        Ok(Some(difference))
    }

    /// Difference for a row beyond the expected ones.
    pub(crate) async fn expect_end(
        &mut self,
        rows: &Rows,
    ) -> Result<Option<Difference>, ReadError> {
        let more = self.next().await?;
        Ok(more.map(|row| self.table.difference(&row, &SURPLUS, rows)))
    }

    async fn next(&mut self) -> Result<Option<Row>, ReadError> {
        let Some(row) = self.rows.next().await else { return Ok(None) };
        let read = |row: &PgRow| -> Result<Row, sqlx::Error> {
            (0..row.len()).map(|at| row.try_get(at)).collect::<Result<_, _>>().map(Row)
        };
        row.and_then(|row| read(&row)).map(Some).map_err(read_error)
    }
}

impl Table {
    /// Sort key of a row: numbers by their value, ids by their text.
    fn sort_key(self, row: &Row) -> Vec<(i64, String)> {
        let key =
            row.0.iter().take(self.key_columns()).map(|value| value.clone().unwrap_or_default());
        match self {
            Table::Accounts | Table::Entries | Table::States => {
                key.map(|value| (value.parse().unwrap_or(i64::MAX), String::new())).collect()
            }
            Table::Holds | Table::Adjustments => key.map(|value| (0, value)).collect(),
        }
    }

    fn difference(self, row: &Row, mismatch: &Mismatch<'_>, rows: &Rows) -> Difference {
        let Mismatch { column, expected, found } = *mismatch;
        let value = |name: &str| {
            let at = self.columns().iter().position(|column| *column == name)?;
            row.0.get(at).cloned().flatten()
        };
        let numbered = |number: Option<String>| {
            let number: usize = number?.parse().ok()?;
            rows.opened.get(number).map(|row| row.account.to_string())
        };
        let account = match self {
            Table::Accounts => value("name"),
            Table::Entries | Table::States | Table::Holds => numbered(value("account")),
            Table::Adjustments => value("account"),
        };
        let position = match self {
            Table::Accounts => value("opened"),
            Table::Entries => value("position"),
            Table::States => None,
            Table::Holds => value("changed"),
            Table::Adjustments => value("proposed"),
        };
        Difference {
            table: self.name(),
            account: account.unwrap_or_default(),
            position: position.and_then(|position| position.parse().ok()),
            column,
            expected: expected.to_owned(),
            found: found.to_owned(),
        }
    }
}

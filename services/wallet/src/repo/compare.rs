//! Comparison of the tables with the ledger at a start: every account with its balance and state,
//! every pending hold and adjustment. [`super::history`] has the reads to compare the entries
//! behind them.

use eventlog::{ReadError, with_timeout};
use futures_util::TryStreamExt as _;
use ledger::{Account, AccountState, Adjustment, Amount, Ledger};
use sqlx::postgres::{PgRow, Postgres};
use sqlx::{Row as _, Transaction};

use super::read::{amount, decode, parse_hold, parse_state};
use super::rows::parse_account_name;
use super::{Repo, STATEMENT_TIMEOUT, read_error};
use crate::rows::{HoldState, StateRow, state_row};
use crate::verify::Difference;

/// The tables and the ledger as of one end of the log. What is written afterwards changes neither.
pub(crate) struct Comparison {
    tables: Transaction<'static, Postgres>,
    ledger: Ledger,
}

impl Repo {
    /// Takes the tables as they are now. The ledger is as of the log's end, and nothing may be written
    /// before this returns.
    pub(crate) async fn begin_comparison(&self, ledger: Ledger) -> Result<Comparison, ReadError> {
        let begin = async {
            let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
            let mut tables = self.pool.begin_with(begin).await?;
            // The first query decides which moment the others see.
            sqlx::query("SELECT 1").execute(&mut *tables).await?;
            Ok(Comparison { tables, ledger })
        };
        with_timeout(STATEMENT_TIMEOUT, begin).await.map_err(read_error)
    }
}

impl Comparison {
    /// First difference between the tables and the ledger.
    pub(crate) async fn run(mut self) -> Result<Option<Difference>, ReadError> {
        let compare = async {
            if let Some(difference) = self.compare_accounts().await? {
                return Ok(Some(difference));
            }
            if let Some(difference) = self.compare_holds().await? {
                return Ok(Some(difference));
            }
            self.compare_adjustments().await
        };
        compare.await.map_err(read_error)
    }

    async fn compare_accounts(&mut self) -> Result<Option<Difference>, sqlx::Error> {
        let Comparison { tables, ledger } = self;
        let mut seen = vec![false; ledger.accounts().len()];
        let mut rows = sqlx::query(include_str!("sql/load_accounts.sql")).fetch(&mut **tables);
        while let Some(row) = with_timeout(STATEMENT_TIMEOUT, rows.try_next()).await? {
            let (found, at) = AccountRows::read(&row)?;
            let Some(state) = ledger.account(&found.account) else {
                return Ok(Some(unexpected_row("accounts", &found.account.to_string())));
            };
            if let Some(difference) = found.difference_to(state) {
                return Ok(Some(difference));
            }
            if let Some(seen) = seen.get_mut(at) {
                *seen = true;
            }
        }
        let missing = |state: &AccountState| {
            let seen = usize::try_from(state.number).ok().and_then(|at| seen.get(at));
            seen != Some(&true)
        };
        let missing = ledger.accounts().find(|(_, state)| missing(state));
        Ok(missing.map(|(account, _)| missing_row("accounts", &account.to_string())))
    }

    async fn compare_holds(&mut self) -> Result<Option<Difference>, sqlx::Error> {
        let Comparison { tables, ledger } = self;
        let mut pending = 0;
        let mut rows =
            sqlx::query(include_str!("sql/holds.sql")).bind(None::<String>).fetch(&mut **tables);
        while let Some(row) = with_timeout(STATEMENT_TIMEOUT, rows.try_next()).await? {
            let found = parse_hold(&row)?;
            if found.state != HoldState::Pending {
                continue;
            }
            pending += 1;
            let from = found.hold.from.to_string();
            let Some(known) = ledger.hold(found.hold.id) else {
                return Ok(Some(unexpected_row("holds", &from)));
            };
            if (known.hold, known.left) != (found.hold, found.left) {
                let (said, wanted) = (format!("{found:?}"), format!("{known:?}"));
                return Ok(Some(difference("holds", &from, "row", &wanted, &said)));
            }
        }
        let some = (pending != ledger.holds().len()).then(|| missing_row("holds", "pending holds"));
        Ok(some)
    }

    async fn compare_adjustments(&mut self) -> Result<Option<Difference>, sqlx::Error> {
        let Comparison { tables, ledger } = self;
        let rows = sqlx::query(include_str!("sql/adjustments.sql")).fetch_all(&mut **tables);
        let rows = with_timeout(STATEMENT_TIMEOUT, rows).await?;
        let found: Vec<Adjustment> = rows.iter().map(parse_adjustment).collect::<Result<_, _>>()?;
        for adjustment in &found {
            let account = adjustment.account.to_string();
            match ledger.adjustment(adjustment.id) {
                None => return Ok(Some(unexpected_row("adjustments", &account))),
                // The time of the proposal has no column here; it is the log's.
                Some(known) if known.adjustment != *adjustment => {
                    let (said, wanted) =
                        (format!("{adjustment:?}"), format!("{:?}", known.adjustment));
                    return Ok(Some(difference("adjustments", &account, "row", &wanted, &said)));
                }
                Some(_) => {}
            }
        }
        let short = found.len() != ledger.adjustments().len();
        Ok(short.then(|| missing_row("adjustments", "waiting adjustments")))
    }
}

/// An account by its rows.
struct AccountRows {
    account: Account,
    number: u32,
    player: Option<String>,
    table: Option<String>,
    balance: Amount,
    state: StateRow,
}

impl AccountRows {
    fn read(row: &PgRow) -> Result<(AccountRows, usize), sqlx::Error> {
        let number = u32::try_from(row.try_get::<i32, _>("number")?).map_err(decode)?;
        let balance = match row.try_get::<Option<i64>, _>("balance")? {
            Some(balance) => amount(balance)?,
            None => Amount::ZERO,
        };
        let state = parse_state(row, number)?.unwrap_or_else(|| StateRow::empty(number));
        let account = parse_account_name(row.try_get("name")?)?;
        let at = usize::try_from(number).map_err(decode)?;
        let (player, table) = (row.try_get("player")?, row.try_get("table_id")?);
        Ok((AccountRows { account, number, player, table, balance, state }, at))
    }

    fn difference_to(&self, state: &AccountState) -> Option<Difference> {
        let AccountRows { account, number, player, table, balance, state: found } = self;
        let name = || account.to_string();
        let wanted = state_row(state);
        if *number != state.number {
            let values = (state.number.to_string(), number.to_string());
            return Some(difference("accounts", &name(), "number", &values.0, &values.1));
        }
        let owners = [
            ("player", account.player().map(|player| player.to_string()), player),
            ("table_id", account.table().map(|table| table.to_string()), table),
        ];
        for (column, wanted, found) in owners {
            if wanted != *found {
                let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
                let values = (text(&wanted), text(found));
                return Some(difference("accounts", &name(), column, &values.0, &values.1));
            }
        }
        if *balance != state.balance {
            let values = (state.balance.to_string(), balance.to_string());
            return Some(difference("entries", &name(), "balance", &values.0, &values.1));
        }
        if *found != wanted {
            let values = (format!("{wanted:?}"), format!("{found:?}"));
            return Some(difference("states", &name(), "row", &values.0, &values.1));
        }
        None
    }
}

/// Reads a pending adjustment.
fn parse_adjustment(row: &PgRow) -> Result<Adjustment, sqlx::Error> {
    Ok(Adjustment {
        id: row.try_get::<&str, _>("id")?.parse().map_err(decode)?,
        account: parse_account_name(row.try_get("account")?)?,
        amount: amount(row.try_get("amount")?)?,
        reason: row.try_get("reason")?,
        proposed_by: row.try_get("proposed_by")?,
    })
}

fn difference(
    table: &'static str,
    account: &str,
    column: &'static str,
    expected: &str,
    found: &str,
) -> Difference {
    Difference {
        table,
        account: account.to_owned(),
        position: None,
        column,
        expected: expected.to_owned(),
        found: found.to_owned(),
    }
}

/// Difference for a row that the log does not know.
fn unexpected_row(table: &'static str, account: &str) -> Difference {
    difference(table, account, "row", "none", "one")
}

/// Difference for a missing row.
fn missing_row(table: &'static str, account: &str) -> Difference {
    difference(table, account, "row", "one", "none")
}

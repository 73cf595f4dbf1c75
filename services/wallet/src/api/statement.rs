//! Statements: pages, and files in pieces.
//!
//! A line is the movement of a player's credits by one transfer, on the account and at tables: a
//! buy-in moves credits from the account to a table, a hand moves credits at its table, or 0 where
//! the player's net is zero. `balance` is that of the account, `total` is all of the player's
//! credits; opening value, lines and closing value add up for both.

use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;

use eventlog::Position;
use futures_util::stream::{Stream, try_unfold};
use ledger::Account;
use primitives::{PlayerId, UnixMicros};
use prost_types::Timestamp;
use proto::wallet::v1 as pb;
use tokio::sync::Semaphore;
use tonic::{Request, Status};
use wire::BadField;

use super::{Api, caller, page, statement_permit, target_player, text};
use crate::repo::{Holdings, Repo, StatementLine, StoredAccount};
use crate::wallet::WalletError;

/// Entries read at a time for a file.
const PAGE: usize = 500;
/// Bytes in one piece of a file.
const PIECE_BYTES: usize = 32 * 1024;

pub(super) type Chunks =
    Pin<Box<dyn Stream<Item = Result<pb::ExportStatementResponse, Status>> + Send>>;

impl Api {
    pub(super) async fn entries(
        &self,
        request: Request<pb::ListEntriesRequest>,
    ) -> Result<pb::ListEntriesResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ListEntriesRequest { player_id, page_size, page_token, start_time, end_time } =
            request.into_inner();
        let player = target_player(&caller, &player_id).map_err(|status| *status)?;
        let (size, seen) = page(page_size, &page_token)?;
        let _turn = statement_permit(&self.statement_permits).await?;
        let found = self.account_of(Account::Player(player)).await?;
        let repo = self.wallet.repo()?;
        let span = positions_between(repo, found.size, start_time, end_time).await?;
        let positions = span.start.max(seen)..span.end;
        let opening = repo.holdings_before(player, Position(positions.start)).await;
        let opening = opening.map_err(WalletError::from)?;
        let read = repo.statement(player, positions, size + 1).await;
        let mut read = read.map_err(WalletError::from)?;
        let more = read.len() > size;
        read.truncate(size);
        let last = read.last().filter(|_| more);
        let mut now = opening;
        Ok(pb::ListEntriesResponse {
            next_page_token: last.map(|last| last.position.0.to_string()).unwrap_or_default(),
            entries: read.iter().map(|line| entry(line, &mut now)).collect(),
            opening_balance_credits: opening.balance,
            opening_total_credits: opening.total,
        })
    }

    pub(super) async fn export(
        &self,
        request: Request<pb::ExportStatementRequest>,
    ) -> Result<Chunks, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ExportStatementRequest { player_id, start_time, end_time, format } =
            request.into_inner();
        let player = target_player(&caller, &player_id).map_err(|status| *status)?;
        let format = match pb::StatementFormat::try_from(format) {
            Ok(pb::StatementFormat::Unspecified | pb::StatementFormat::Csv) => Format::Csv,
            Ok(pb::StatementFormat::Json) => Format::Json,
            Err(_) => return Err(BadField::new("format", "CSV or JSON").into()),
        };
        let _turn = statement_permit(&self.statement_permits).await?;
        let StoredAccount { account, size, .. } = self.account_of(Account::Player(player)).await?;
        let repo = self.wallet.repo()?.clone();
        // The size is fixed at the start, so that a statement is of one moment.
        let left = positions_between(&repo, size, start_time, end_time).await?;
        let opening = repo.holdings_before(player, Position(left.start)).await;
        let now = opening.map_err(WalletError::from)?;
        let writing = StatementFile {
            repo,
            format,
            player,
            remaining: left,
            holdings: now,
            text: format.begin(account, now),
            has_entries: false,
            stage: Stage::Entries,
            stopping: self.stopping.clone(),
            statements: Arc::clone(&self.statement_permits),
        };
        Ok(Box::pin(try_unfold(writing, StatementFile::next)))
    }
}

#[derive(Clone, Copy)]
enum Format {
    Csv,
    Json,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Entries,
    /// All is written; the rest of the text is sent.
    Flush,
}

/// A file that is being written and sent.
struct StatementFile {
    repo: Repo,
    format: Format,
    player: PlayerId,
    remaining: Range<u64>,
    /// Credits of the player after what is written.
    holdings: Holdings,
    /// Written and not sent yet.
    text: String,
    has_entries: bool,
    stage: Stage,
    stopping: tokio_util::sync::CancellationToken,
    statements: Arc<Semaphore>,
}

impl StatementFile {
    async fn next(
        mut self,
    ) -> Result<Option<(pb::ExportStatementResponse, StatementFile)>, Status> {
        while self.stage == Stage::Entries && self.text.len() < PIECE_BYTES {
            if self.stopping.is_cancelled() {
                let text = "the wallet is stopping: ask for the statement again";
                return Err(wire::status::unavailable(text).into());
            }
            let turn = statement_permit(&self.statements).await?;
            let read = self.repo.statement(self.player, self.remaining.clone(), PAGE).await;
            let read = read.map_err(WalletError::from)?;
            drop(turn);
            for line in &read {
                self.write(line);
            }
            match read.last() {
                Some(last) if read.len() == PAGE => self.remaining.start = last.position.0 + 1,
                Some(_) | None => {
                    self.format.end(&mut self.text, self.holdings);
                    self.stage = Stage::Flush;
                }
            }
        }
        if self.text.is_empty() {
            return Ok(None);
        }
        let mut end = PIECE_BYTES.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let rest = self.text.split_off(end);
        let chunk = std::mem::replace(&mut self.text, rest).into_bytes();
        Ok(Some((pb::ExportStatementResponse { chunk }, self)))
    }

    fn write(&mut self, line: &StatementLine) {
        self.holdings.add(line);
        match self.format {
            Format::Csv => text::write_csv_line(&mut self.text, line, self.holdings),
            Format::Json => {
                if std::mem::replace(&mut self.has_entries, true) {
                    self.text.push(',');
                }
                text::write_json_line(&mut self.text, line, self.holdings);
            }
        }
    }
}

impl Format {
    fn begin(self, account: Account, opening: Holdings) -> String {
        let Holdings { balance, total } = opening;
        match self {
            Format::Csv => text::CSV_HEADER.to_owned(),
            Format::Json => format!(
                "{{\"account\":\"{account}\",\"opening\":\"{balance}\",\
                 \"opening_total\":\"{total}\",\"entries\":["
            ),
        }
    }

    fn end(self, text: &mut String, closing: Holdings) {
        let Holdings { balance, total } = closing;
        match self {
            Format::Csv => {}
            Format::Json => {
                text.push_str(&format!(
                    "],\"closing\":\"{balance}\",\"closing_total\":\"{total}\"}}\n"
                ));
            }
        }
    }
}

/// Positions of the events within a span of time.
async fn positions_between(
    repo: &Repo,
    size: u64,
    start_time: Option<Timestamp>,
    end_time: Option<Timestamp>,
) -> Result<Range<u64>, Status> {
    let position = async |name, time: Option<Timestamp>| -> Result<Option<u64>, Status> {
        let Some(time) = time else { return Ok(None) };
        // Times are recorded to the microsecond: a time in between counts as the next one.
        let between = u64::from(time.nanos % 1000 != 0);
        let time = UnixMicros(text::parse_time(name, time)?.0 + between);
        Ok(Some(repo.events_before(time).await.map_err(WalletError::from)?))
    };
    let start = position("start_time", start_time).await?.unwrap_or(0);
    let end = position("end_time", end_time).await?.unwrap_or(size).min(size);
    Ok(start..end)
}

fn entry(line: &StatementLine, now: &mut Holdings) -> pb::Entry {
    now.add(line);
    let StatementLine { position, amount, at_table, kind, reason, table, recorded_at, transfer } =
        line;
    pb::Entry {
        transfer_id: transfer.map(|id| id.to_string()).unwrap_or_default(),
        record_time: recorded_at.map(text::timestamp),
        kind: text::transfer_kind(*kind).into(),
        amount_credits: amount.get(),
        balance_credits: now.balance,
        hand_id: text::hand_of(line).map(|hand| hand.to_string()).unwrap_or_default(),
        table_id: table.map(|table| table.to_string()).unwrap_or_default(),
        reason: reason.clone().unwrap_or_default(),
        position: position.0,
        at_table_credits: at_table.get(),
        total_credits: now.total,
    }
}

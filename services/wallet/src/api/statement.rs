//! Statements: pages, and files in pieces.

use std::ops::Range;
use std::pin::Pin;

use futures_util::stream::{Stream, try_unfold};
use ledger::{Account, Amount};
use primitives::UnixMicros;
use prost_types::Timestamp;
use proto::wallet::v1 as pb;
use tonic::{Request, Status};
use wire::BadField;

use super::{Api, caller, page, text, whose};
use crate::repo::{AccountRead, EntryRead, Repo};
use crate::wallet::Problem;

/// Entries read at a time for a file, and the bytes of one piece.
const PAGE: usize = 500;
const PIECE: usize = 32 * 1024;

pub(super) type Chunks =
    Pin<Box<dyn Stream<Item = Result<pb::ExportStatementResponse, Status>> + Send>>;

impl Api {
    pub(super) async fn entries(
        &self,
        request: Request<pb::ListEntriesRequest>,
    ) -> Result<pb::ListEntriesResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ListEntriesRequest { player_id, page_size, page_token, from, to } =
            request.into_inner();
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let (size, seen) = page(page_size, &page_token)?;
        let found = self.account_of(Account::Player(player)).await?;
        let books = self.wallet.read()?;
        let span = span(books, found.size, from, to).await?;
        let positions = span.start.max(seen)..span.end;
        let read = books.entries(found.state.number, positions, size + 1).await;
        let mut read = read.map_err(Problem::from)?;
        let more = read.len() > size;
        read.truncate(size);
        let last = read.last().filter(|_| more);
        Ok(pb::ListEntriesResponse {
            next_page_token: last.map(|last| last.position.0.to_string()).unwrap_or_default(),
            entries: read.iter().map(entry).collect(),
        })
    }

    pub(super) async fn export(
        &self,
        request: Request<pb::ExportStatementRequest>,
    ) -> Result<Chunks, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ExportStatementRequest { player_id, from, to, format } = request.into_inner();
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let format = match pb::StatementFormat::try_from(format) {
            Ok(pb::StatementFormat::Unspecified | pb::StatementFormat::Csv) => Format::Csv,
            Ok(pb::StatementFormat::Json) => Format::Json,
            Err(_) => return Err(BadField::new("format", "CSV or JSON").into()),
        };
        let AccountRead { account, state, opened: _, size } =
            self.account_of(Account::Player(player)).await?;
        let books = self.wallet.read()?.clone();
        // What comes later is not in it: a statement is of one moment.
        let left = span(&books, size, from, to).await?;
        let opening = books.balance_before(state.number, eventlog::Position(left.start)).await;
        let opening = opening.map_err(Problem::from)?;
        let writing = Writing {
            books,
            format,
            number: state.number,
            left,
            balance: opening,
            text: format.begin(account, opening),
            any: false,
            stage: Stage::Entries,
            stopping: self.stopping.clone(),
        };
        Ok(Box::pin(try_unfold(writing, Writing::next)))
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
    /// All is written; what is left of it is sent.
    Rest,
}

/// A file on its way.
struct Writing {
    books: Repo,
    format: Format,
    number: u32,
    left: Range<u64>,
    /// After what is written.
    balance: Amount,
    /// Written and not sent.
    text: String,
    any: bool,
    stage: Stage,
    stopping: tokio_util::sync::CancellationToken,
}

impl Writing {
    async fn next(mut self) -> Result<Option<(pb::ExportStatementResponse, Writing)>, Status> {
        while self.stage == Stage::Entries && self.text.len() < PIECE {
            if self.stopping.is_cancelled() {
                let text = "the wallet is stopping: ask for the statement again";
                return Err(wire::status::unavailable(text).into());
            }
            let read = self.books.entries(self.number, self.left.clone(), PAGE).await;
            let read = read.map_err(Problem::from)?;
            for entry in &read {
                self.write(entry);
            }
            match read.last() {
                Some(last) if read.len() == PAGE => self.left.start = last.position.0 + 1,
                Some(_) | None => {
                    self.format.end(&mut self.text, self.balance);
                    self.stage = Stage::Rest;
                }
            }
        }
        if self.text.is_empty() {
            return Ok(None);
        }
        let mut end = PIECE.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let rest = self.text.split_off(end);
        let chunk = std::mem::replace(&mut self.text, rest).into_bytes();
        Ok(Some((pb::ExportStatementResponse { chunk }, self)))
    }

    fn write(&mut self, entry: &EntryRead) {
        match self.format {
            Format::Csv => text::csv(&mut self.text, entry),
            Format::Json => {
                if std::mem::replace(&mut self.any, true) {
                    self.text.push(',');
                }
                text::json(&mut self.text, entry);
            }
        }
        self.balance = entry.balance;
    }
}

impl Format {
    fn begin(self, account: Account, opening: Amount) -> String {
        match self {
            Format::Csv => text::CSV_HEADER.to_owned(),
            Format::Json => {
                format!("{{\"account\":\"{account}\",\"opening\":\"{opening}\",\"entries\":[")
            }
        }
    }

    fn end(self, text: &mut String, closing: Amount) {
        match self {
            Format::Csv => {}
            Format::Json => {
                text.push_str("],\"closing\":\"");
                text.push_str(&closing.to_string());
                text.push_str("\"}\n");
            }
        }
    }
}

/// The positions of a span of time.
async fn span(
    books: &Repo,
    size: u64,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
) -> Result<Range<u64>, Status> {
    let position = async |name, time: Option<Timestamp>| -> Result<Option<u64>, Status> {
        let Some(time) = time else { return Ok(None) };
        // Times are recorded to the microsecond: one in between is before the next.
        let between = u64::from(time.nanos % 1000 != 0);
        let time = UnixMicros(text::time(name, time)?.0 + between);
        Ok(Some(books.before(time).await.map_err(Problem::from)?))
    };
    let start = position("from", from).await?.unwrap_or(0);
    let end = position("to", to).await?.unwrap_or(size).min(size);
    Ok(start..end)
}

fn entry(entry: &EntryRead) -> pb::Entry {
    let EntryRead { position, amount, balance, kind, reason, other: _, recorded_at, transfer } =
        entry;
    pb::Entry {
        transfer_id: transfer.map(|id| id.0.to_vec()).unwrap_or_default(),
        recorded_at: Some(text::timestamp(*recorded_at)),
        kind: text::kind(*kind).into(),
        amount: amount.get(),
        balance: balance.get(),
        // No kind of transfer that belongs to a hand touches a player's account.
        hand_id: Default::default(),
        table_id: text::table_of(entry).map(|table| table.0.to_vec()).unwrap_or_default(),
        reason: reason.clone().unwrap_or_default(),
        position: position.0,
    }
}

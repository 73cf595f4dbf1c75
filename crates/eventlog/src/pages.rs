//! Pages of a log, read one ahead: while a caller uses one, the store reads the next.
//!
//! Specification: ARCHITECTURE.md §2.8.

use std::ops::Range;

use eventlog_core::{Event, Position};
use tokio_util::task::AbortOnDropHandle;

use crate::error::ReadError;
use crate::reader::Reader;

/// Most events in one page.
const PAGE: usize = 4000;

type PageRead = AbortOnDropHandle<Result<Vec<Event>, ReadError>>;

/// Events of a range of positions, page by page, in order. Two pages are in memory at a time.
pub struct Pages {
    reader: Reader,
    end: Position,
    ahead: Option<PageRead>,
}

impl Pages {
    pub(crate) fn new(reader: Reader, range: Range<Position>) -> Pages {
        let mut pages = Pages { reader, end: range.end, ahead: None };
        pages.read_ahead(range.start);
        pages
    }

    fn read_ahead(&mut self, from: Position) {
        let left = usize::try_from(self.end.0.saturating_sub(from.0)).unwrap_or(PAGE).min(PAGE);
        self.ahead = (left > 0).then(|| {
            let reader = self.reader.clone();
            let page = async move { reader.read(from, left).await };
            AbortOnDropHandle::new(tokio::spawn(page))
        });
    }

    /// Next page, which is not empty; `None` at the end of the range or of the log.
    ///
    /// # Errors
    /// The log cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, ReadError> {
        let Some(ahead) = self.ahead.take() else { return Ok(None) };
        let page = ahead.await.unwrap_or(Err(ReadError::Unavailable { source: None }))?;
        let Some(last) = page.last() else { return Ok(None) };
        self.read_ahead(Position(last.position.0 + 1));
        Ok(Some(page))
    }
}

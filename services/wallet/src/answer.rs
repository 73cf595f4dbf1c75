//! Answers to durable commands, and their stored form: a repeated request gets exactly its first
//! answer, whatever has happened since.
//!
//! Specification: ARCHITECTURE.md §2.9.

use bytes::Bytes;
use eventlog::Position;
use ledger::{AllLimitTerms, Amount, LimitTerms, Limits, Seconds};
use primitives::{Credits, UnixMicros};

/// Answer to a command that is durable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Position of its last event; for a transfer, the transfer's.
    pub position: Position,
    pub content: AnswerContent,
}

/// Content of an answer beside the position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnswerContent {
    Empty,
    /// Balance of the player's account after an issue or a redemption.
    Balance(Amount),
    /// Number of accounts that were opened.
    AccountsOpened(u32),
    /// All limits of the author that set some of them. Boxed because few answers have it.
    LimitTerms(Box<AllLimitTerms>),
    /// End of an exclusion; `None` if it never ends.
    ExcludedUntil(Option<UnixMicros>),
}

const EMPTY: u8 = 0;
const BALANCE: u8 = 1;
const ACCOUNTS_OPENED: u8 = 2;
const LIMIT_TERMS: u8 = 3;
const EXCLUDED_UNTIL: u8 = 4;

/// Writes an answer: offset of the last event from the entry's first (2 bytes), tag (1 byte),
/// content.
#[must_use]
pub(crate) fn encode(last: u16, content: &AnswerContent) -> Bytes {
    if last == 0 && *content == AnswerContent::Empty {
        return Bytes::from_static(&[0, 0, EMPTY]);
    }
    let mut bytes = Vec::with_capacity(16);
    bytes.extend(last.to_be_bytes());
    match content {
        AnswerContent::Empty => bytes.push(EMPTY),
        AnswerContent::Balance(balance) => {
            bytes.push(BALANCE);
            bytes.extend(balance.get().to_be_bytes());
        }
        AnswerContent::AccountsOpened(opened) => {
            bytes.push(ACCOUNTS_OPENED);
            bytes.extend(opened.to_be_bytes());
        }
        AnswerContent::LimitTerms(all) => {
            let AllLimitTerms { buy_in, loss, time } = **all;
            bytes.push(LIMIT_TERMS);
            write_terms(&mut bytes, &buy_in, Credits::get);
            write_terms(&mut bytes, &loss, Credits::get);
            write_terms(&mut bytes, &time, |Seconds(seconds)| seconds);
        }
        AnswerContent::ExcludedUntil(until) => {
            bytes.push(EXCLUDED_UNTIL);
            write_optional(&mut bytes, until.map(|until| until.0));
        }
    }
    bytes.into()
}

/// Reads a stored answer, whose events begin at `first`; `None` if no wallet can have written it.
#[must_use]
pub(crate) fn decode(answer: &[u8], first: Position) -> Option<Answer> {
    let mut bytes = Reader(answer);
    let last = u64::from(u16::from_be_bytes(bytes.take()?));
    let content = match bytes.take::<1>()? {
        [EMPTY] => AnswerContent::Empty,
        [BALANCE] => {
            AnswerContent::Balance(Amount::try_new(i64::from_be_bytes(bytes.take()?)).ok()?)
        }
        [ACCOUNTS_OPENED] => AnswerContent::AccountsOpened(u32::from_be_bytes(bytes.take()?)),
        [LIMIT_TERMS] => {
            let credits = |limit| Credits::try_new(limit).ok();
            AnswerContent::LimitTerms(Box::new(AllLimitTerms {
                buy_in: bytes.terms(credits)?,
                loss: bytes.terms(credits)?,
                time: bytes.terms(|limit| Some(Seconds(limit)))?,
            }))
        }
        [EXCLUDED_UNTIL] => AnswerContent::ExcludedUntil(bytes.optional()?.map(UnixMicros)),
        _ => return None,
    };
    let position = Position(first.0.checked_add(last)?);
    bytes.0.is_empty().then_some(Answer { position, content })
}

fn write_terms<T: Copy>(bytes: &mut Vec<u8>, terms: &LimitTerms<T>, unit: impl Fn(T) -> u64) {
    let LimitTerms { now, later } = terms;
    write_limits(bytes, now, &unit);
    write_optional(bytes, later.map(|(from, _)| from.0));
    write_limits(bytes, &later.map(|(_, limits)| limits).unwrap_or_default(), &unit);
}

fn write_limits<T: Copy>(bytes: &mut Vec<u8>, limits: &Limits<T>, unit: &impl Fn(T) -> u64) {
    let Limits { day, week, month } = limits;
    for limit in [day, week, month] {
        write_optional(bytes, limit.map(unit));
    }
}

fn write_optional(bytes: &mut Vec<u8>, number: Option<u64>) {
    bytes.push(u8::from(number.is_some()));
    bytes.extend(number.unwrap_or_default().to_be_bytes());
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*taken)
    }

    fn optional(&mut self) -> Option<Option<u64>> {
        let [there] = self.take()?;
        let number = u64::from_be_bytes(self.take()?);
        Some((there == 1).then_some(number))
    }

    fn terms<T>(&mut self, unit: impl Fn(u64) -> Option<T>) -> Option<LimitTerms<T>> {
        let now = self.limits(&unit)?;
        let from = self.optional()?;
        let later = self.limits(&unit)?;
        Some(LimitTerms { now, later: from.map(|from| (UnixMicros(from), later)) })
    }

    fn limits<T>(&mut self, unit: &impl Fn(u64) -> Option<T>) -> Option<Limits<T>> {
        let mut next = || match self.optional()? {
            Some(limit) => Some(Some(unit(limit)?)),
            None => Some(None),
        };
        Some(Limits { day: next()?, week: next()?, month: next()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Position = Position(40);

    #[test]
    fn every_answer_is_read_back_as_it_was() {
        let some = Limits { day: Some(Credits::of(5)), week: None, month: Some(Credits::MAX) };
        let buy_in = LimitTerms { now: some, later: Some((UnixMicros(9), Limits::NONE)) };
        let loss = LimitTerms { now: some, later: None };
        let day = Limits { day: Some(Seconds(7)), ..Limits::NONE };
        let time = LimitTerms { now: day, later: Some((UnixMicros(8), day)) };
        let all = [
            AnswerContent::Empty,
            AnswerContent::Balance(Amount::debit(Credits::of(7))),
            AnswerContent::AccountsOpened(1000),
            AnswerContent::LimitTerms(Box::new(AllLimitTerms { buy_in, loss, time })),
            AnswerContent::LimitTerms(Box::default()),
            AnswerContent::ExcludedUntil(None),
            AnswerContent::ExcludedUntil(Some(UnixMicros(3))),
        ];
        for content in all {
            for last in [0, 2, 999] {
                let bytes = encode(last, &content);
                let position = Position(FIRST.0 + u64::from(last));
                let done = Answer { position, content: content.clone() };
                assert_eq!(decode(&bytes, FIRST), Some(done));
                assert_eq!(decode(&bytes[..bytes.len() - 1], FIRST), None, "{content:?}");
            }
        }
        assert_eq!(decode(&[0, 0, 9], FIRST), None);
        assert_eq!(decode(&[0, 0, 0, 0], FIRST), None);
    }
}

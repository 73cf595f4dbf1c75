//! One hand as its dealer knows it: a fold of the hand's stream, and the steps that may follow.
//!
//! There is no I/O here. The caller writes the returned events to the log first, and keeps the
//! changed hand only after that. If the log does not take them, the hand is thrown away, not
//! undone.
//!
//! A hand is **committed**: its seed is fixed and signed for. It is **closed**: the dealer signs
//! what each seat has committed to, before any seat reveals. It is **sealed**: the entropy that the
//! seats reveal is bound to the seed, which determines every card. Then operations are performed
//! and cards revealed, and at last the seed is published. A step that was done before, requested
//! with equal contents, gives its first answer and no event.
//!
//! Specification: fairness/SPEC.md §3.2, §3.7 to §3.11.

use std::fmt;
use std::sync::Arc;

use ed25519_dalek::SigningKey;
use fairness::{
    Closing, ClosingError, ClosingRow, ClosingStatement, Commitment, CommitmentStatement, Context,
    Handle, KeyId, Keys, OperationRequest, PublicOutcome, RowStatus, Seed, Shoe, ShoeError,
    SignedText, Transcript, TranscriptError, TranscriptRow,
};
use primitives::{HandId, TableId};

/// Name of a hand: its table and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandName {
    pub table: TableId,
    /// Counts from 1.
    pub number: u64,
}

impl HandName {
    #[must_use]
    pub fn id(self) -> HandId {
        fairness::hand_id(self.table, self.number)
    }

    /// Returns the hand before; none for a table's first.
    #[must_use]
    pub fn before(self) -> Option<HandName> {
        let number = self.number.checked_sub(1).filter(|number| *number > 0)?;
        Some(HandName { number, ..self })
    }
}

/// The dealer's signed commitment to a hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub hand: HandName,
    pub rules_hash: [u8; 32],
    pub commitment: Commitment,
    pub key_id: [u8; 8],
    pub signature: [u8; 64],
    /// Origin of the dealer's log.
    pub origin: Arc<str>,
}

impl Committed {
    #[must_use]
    pub fn context(&self) -> Context {
        let HandName { table, number } = self.hand;
        Context::new(&self.origin, table, number, &self.rules_hash)
    }

    /// Statement that the signature is of.
    #[must_use]
    pub fn statement(&self) -> CommitmentStatement<'_> {
        CommitmentStatement {
            origin: &self.origin,
            table: self.hand.table,
            hand_no: self.hand.number,
            rules_hash: &self.rules_hash,
            commitment: &self.commitment,
        }
    }
}

/// The dealer's signed word on what the seats have committed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closed {
    pub closing: Closing,
    /// One for each seat of the roster, ascending.
    pub rows: Vec<ClosingRow>,
    pub key_id: [u8; 8],
    pub signature: [u8; 64],
}

/// Entropy of the seats, to be sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealInput {
    pub rows: Vec<TranscriptRow>,
}

/// An operation with its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexedOperation {
    pub index: u32,
    pub request: OperationRequest,
}

/// Reason for revealing a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// To the seat that the card is dealt to.
    Deal,
    /// To everybody: the rules deal the card face up.
    Rule,
    /// To everybody: the card is in a hand that is shown at the end.
    Show,
    /// The table lost its memory. It may request cards that moved since, and cards after the seed
    /// is published.
    Recovery,
}

/// Cards to be revealed to an audience.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CardReveal {
    pub cards: Vec<Handle>,
    /// The seat that may see them; 0 for everybody.
    pub audience: u8,
    pub reason: Reason,
}

/// A request for chance: operations, then card reveals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerformCommand {
    pub operations: Vec<IndexedOperation>,
    pub card_reveals: Vec<CardReveal>,
}

/// Public result of an operation: dice from 1; a pulse 0 or 1; a pick; a sample; a shuffle's number
/// of cards, and the root over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationResult {
    pub index: u32,
    pub values: Vec<u32>,
    /// Root of a shuffle. Records written before roots were stored have none.
    pub root: Option<[u8; 32]>,
}

/// Answer to a request for chance, each list in the order of the request: every revealed card has
/// its proof.
#[derive(Clone, PartialEq, Eq)]
pub struct PerformOutcome {
    pub results: Vec<OperationResult>,
    pub revealed_cards: Vec<Vec<fairness::ProvedCard>>,
}

impl fmt::Debug for PerformOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opened: Vec<usize> = self.revealed_cards.iter().map(Vec::len).collect();
        write!(f, "Performed {{ results: {:?}, opened: {opened:?} cards }}", self.results)
    }
}

/// Event of a hand's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    SeedCommitted(Committed),
    CommitmentsClosed(Closed),
    SeedSealed {
        transcript: Transcript,
        seal_input: SealInput,
    },
    OperationPerformed {
        operation: IndexedOperation,
        result: OperationResult,
    },
    CardsOpened {
        card_reveal: CardReveal,
        caller: Arc<str>,
    },
    /// The seed is public. `discarded` says that the hand was burnt or aborted.
    SeedOpened {
        seed: Seed,
        discarded: bool,
    },
}

/// Reason why the dealer refuses a command. Nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the hand is committed under another rule set: a change of rules waits for the next")]
    OtherRules,
    #[error("numbers are promised in order: the one before is not promised, or show its promise")]
    OutOfOrder,
    #[error("the promise that was shown for the number before is not this dealer's")]
    ForeignPromise,
    #[error("the log has lost the promises up to hand {last}: none of them is promised again")]
    NumberLost { last: u64 },
    #[error("the commitments are not closed yet: call Close first")]
    NotClosed,
    #[error("the commitments are closed with other rows: what is closed stays")]
    ClosedOtherwise,
    #[error("the rows are not those of the closing: the same seats, players and commitments")]
    NotTheClosing,
    #[error("no entropy is sealed yet: call Seal first")]
    NotSealed,
    #[error("the hand is sealed with other entropy: what is sealed stays")]
    SealedOtherwise,
    #[error(
        "a seat withheld what it committed to: such a hand is not played, its seed is discarded"
    )]
    Withheld,
    #[error("the seed is public: nothing more can be sealed, performed or opened")]
    Revealed,
    #[error("the seed was opened before, as that of a hand that was {}", if *.discarded { "discarded" } else { "played" })]
    RevealedOtherwise { discarded: bool },
    #[error(transparent)]
    Closing(#[from] ClosingError),
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    #[error(transparent)]
    Shoe(#[from] ShoeError),
}

/// Reason why a stream cannot be a hand's: it contradicts itself or the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    #[error("a hand's stream begins with its commitment, and has one")]
    Order,
    #[error("the kept seed does not open the commitment")]
    Seed,
    #[error("the stored closing is not that of the stored rows")]
    Closing,
    #[error("the stored transcript is not that of the stored rows")]
    Transcript,
    #[error("operation {0} gives another result than is stored")]
    Result(u32),
    #[error("a stored step is refused now: {0}")]
    Refused(#[from] Refusal),
}

/// State of one hand. The module describes its steps.
#[derive(Debug)]
pub struct Hand {
    committed: Committed,
    seed: Seed,
    closed: Option<Closed>,
    sealed: Option<Sealed>,
    /// Set once the seed is public: whether the hand was discarded.
    revealed: Option<bool>,
}

#[derive(Debug)]
struct Sealed {
    seal_input: SealInput,
    transcript: Transcript,
    shoe: Shoe,
}

impl Hand {
    /// Makes a hand that is committed and no more. `seed` must be the one committed to.
    pub fn try_new(committed: Committed, seed: Seed) -> Result<Hand, Contradiction> {
        if committed.commitment.opens(&committed.context(), &seed) {
            Ok(Hand { committed, seed, closed: None, sealed: None, revealed: None })
        } else {
            Err(Contradiction::Seed)
        }
    }

    #[must_use]
    pub fn committed(&self) -> &Committed {
        &self.committed
    }

    /// Fixes what the seats have committed to, signed with `key`. Returns the closing and the new
    /// events.
    pub fn close(
        &mut self,
        rows: Vec<ClosingRow>,
        key: &SigningKey,
    ) -> Result<(Closed, Vec<Event>), Refusal> {
        if let Some(closed) = &self.closed {
            let same = closed.rows == rows;
            return if same {
                Ok((closed.clone(), Vec::new()))
            } else {
                Err(Refusal::ClosedOtherwise)
            };
        }
        if self.revealed.is_some() {
            return Err(Refusal::Revealed);
        }
        let (context, dealer) = (self.committed.context(), &self.committed.commitment);
        let closing = Closing::try_new(&context, dealer, &rows)?;
        let statement = ClosingStatement { context: &context, dealer, closing: &closing };
        let signature = statement.sign(key);
        let key_id = KeyId::of(key.verifying_key().as_bytes()).0;
        let closed = Closed { closing, rows, key_id, signature };
        self.closed = Some(closed.clone());
        Ok((closed.clone(), vec![Event::CommitmentsClosed(closed)]))
    }

    /// Takes a closing from the log, after computing it again.
    fn replay_close(&mut self, closed: Closed) -> Result<(), Contradiction> {
        if self.closed.is_some() || self.sealed.is_some() {
            return Err(Contradiction::Order);
        }
        let (context, dealer) = (self.committed.context(), &self.committed.commitment);
        let made = Closing::try_new(&context, dealer, &closed.rows).map_err(Refusal::from)?;
        if made != closed.closing {
            return Err(Contradiction::Closing);
        }
        self.closed = Some(closed);
        Ok(())
    }

    /// Binds the seats' entropy, of exactly the closing's seats, players and commitments. Returns
    /// the transcript and the new events.
    pub fn seal(&mut self, sealing: SealInput) -> Result<(Transcript, Vec<Event>), Refusal> {
        if let Some(sealed) = &self.sealed {
            let same = sealed.seal_input == sealing;
            return if same {
                Ok((sealed.transcript, Vec::new()))
            } else {
                Err(Refusal::SealedOtherwise)
            };
        }
        if self.revealed.is_some() {
            return Err(Refusal::Revealed);
        }
        if sealing.rows.iter().any(|row| row.status == RowStatus::Withheld) {
            return Err(Refusal::Withheld);
        }
        let closed = self.closed.as_ref().ok_or(Refusal::NotClosed)?;
        if !sealing.rows.iter().map(closing_row).eq(closed.rows.iter().copied()) {
            return Err(Refusal::NotTheClosing);
        }
        let context = self.committed.context();
        let dealer = &self.committed.commitment;
        let transcript = Transcript::try_new(&context, dealer, None, &sealing.rows)?;
        let shoe = Shoe::new(Keys::derive(&transcript, &self.seed));
        let event = Event::SeedSealed { transcript, seal_input: sealing.clone() };
        self.sealed = Some(Sealed { seal_input: sealing, transcript, shoe });
        Ok((transcript, vec![event]))
    }

    /// Performs operations, then reveals cards. Returns the answer and the new events: one for each
    /// operation not done before, and one for every card reveal. After a refusal the hand may be
    /// half changed and must be thrown away.
    pub fn perform(
        &mut self,
        asked: &PerformCommand,
        caller: &Arc<str>,
    ) -> Result<(PerformOutcome, Vec<Event>), Refusal> {
        let revealed = self.revealed.is_some();
        let shoe = &mut self.sealed.as_mut().ok_or(Refusal::NotSealed)?.shoe;
        let (mut results, mut opened, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for IndexedOperation { index, request: ask } in &asked.operations {
            let new = shoe.next_index() == *index;
            if new && revealed {
                return Err(Refusal::Revealed);
            }
            let done = operation_result(*index, &shoe.perform(*index, ask)?);
            if new {
                let operation = IndexedOperation { index: *index, request: ask.clone() };
                events.push(Event::OperationPerformed { operation, result: done.clone() });
            }
            results.push(done);
        }
        for opening in &asked.card_reveals {
            opened.push(reveal_cards(shoe, opening, revealed)?);
            events.push(Event::CardsOpened {
                card_reveal: opening.clone(),
                caller: Arc::clone(caller),
            });
        }
        Ok((PerformOutcome { results, revealed_cards: opened }, events))
    }

    /// Repeats an answer that is known to have been given before, also for cards that have moved
    /// since.
    pub fn repeat(&mut self, asked: &PerformCommand) -> Result<PerformOutcome, Refusal> {
        let shoe = &mut self.sealed.as_mut().ok_or(Refusal::NotSealed)?.shoe;
        let mut results = Vec::new();
        for IndexedOperation { index, request: ask } in &asked.operations {
            let next = shoe.next_index();
            if *index >= next {
                return Err(ShoeError::IndexGap { index: *index, next }.into());
            }
            results.push(operation_result(*index, &shoe.perform(*index, ask)?));
        }
        let reopen = |opening: &CardReveal| opening.cards.iter().map(|c| shoe.prove(*c)).collect();
        let opened: Result<_, ShoeError> = asked.card_reveals.iter().map(reopen).collect();
        Ok(PerformOutcome { results, revealed_cards: opened? })
    }

    /// Publishes the seed. Returns it with the new events. Only a `discarded` hand can be without
    /// entropy: the seed of any other still has to be dealt from.
    pub fn reveal(&mut self, discarded: bool) -> Result<(Seed, Vec<Event>), Refusal> {
        match self.revealed {
            Some(before) if before == discarded => return Ok((self.seed.clone(), Vec::new())),
            Some(before) => return Err(Refusal::RevealedOtherwise { discarded: before }),
            None if self.sealed.is_none() && !discarded => return Err(Refusal::NotSealed),
            None => self.revealed = Some(discarded),
        }
        let seed = self.seed.clone();
        Ok((seed.clone(), vec![Event::SeedOpened { seed, discarded }]))
    }

    /// Applies an event from the log, after checking it against the seed.
    pub fn replay(&mut self, event: Event) -> Result<(), Contradiction> {
        match event {
            Event::SeedCommitted(_) => Err(Contradiction::Order),
            Event::CommitmentsClosed(closed) => self.replay_close(closed),
            Event::SeedSealed { transcript, seal_input: sealing } => {
                let (derived, _) = self.seal(sealing)?;
                if derived == transcript { Ok(()) } else { Err(Contradiction::Transcript) }
            }
            Event::OperationPerformed { operation, result: done } => {
                let index = operation.index;
                let asked =
                    PerformCommand { operations: vec![operation], card_reveals: Vec::new() };
                let (performed, _) = self.perform(&asked, &Arc::from(""))?;
                let same = performed.results.iter().all(|now| now.matches_record(&done));
                if same { Ok(()) } else { Err(Contradiction::Result(index)) }
            }
            // It changed nothing, and was allowed when it was written.
            Event::CardsOpened { .. } => Ok(()),
            // This holds for a hand that was not sealed too: a public seed cannot be taken back.
            Event::SeedOpened { seed, discarded } if seed == self.seed => {
                self.revealed = Some(discarded);
                Ok(())
            }
            Event::SeedOpened { .. } => Err(Contradiction::Seed),
        }
    }
}

impl OperationResult {
    /// Whether `stored` has equal contents, as far as it has any.
    fn matches_record(&self, stored: &OperationResult) -> bool {
        let root = stored.root.or(self.root);
        *self == OperationResult { root, ..stored.clone() }
    }
}

/// Row of the closing that a row of the transcript must have.
fn closing_row(row: &TranscriptRow) -> ClosingRow {
    let TranscriptRow { seat, player, status, commitment, entropy: _ } = *row;
    let commitment = match status {
        RowStatus::Revealed | RowStatus::Withheld => Some(commitment),
        RowStatus::Absent => None,
    };
    ClosingRow { seat, player, commitment }
}

fn operation_result(index: u32, answer: &PublicOutcome) -> OperationResult {
    let root = match answer {
        PublicOutcome::Shuffled { root, count: _ } => Some(*root),
        PublicOutcome::Rolled(_)
        | PublicOutcome::Pulsed(_)
        | PublicOutcome::Picked(_)
        | PublicOutcome::Sampled(_) => None,
    };
    let values = match answer {
        PublicOutcome::Shuffled { root: _, count } => vec![u32::from(*count)],
        PublicOutcome::Rolled(sides) => sides.iter().copied().map(u32::from).collect(),
        PublicOutcome::Pulsed(yes) => vec![u32::from(*yes)],
        PublicOutcome::Picked(one) => vec![*one],
        PublicOutcome::Sampled(some) => some.clone(),
    };
    OperationResult { index, values, root }
}

fn reveal_cards(
    shoe: &Shoe,
    opening: &CardReveal,
    revealed: bool,
) -> Result<Vec<fairness::ProvedCard>, Refusal> {
    let recovery = match opening.reason {
        Reason::Recovery => true,
        Reason::Deal | Reason::Rule | Reason::Show => false,
    };
    if revealed && !recovery {
        return Err(Refusal::Revealed);
    }
    let card = |handle: &Handle| {
        if recovery { shoe.prove(*handle) } else { shoe.prove_current(*handle) }
    };
    Ok(opening.cards.iter().map(card).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests;

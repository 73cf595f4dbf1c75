//! One hand as its dealer knows it: a fold of the hand's stream, and what may be done next.
//!
//! No I/O: whoever calls writes the events that come back to the log first and keeps the changed
//! hand after that. Where the log does not take them the hand is thrown away, not undone.
//!
//! Committed → sealed → operations and openings → revealed. A step that was done already, asked for
//! in the same words, gives the same answer and no event.

use std::fmt;
use std::sync::Arc;

use fairness::{
    Answer, Ask, Beacon, Commitment, Context, Handle, Keys, Row, Seed, Shoe, ShoeError, Status,
    Transcript, TranscriptError,
};
use primitives::{HandId, TableId};

/// A hand by its place in its table's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandName {
    pub table: TableId,
    /// From 1.
    pub number: u64,
}

impl HandName {
    #[must_use]
    pub fn id(self) -> HandId {
        fairness::hand_id(self.table, self.number)
    }
}

/// What the dealer promised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    pub hand: HandName,
    pub rule_set_hash: [u8; 32],
    pub commitment: Commitment,
    pub key_id: [u8; 8],
    pub signature: [u8; 64],
    /// The origin of the dealer's log.
    pub origin: Arc<str>,
}

impl Committed {
    #[must_use]
    pub fn context(&self) -> Context {
        let HandName { table, number } = self.hand;
        Context::new(&self.origin, table, number, &self.rule_set_hash)
    }
}

/// What the seats brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealing {
    pub beacon: Option<Beacon>,
    pub rows: Vec<Row>,
}

/// An operation at its index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Indexed {
    pub index: u32,
    pub ask: Ask,
}

/// Why a card is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Deal,
    Rule,
    Show,
    /// The table lost its memory. It may ask for cards that moved since, and after the reveal.
    Recovery,
}

/// Cards to be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    pub cards: Vec<Handle>,
    /// The seat that may see them; 0 for everybody.
    pub audience: u8,
    pub reason: Reason,
}

/// Chance asked for: operations, then openings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Perform {
    pub operations: Vec<Indexed>,
    pub openings: Vec<Opening>,
}

/// The public result of an operation: dice from 1; a pulse 0 or 1; a pick; a sample; a shuffle's
/// number of cards, and the root over them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Done {
    pub index: u32,
    pub values: Vec<u32>,
    /// A shuffle's. Records older than roots have none.
    pub root: Option<[u8; 32]>,
}

/// Chance given, each list in the order asked for: every opened card with what proves it.
#[derive(Clone, PartialEq, Eq)]
pub struct Performed {
    pub results: Vec<Done>,
    pub opened: Vec<Vec<fairness::Opening>>,
}

impl fmt::Debug for Performed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let opened: Vec<usize> = self.opened.iter().map(Vec::len).collect();
        write!(f, "Performed {{ results: {:?}, opened: {opened:?} cards }}", self.results)
    }
}

/// What stands in a hand's stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    Committed(Committed),
    Sealed {
        transcript: Transcript,
        sealing: Sealing,
    },
    Performed {
        operation: Indexed,
        done: Done,
    },
    Opened {
        opening: Opening,
        caller: Arc<str>,
    },
    /// The seed is public; of a hand that was burnt or aborted where `discarded`.
    Revealed {
        seed: Seed,
        discarded: bool,
    },
}

/// A business no. Nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the hand is committed under another rule set: a change of rules waits for the next")]
    OtherRules,
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
    Transcript(#[from] TranscriptError),
    #[error(transparent)]
    Shoe(#[from] ShoeError),
}

/// The stream contradicts itself or what the seed gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Contradiction {
    #[error("a hand's stream begins with its commitment, and has one")]
    Order,
    #[error("the kept seed does not open the commitment")]
    Seed,
    #[error("the stored transcript is not that of the stored rows")]
    Transcript,
    #[error("operation {0} gives another result than is stored")]
    Result(u32),
    #[error("a stored step is refused now: {0}")]
    Refused(#[from] Refusal),
}

/// See the module.
#[derive(Debug)]
pub struct Hand {
    committed: Committed,
    seed: Seed,
    sealed: Option<Sealed>,
    /// Once the seed is public: whether the hand was discarded.
    revealed: Option<bool>,
}

#[derive(Debug)]
struct Sealed {
    sealing: Sealing,
    transcript: Transcript,
    shoe: Shoe,
}

impl Hand {
    /// A hand that is committed and no more; `seed` must be what was committed to.
    pub fn try_new(committed: Committed, seed: Seed) -> Result<Hand, Contradiction> {
        if committed.commitment.opens(&committed.context(), &seed) {
            Ok(Hand { committed, seed, sealed: None, revealed: None })
        } else {
            Err(Contradiction::Seed)
        }
    }

    #[must_use]
    pub fn committed(&self) -> &Committed {
        &self.committed
    }

    /// Binds the seats' entropy. The transcript, and what is new.
    pub fn seal(&mut self, sealing: Sealing) -> Result<(Transcript, Vec<Event>), Refusal> {
        if let Some(sealed) = &self.sealed {
            let same = sealed.sealing == sealing;
            return if same {
                Ok((sealed.transcript, Vec::new()))
            } else {
                Err(Refusal::SealedOtherwise)
            };
        }
        if self.revealed.is_some() {
            return Err(Refusal::Revealed);
        }
        if sealing.rows.iter().any(|row| row.status == Status::Withheld) {
            return Err(Refusal::Withheld);
        }
        let context = self.committed.context();
        let dealer = &self.committed.commitment;
        let transcript = Transcript::try_new(&context, dealer, sealing.beacon, &sealing.rows)?;
        let shoe = Shoe::new(Keys::derive(&transcript, &self.seed));
        let event = Event::Sealed { transcript, sealing: sealing.clone() };
        self.sealed = Some(Sealed { sealing, transcript, shoe });
        Ok((transcript, vec![event]))
    }

    /// Performs, then opens. The answer, and what is new: every opening, and each operation not
    /// done before. After a refusal the hand may be half changed: throw it away.
    pub fn perform(
        &mut self,
        asked: &Perform,
        caller: &Arc<str>,
    ) -> Result<(Performed, Vec<Event>), Refusal> {
        let revealed = self.revealed.is_some();
        let shoe = &mut self.sealed.as_mut().ok_or(Refusal::NotSealed)?.shoe;
        let (mut results, mut opened, mut events) = (Vec::new(), Vec::new(), Vec::new());
        for Indexed { index, ask } in &asked.operations {
            let new = shoe.next_index() == *index;
            if new && revealed {
                return Err(Refusal::Revealed);
            }
            let done = done(*index, &shoe.perform(*index, ask)?);
            if new {
                let operation = Indexed { index: *index, ask: ask.clone() };
                events.push(Event::Performed { operation, done: done.clone() });
            }
            results.push(done);
        }
        for opening in &asked.openings {
            opened.push(open(shoe, opening, revealed)?);
            events.push(Event::Opened { opening: opening.clone(), caller: Arc::clone(caller) });
        }
        Ok((Performed { results, opened }, events))
    }

    /// The answer to what is known to have been answered before: cards that moved since included.
    pub fn repeat(&mut self, asked: &Perform) -> Result<Performed, Refusal> {
        let shoe = &mut self.sealed.as_mut().ok_or(Refusal::NotSealed)?.shoe;
        let mut results = Vec::new();
        for Indexed { index, ask } in &asked.operations {
            let next = shoe.next_index();
            if *index >= next {
                return Err(ShoeError::Gap { index: *index, next }.into());
            }
            results.push(done(*index, &shoe.perform(*index, ask)?));
        }
        let reopen = |opening: &Opening| opening.cards.iter().map(|c| shoe.prove(*c)).collect();
        let opened: Result<_, ShoeError> = asked.openings.iter().map(reopen).collect();
        Ok(Performed { results, opened: opened? })
    }

    /// Ends the secrecy. The seed, and what is new. Only a hand that is `discarded` can be without
    /// entropy: the seed of any other still has to be dealt from.
    pub fn reveal(&mut self, discarded: bool) -> Result<(Seed, Vec<Event>), Refusal> {
        match self.revealed {
            Some(before) if before == discarded => return Ok((self.seed.clone(), Vec::new())),
            Some(before) => return Err(Refusal::RevealedOtherwise { discarded: before }),
            None if self.sealed.is_none() && !discarded => return Err(Refusal::NotSealed),
            None => self.revealed = Some(discarded),
        }
        let seed = self.seed.clone();
        Ok((seed.clone(), vec![Event::Revealed { seed, discarded }]))
    }

    /// Applies an event from the log, checking it against what the seed gives.
    pub fn replay(&mut self, event: Event) -> Result<(), Contradiction> {
        match event {
            Event::Committed(_) => Err(Contradiction::Order),
            Event::Sealed { transcript, sealing } => match self.seal(sealing)? {
                (same, _) if same == transcript => Ok(()),
                _ => Err(Contradiction::Transcript),
            },
            Event::Performed { operation, done } => {
                let index = operation.index;
                let asked = Perform { operations: vec![operation], openings: Vec::new() };
                let (performed, _) = self.perform(&asked, &Arc::from(""))?;
                let same = performed.results.iter().all(|now| now.was_recorded_as(&done));
                if same { Ok(()) } else { Err(Contradiction::Result(index)) }
            }
            // It changed nothing, and was allowed when it was written.
            Event::Opened { .. } => Ok(()),
            // Also of a hand that was not sealed: what is public cannot be taken back.
            Event::Revealed { seed, discarded } if seed == self.seed => {
                self.revealed = Some(discarded);
                Ok(())
            }
            Event::Revealed { .. } => Err(Contradiction::Seed),
        }
    }
}

impl Done {
    /// Whether `stored` says the same, as far as it says it.
    fn was_recorded_as(&self, stored: &Done) -> bool {
        let root = stored.root.or(self.root);
        *self == Done { root, ..stored.clone() }
    }
}

fn done(index: u32, answer: &Answer) -> Done {
    let root = match answer {
        Answer::Shuffled { root, count: _ } => Some(*root),
        Answer::Rolled(_) | Answer::Pulsed(_) | Answer::Picked(_) | Answer::Sampled(_) => None,
    };
    let values = match answer {
        Answer::Shuffled { root: _, count } => vec![u32::from(*count)],
        Answer::Rolled(sides) => sides.iter().copied().map(u32::from).collect(),
        Answer::Pulsed(yes) => vec![u32::from(*yes)],
        Answer::Picked(one) => vec![*one],
        Answer::Sampled(some) => some.clone(),
    };
    Done { index, values, root }
}

fn open(shoe: &Shoe, opening: &Opening, revealed: bool) -> Result<Vec<fairness::Opening>, Refusal> {
    let recovery = match opening.reason {
        Reason::Recovery => true,
        Reason::Deal | Reason::Rule | Reason::Show => false,
    };
    if revealed && !recovery {
        return Err(Refusal::Revealed);
    }
    let card = |handle: &Handle| {
        if recovery { shoe.prove(*handle) } else { shoe.open_proved(*handle) }
    };
    Ok(opening.cards.iter().map(card).collect::<Result<_, _>>()?)
}

#[cfg(test)]
mod tests;

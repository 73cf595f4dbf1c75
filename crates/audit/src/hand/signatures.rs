//! Check of the signatures of decisions, over the chain that begins at the transcript.
//!
//! A player whose commitment named a key signs each decision, leaves and agreements to end a
//! suspended hand included, unless the clock decides. Who has named none signs nothing, and the
//! decision is the table's word.
//!
//! A leave is signed when it is asked for, over the chain as it stands then, with the leaves that are
//! pending. The rules take it later, and the hand may end before that. A signed leave that is pending
//! when somebody agrees to end the hand lapses: its signature fits the chain no longer.
//!
//! Specification: fairness/SPEC.md §10.8.

use std::collections::{BTreeMap, BTreeSet};

use eventlog_core::Event;
use fairness::{Chain, Context, DecisionStatement, PlayerKey, SignedText as _};
use proto::common::v1::MoveKind;
use rules::Player;
use wire::TableRecord;

use crate::hand::Check;
use crate::hand::closing::{CountedCommitments, counted_commitments};
use crate::hand::commitments::{BYTES_OF_A_ROW, array, parse_commitment, recorded_transcript};
use crate::hand::decoded_records::DecodedRecords;
use crate::hand::replay::{RecordedDecision, Replay};
use crate::report::{CheckError, ensure, failed};
use crate::work::WorkCounter;

pub(super) fn check(decoded: &DecodedRecords<'_>, replay: &Replay) -> Result<(), CheckError> {
    check_keys(decoded)?;
    let leaves = asked_leaves(decoded);
    if !replay.decisions.is_empty() || !leaves.is_empty() {
        let mut signatures = Signatures::try_new(decoded)?;
        let mut leaves = leaves.into_iter().peekable();
        for decision in &replay.decisions {
            while let Some(leave) = leaves.next_if(|leave| leave.position < decision.position) {
                signatures.ask(&leave)?;
            }
            signatures.decide(decision)?;
        }
        leaves.filter(|_| !replay.is_stopped()).try_for_each(|leave| signatures.ask(&leave))?;
    }
    replay.verdict(Check::Signatures)
}

/// Checks that each key that a player of the roster has named can be one.
fn check_keys(decoded: &DecodedRecords<'_>) -> Result<(), CheckError> {
    counted_commitments(decoded).iter().try_for_each(|(seat, (_, given))| {
        if given.key.is_empty() {
            return Ok(());
        }
        decoded.work.signed(0);
        player_key(*seat, &given.key).map(|_| ())
    })
}

fn player_key(seat: u32, key: &[u8]) -> Result<PlayerKey, CheckError> {
    PlayerKey::try_new(array("a player's key", key)?)
        .map_err(|error| failed(format!("the key of seat {seat}: {error}")))
}

/// A leave that a player asked for while the hand was played.
pub(super) struct AskedLeave<'a> {
    /// In the table's log.
    pub(super) position: u64,
    pub(super) player: Player,
    pub(super) seat: u32,
    signature: &'a [u8],
}

impl AskedLeave<'_> {
    fn line(&self) -> String {
        format!("{} leave", self.player)
    }
}

/// Reason of a leave that its player asked for.
const ASKED: &str = "asked";

/// Returns the leaves that players of the hand asked for between its sealing and its end.
pub(super) fn asked_leaves<'a>(decoded: &'a DecodedRecords<'_>) -> Vec<AskedLeave<'a>> {
    let (Ok((_, opened)), Ok((sealed_at, _))) = (decoded.opened(), decoded.sealed()) else {
        return Vec::new();
    };
    let end = decoded.settled().map(|(at, _)| at).or_else(|_| decoded.aborted().map(|(at, _)| at));
    let during = |event: &Event| {
        sealed_at.position < event.position
            && end.as_ref().map_or(true, |end| event.position < end.position)
    };
    let mut leaves: Vec<AskedLeave<'a>> = Vec::new();
    for read in decoded.table.iter().filter(|read| during(read.event)) {
        let TableRecord::LeaveAsked(asked) = &read.recorded else { continue };
        let place = opened.roster.iter().position(|place| place.seat == asked.seat);
        let player = place.and_then(|index| Player::try_new(u8::try_from(index).ok()?));
        let Some(player) = player.filter(|_| asked.why == ASKED) else { continue };
        let (position, signature) = (read.event.position.0, &asked.signature[..]);
        leaves.push(AskedLeave { position, player, seat: asked.seat, signature });
    }
    leaves
}

/// Returns the chain that each record of a decision or of a leave stands for, by position in the
/// table's log, as far as the hand could be replayed. Signatures are not judged.
pub(super) fn chains(decoded: &DecodedRecords<'_>, replay: &Replay) -> BTreeMap<u64, Chain> {
    let Ok(mut signatures) = Signatures::try_new(decoded) else { return BTreeMap::new() };
    let mut leaves = asked_leaves(decoded).into_iter().peekable();
    let mut chains = BTreeMap::new();
    for decision in &replay.decisions {
        while let Some(leave) = leaves.next_if(|leave| leave.position < decision.position) {
            chains.insert(leave.position, signatures.pend(&leave));
        }
        // What is wrong with it is for the check to say.
        let _judged = signatures.decide(decision);
        chains.insert(decision.position, signatures.chain);
    }
    if !replay.is_stopped() {
        chains.extend(leaves.map(|leave| (leave.position, signatures.pend(&leave))));
    }
    chains
}

/// State of the chain.
struct Signatures<'a> {
    context: Context,
    chain: Chain,
    keys: CountedCommitments<'a>,
    /// Leaves that were asked for and not taken yet: seat, line, signature.
    pending: Vec<(u32, String, &'a [u8])>,
    /// Seats whose players have left.
    left: BTreeSet<u32>,
    work: &'a WorkCounter,
}

impl<'a> Signatures<'a> {
    fn try_new(decoded: &'a DecodedRecords<'_>) -> Result<Signatures<'a>, CheckError> {
        let (_, committed) = decoded.committed()?;
        Ok(Signatures {
            context: parse_commitment(committed)?.context,
            chain: Chain::new(&recorded_transcript(decoded)?),
            keys: counted_commitments(decoded),
            pending: Vec::new(),
            left: BTreeSet::new(),
            work: &decoded.work,
        })
    }

    /// Checks the signature of a leave where it was asked for. It is asked for again only once it has
    /// lapsed.
    fn ask(&mut self, leave: &AskedLeave<'a>) -> Result<(), CheckError> {
        let line = leave.line();
        let at = format!("position {} of the table's log, `{line}`", leave.position);
        let is_pending = self.pending.iter().any(|(seat, _, _)| *seat == leave.seat);
        ensure(!is_pending && !self.left.contains(&leave.seat), || {
            format!("{at}: its player had asked to leave before")
        })?;
        let chain = self.pend(leave);
        self.check(leave.seat, &chain, &line, leave.signature).map_err(|why| at_place(&at, why))
    }

    /// Adds a leave to those that are pending. Returns the chain that it is signed over.
    fn pend(&mut self, leave: &AskedLeave<'a>) -> Chain {
        self.pending.push((leave.seat, leave.line(), leave.signature));
        self.pending.iter().fold(self.chain, |chain, (_, line, _)| {
            self.work.hashed(BYTES_OF_A_ROW + line.len());
            chain.with(false, line)
        })
    }

    fn decide(&mut self, decision: &RecordedDecision) -> Result<(), CheckError> {
        let RecordedDecision { position, seat, by_clock, kind, line, said, signature } = decision;
        self.work.hashed(BYTES_OF_A_ROW + line.len());
        self.chain = self.chain.with(*by_clock, line);
        let at = format!("position {position} of the table's log, `{line}`");
        if *by_clock {
            return ensure(signature.is_empty(), || {
                format!("{at}: the clock decided, and it is signed")
            });
        }
        if *kind == MoveKind::Void {
            self.pending.retain(|(_, _, signature)| signature.is_empty());
        }
        if *kind == MoveKind::Leave {
            return self.take_leave(*seat, signature).map_err(|why| at_place(&at, why));
        }
        let chain = self.chain;
        self.check(*seat, &chain, said, signature).map_err(|why| at_place(&at, why))
    }

    /// Checks that a leave is one that was asked for.
    fn take_leave(&mut self, seat: u32, signature: &[u8]) -> Result<(), CheckError> {
        let asked = self.pending.iter().position(|(other, _, _)| *other == seat);
        let asked = asked.ok_or_else(|| failed("the player has not asked to leave"))?;
        let (_, _, asked) = self.pending.remove(asked);
        self.left.insert(seat);
        ensure(asked == signature, || {
            "it has another signature than the player asked to leave with".to_owned()
        })
    }

    fn check(
        &self,
        seat: u32,
        chain: &Chain,
        said: &str,
        signature: &[u8],
    ) -> Result<(), CheckError> {
        let key = self.keys.get(&seat).map(|(_, given)| &given.key[..]).unwrap_or_default();
        if key.is_empty() {
            return ensure(signature.is_empty(), || {
                "it is signed, and its player has named no key".to_owned()
            });
        }
        ensure(!signature.is_empty(), || {
            "its player has a key, and it is neither signed nor the clock's".to_owned()
        })?;
        let key = player_key(seat, key)?;
        let signature = array("the signature of a decision", signature)?;
        self.work.signed(BYTES_OF_A_ROW + said.len());
        let statement = DecisionStatement { context: &self.context, chain, said };
        statement.verify(key.bytes(), &signature).map_err(|error| failed(error.to_string()))
    }
}

fn at_place(at: &str, why: CheckError) -> CheckError {
    match why {
        CheckError::Failed(why) => CheckError::Failed(format!("{at}: {why}")),
        CheckError::NotPossible(why) => CheckError::NotPossible(why),
    }
}

/// Returns the seats of which a decision or a leave is signed, ascending. Where the check of the
/// signatures passes, each of them was checked.
pub(super) fn signing_seats(decoded: &DecodedRecords<'_>) -> BTreeSet<u32> {
    let decided = decoded.hand.iter().filter_map(|read| {
        let TableRecord::MoveDecided(decided) = &read.recorded else { return None };
        (!decided.signature.is_empty()).then_some(decided.seat)
    });
    let leaves = asked_leaves(decoded).into_iter();
    decided.chain(leaves.filter(|it| !it.signature.is_empty()).map(|it| it.seat)).collect()
}

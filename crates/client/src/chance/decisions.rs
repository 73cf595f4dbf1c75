//! The chain of a hand's decisions, as a client follows it, and its own signed lines.

use ed25519_dalek::SigningKey;
use fairness::evidence::{Entry, Opening, Statement};
use fairness::{Chain, Context, DecisionStatement, SignedText as _};
use proto::common::v1::{LegalMove, Move, MoveKind};
use proto::table::v1 as pb;

use super::hand::to_array;
use super::violation::{Fault, ViolationKind as V};

/// Maximum number of pending leaves that a chain is explained by: all that a table has seats for.
const MAX_LEAVES: usize = 8;

/// Chain of one hand.
pub(super) struct Decisions {
    context: Context,
    /// The chain after each decision, from where the client began to follow it.
    path: Vec<Chain>,
    /// Seats of p1, p2 …
    order: Vec<u32>,
    own: Option<OwnSeat>,
    /// Cards of the own seat.
    cards: Vec<pb::HeldCard>,
    turn: Option<pb::Turn>,
    /// Seats whose leave was asked for and is not in the chain yet, in that order.
    leaving: Vec<u32>,
    /// Seats that leave by a snapshot's word, or that asked before somebody agreed to end the hand:
    /// their leaves may be in the chain already, or have lapsed.
    maybe_leaving: Vec<u32>,
    signed: Vec<SignedLine>,
    /// Whether the own seat has folded or was put out, as the table shows it.
    is_out: bool,
}

/// Seat of this client, with its key if its commitment named one.
pub(super) struct OwnSeat {
    pub(super) seat: u32,
    pub(super) key: Option<SigningKey>,
}

/// Line that this client has signed.
#[derive(Clone, PartialEq, Eq)]
struct SignedLine {
    /// None where an earlier process has signed it.
    before: Option<Chain>,
    after: Chain,
    is_leave: bool,
    is_void: bool,
    has_receipt: bool,
}

/// Line to send with a decision, already kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signed {
    pub(super) signature: [u8; 64],
    pub(super) chain: Chain,
    pub(super) entry: Entry,
}

impl Decisions {
    /// Follows a hand whose chain stands at `chain`. `kept` are the texts kept of this number.
    pub(super) fn new(
        context: Context,
        chain: Chain,
        seats: &[pb::HandSeat],
        own: Option<OwnSeat>,
        kept: &[Statement],
    ) -> Decisions {
        let signed = kept.iter().filter_map(|statement| match statement {
            Statement::Decision { context: hand, chain, said } if *hand == context => {
                let (is_leave, is_void) = (said.ends_with(" leave"), said.ends_with(" void"));
                let after = *chain;
                Some(SignedLine { before: None, after, is_leave, is_void, has_receipt: false })
            }
            Statement::Decision { .. }
            | Statement::Commitment { .. }
            | Statement::CommitReceipt { .. }
            | Statement::Closing { .. }
            | Statement::RevealReceipt { .. }
            | Statement::DecisionReceipt { .. } => None,
        });
        let mut decisions = Decisions {
            context,
            path: vec![chain],
            order: seats.iter().map(|seat| seat.seat).collect(),
            own,
            cards: Vec::new(),
            turn: None,
            leaving: Vec::new(),
            maybe_leaving: Vec::new(),
            signed: signed.collect(),
            is_out: false,
        };
        decisions.hold(seats);
        decisions
    }

    fn chain(&self) -> Chain {
        *self.path.last().expect("a path begins with the chain that it was made from")
    }

    /// Remembers the own cards, as the table shows them.
    pub(super) fn hold(&mut self, hands: &[pb::HandSeat]) {
        let Some(own) = &self.own else { return };
        if let Some(hand) = hands.iter().find(|hand| hand.seat == own.seat) {
            self.cards.clone_from(&hand.cards);
        }
    }

    /// Remembers whether the own seat is still in the hand.
    fn stand(&mut self, standing: Option<&pb::Standing>) {
        let (Some(own), Some(standing)) = (&self.own, standing) else { return };
        let mine = standing.seats.iter().find(|seat| seat.seat == own.seat);
        self.is_out = mine.is_some_and(|seat| seat.status() == pb::SeatStatus::Out);
    }

    /// Whether this client is live and has a key, and has not agreed to end the hand.
    pub(super) fn has_not_agreed(&self) -> bool {
        let Some(OwnSeat { seat, key: Some(_) }) = &self.own else { return false };
        let has_left = self.signed.iter().any(|signed| signed.is_leave);
        let is_live = !self.is_out && !has_left && !self.leaving.contains(seat);
        is_live && !self.signed.iter().any(|signed| signed.is_void)
    }

    /// Remembers the decision that is due.
    pub(super) fn due(&mut self, turn: Option<&pb::Turn>) {
        self.turn = turn.cloned();
    }

    /// The own decision that is due, if it is.
    pub(super) fn own_turn(&self) -> Option<&pb::Turn> {
        let own = self.own.as_ref()?;
        self.turn.as_ref().filter(|turn| turn.seat == own.seat)
    }

    /// Remembers that a seat asked to leave.
    pub(super) fn leave_asked(&mut self, seat: u32) {
        if self.order.contains(&seat) && !self.leaving.contains(&seat) {
            self.leaving.push(seat);
        }
    }

    /// Remembers that a snapshot shows a seat as leaving.
    pub(super) fn leave_shown(&mut self, seat: u32) {
        let known = self.leaving.contains(&seat) || self.maybe_leaving.contains(&seat);
        if self.order.contains(&seat) && !known {
            self.maybe_leaving.push(seat);
        }
    }

    /// Follows a decision. Returns what the chain was taken of; none for a use of chance.
    pub(super) fn follow(&mut self, action: &pb::HandAction) -> Result<Option<Opening>, Fault> {
        self.hold(&action.hands);
        self.stand(action.standing.as_ref());
        self.due(action.turn.as_ref());
        if action.decision.is_none() && action.chain_line.is_empty() {
            return Ok(None);
        }
        let (before, by_clock, line) = (self.chain(), action.by_clock, action.chain_line.clone());
        if line.is_empty() || action.chain.is_empty() {
            return Err(V::Missing("a decision's line in the chain").into());
        }
        let after = before.with(by_clock, &line);
        if after.0 != *action.chain || !self.is_of_seat(&line, action.seat) {
            return Err(V::WrongChain.into());
        }
        self.check_own(action, &line, after)?;
        let is_dropped = |signed: &SignedLine| {
            let follows = signed.before == Some(before) && signed.has_receipt;
            follows && signed.after != after && !signed.is_leave
        };
        if self.signed.iter().any(is_dropped) {
            return Err(V::DecisionDropped.into());
        }
        if line.ends_with(" leave") {
            self.leaving.retain(|seat| *seat != action.seat);
            self.maybe_leaving.retain(|seat| *seat != action.seat);
        } else if line.ends_with(" void") {
            // Leaves that were signed before have lapsed; those without a signature stand.
            let asked = std::mem::take(&mut self.leaving);
            asked.into_iter().for_each(|seat| self.leave_shown(seat));
        }
        self.path.push(after);
        Ok(Some(Opening::Decision { before, by_clock, line }))
    }

    fn is_of_seat(&self, line: &str, seat: u32) -> bool {
        self.player(seat).is_some_and(|player| {
            line.strip_prefix(&player).is_some_and(|rest| rest.starts_with(' '))
        })
    }

    /// Checks that a decision in this client's name was signed by it, if it has a key.
    fn check_own(&self, action: &pb::HandAction, line: &str, after: Chain) -> Result<(), Fault> {
        let Some(OwnSeat { seat, key: Some(_) }) = &self.own else { return Ok(()) };
        if *seat != action.seat || action.by_clock {
            return Ok(());
        }
        // Another's line may have come between a leave and its place in the chain.
        let is_leave = line.ends_with(" leave");
        let is_signed = |signed: &SignedLine| signed.after == after || is_leave && signed.is_leave;
        if self.signed.iter().any(is_signed) { Ok(()) } else { Err(V::ForeignDecision.into()) }
    }

    /// Name of a seat's player in lines, such as `p1`.
    fn player(&self, seat: u32) -> Option<String> {
        let index = self.order.iter().position(|other| *other == seat)?;
        Some(format!("p{}", index + 1))
    }

    /// Signs a decision for the turn that is due. None if this client has no key in the hand, or the
    /// move is not among the legal ones: the table says why it takes it or not. While the hand stands
    /// still, every live player may agree to end it, whose turn ever it is.
    pub(super) fn sign(&mut self, decision: &Move, chain: Chain) -> Option<Signed> {
        let legal = self.turn.as_ref()?.legal.iter().find(|legal| legal.kind == decision.kind)?;
        let line = self.line(decision, legal, false)?;
        let said = self.line(decision, legal, true)?;
        self.sign_line(chain, &line, &said)
    }

    /// Signs leaving the table: over the leaves that were asked for before, or over the chain that
    /// `hint` names.
    pub(super) fn sign_leave(&mut self, hint: Option<&str>) -> Option<Signed> {
        let own = self.own.as_ref()?.seat;
        let line = format!("{} leave", self.player(own)?);
        let others = self.leaving.iter().filter(|seat| **seat != own);
        let chain = match hint {
            None => others.fold(self.chain(), |chain, seat| self.with_leave(chain, *seat)),
            Some(hint) => self.base(Some(hint))?,
        };
        self.sign_line(chain, &line, &line)
    }

    /// The chain that a decision is signed over: the one in which `hint`, what a refusal says, is
    /// explained by leaves that this client knows of.
    pub(super) fn base(&self, hint: Option<&str>) -> Option<Chain> {
        let mut chains = vec![self.chain()];
        let Some(hint) = hint else { return chains.pop() };
        let leaving = self.leaving.iter().chain(&self.maybe_leaving).take(MAX_LEAVES);
        for seat in leaving {
            let more: Vec<_> = chains.iter().map(|chain| self.with_leave(*chain, *seat)).collect();
            chains.extend(more);
        }
        chains.into_iter().find(|chain| hex::encode(chain.0) == hint)
    }

    fn with_leave(&self, chain: Chain, seat: u32) -> Chain {
        let player = self.player(seat);
        player.map_or(chain, |player| chain.with(false, &format!("{player} leave")))
    }

    fn sign_line(&mut self, before: Chain, line: &str, said: &str) -> Option<Signed> {
        let key = self.own.as_ref()?.key.as_ref()?;
        let chain = before.with(false, line);
        let text = DecisionStatement { context: &self.context, chain: &chain, said };
        let signature = text.sign(key);
        let entry = Entry::signed(&text, &signature, key.verifying_key().as_bytes());
        let (is_leave, is_void) = (line.ends_with(" leave"), line.ends_with(" void"));
        let (before, after) = (Some(before), chain);
        let signed = SignedLine { before, after, is_leave, is_void, has_receipt: false };
        if !self.signed.iter().any(|other| other.after == chain) {
            self.signed.push(signed);
        }
        Some(Signed { signature, chain, entry })
    }

    /// Goes on from the chain as a snapshot shows it, where it is not the one that was followed.
    pub(super) fn resume(&mut self, chain: &[u8]) -> Result<(), Fault> {
        let chain = Chain(to_array("the chain of decisions", chain)?);
        if self.chain() != chain {
            self.path = vec![chain];
        }
        self.leaving.clear();
        self.maybe_leaving.clear();
        Ok(())
    }

    /// Records that the table has given a receipt for a line.
    pub(super) fn receive(&mut self, chain: &Chain) -> Result<(), Fault> {
        let has_key = self.own.as_ref().is_some_and(|own| own.key.is_some());
        let Some(signed) = self.signed.iter_mut().find(|signed| signed.after == *chain) else {
            let other = V::ReceiptContent("a decision that this client never signed");
            return if has_key { Err(other.into()) } else { Ok(()) };
        };
        signed.has_receipt = true;
        let Some(before) = signed.before.filter(|_| !signed.is_leave) else { return Ok(()) };
        let at = self.path.iter().position(|passed| *passed == before);
        let next = at.and_then(|at| self.path.get(at + 1));
        if next.is_some_and(|next| next != chain) { Err(V::DecisionDropped.into()) } else { Ok(()) }
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    /// Line of the own seat's decision: cards by where they lie, secret choices as `??` unless
    /// `said`. None if a card is not the player's.
    fn line(&self, decision: &Move, legal: &LegalMove, said: bool) -> Option<String> {
        let verb = legal.text.split(' ').next().filter(|verb| !verb.is_empty())?;
        let Move { kind: _, cards, amount_credits: amount, names, target_seat, value } = decision;
        let mut words = vec![self.player(self.own.as_ref()?.seat)?, verb.to_owned()];
        words.extend(self.handles(cards)?);
        let shown = |word: String| if legal.secret && !said { "??".to_owned() } else { word };
        if matches!(decision.kind(), MoveKind::Bet | MoveKind::Raise) {
            words.push(amount.to_string());
        }
        words.extend(names.iter().cloned().map(shown));
        if *target_seat != 0 {
            words.push(shown(self.player(*target_seat)?));
        }
        if *value != 0 {
            words.push(shown(value.to_string()));
        }
        Some(words.join(" "))
    }

    /// Positions of the named cards. Of copies that look alike, each code takes the first not
    /// taken yet, as the table reads them.
    fn handles(&self, codes: &[String]) -> Option<Vec<String>> {
        let mut taken = Vec::new();
        for code in codes {
            let mut held = (0..self.cards.len()).filter(|at| !taken.contains(at));
            taken.push(held.find(|at| self.cards[*at].code == *code)?);
        }
        let handle = |at: usize| {
            let proof = self.cards[at].proof.as_ref()?;
            Some(format!("{}.{}", proof.op, proof.position))
        };
        taken.into_iter().map(handle).collect()
    }
}

//! The dealer's closing: which commitments a hand is made of, before anybody reveals.

use fairness::evidence::{Entry, Opening, Statement};
use fairness::{ClientCommitment, Closing, ClosingRow, ClosingStatement, Commitment, Context};
use primitives::PlayerId;
use proto::common::v1 as common;

use super::hand::{parse_player, to_array};
use super::trust::{LogKind, SigningLog, TrustedKeys};
use super::violation::{Fault, PartyAtFault, ViolationKind as V};

/// Seat of a roster; its player, where it is known.
pub(super) type RosterSeat = (u32, Option<PlayerId>);

/// The closed commitments of one hand.
#[derive(Clone)]
pub(super) struct HandClosing {
    pub(super) context: Context,
    pub(super) dealer: Commitment,
    pub(super) closing: Closing,
    pub(super) rows: Vec<ClosingRow>,
    /// The dealer's signature of it; none where no key of the dealer's is known.
    signed: Option<Entry>,
    /// Whether the table has sent another that does not pass.
    is_disputed: bool,
}

impl HandClosing {
    /// Reads a closing, and checks its hash and its signature.
    pub(super) fn try_new(
        message: &common::Closing,
        context: Context,
        dealer: Commitment,
        origin: &str,
        trust: &TrustedKeys,
    ) -> Result<HandClosing, Fault> {
        let common::Closing { closing, rows, key_id, signature } = message;
        let closing = Closing(to_array("a closing", closing)?);
        let rows = rows.iter().map(parse_row).collect::<Result<Vec<_>, _>>()?;
        let made = Closing::try_new(&context, &dealer, &rows);
        if made.map_err(|_| V::WrongClosing("its seats do not come once and ascending"))? != closing
        {
            return Err(V::WrongClosing("its hash is not that of its rows").into());
        }
        let mut signed = None;
        if trust.has(LogKind::Dealer) {
            let text = ClosingStatement { context: &context, dealer: &dealer, closing: &closing };
            let entry = trust.entry_of(SigningLog::Dealer { origin }, &text, key_id, signature);
            signed = Some(entry.ok_or(V::ClosingSignature)?);
        }
        Ok(HandClosing { context, dealer, closing, rows, signed, is_disputed: false })
    }

    /// A closing of nobody, for tests.
    #[cfg(test)]
    pub(super) fn unsigned(context: Context, dealer: Commitment) -> HandClosing {
        let closing = Closing([0; 32]);
        HandClosing { context, dealer, closing, rows: vec![], signed: None, is_disputed: false }
    }

    /// Entries to keep of a closing: its rows, and its signature.
    pub(super) fn entries(&self) -> impl Iterator<Item = Entry> {
        let HandClosing { context, dealer, closing: _, rows, signed, is_disputed: _ } = self;
        let opening =
            Opening::Closing { context: *context, dealer: *dealer, rows: rows.clone() }.entry();
        [opening].into_iter().chain(signed.clone())
    }

    /// Whether the dealer's key signed it.
    pub(super) fn is_signed(&self) -> bool {
        self.signed.is_some()
    }

    /// Notes that the table has sent another closing, which does not pass.
    pub(super) fn dispute(&mut self) {
        self.is_disputed = true;
    }

    /// Whether entropy may be revealed over it: it is signed, and the only one.
    pub(super) fn may_reveal(&self) -> bool {
        self.is_signed() && !self.is_disputed
    }

    /// Checks that no other closing of this hand number was kept: this client has revealed under it,
    /// or may have.
    pub(super) fn check_only(&self, kept: &[Statement]) -> Result<(), Fault> {
        let differs = |statement: &Statement| match statement {
            Statement::Closing { context, dealer, closing } => {
                (context, dealer, closing) != (&self.context, &self.dealer, &self.closing)
            }
            Statement::Commitment { .. }
            | Statement::CommitReceipt { .. }
            | Statement::RevealReceipt { .. }
            | Statement::Decision { .. }
            | Statement::DecisionReceipt { .. } => false,
        };
        if kept.iter().any(differs) {
            let culprit = if self.is_signed() { PartyAtFault::Dealer } else { PartyAtFault::Table };
            return Err(V::SecondClosing.attributed_to(culprit));
        }
        Ok(())
    }

    /// Checks that the rows are the roster.
    pub(super) fn check_roster(&self, roster: &[RosterSeat]) -> Result<(), Fault> {
        let mut roster = roster.to_vec();
        roster.sort_unstable_by_key(|(seat, _)| *seat);
        if !self.rows.iter().map(|row| u32::from(row.seat)).eq(roster.iter().map(|(seat, _)| *seat))
        {
            return Err(V::WrongClosing("its seats are not those dealt in").into());
        }
        let known = self.rows.iter().zip(&roster);
        let mut others =
            known.filter(|(row, (_, player))| player.is_some_and(|player| player != row.player));
        match others.next() {
            Some(_) => Err(V::WrongClosing("its players are not those dealt in").into()),
            None => Ok(()),
        }
    }

    /// The row of a seat and player.
    pub(super) fn row(&self, seat: u8, player: PlayerId) -> Option<&ClosingRow> {
        self.rows.iter().find(|row| row.seat == seat && row.player == player)
    }

    /// Checks the player's own row against what this client has committed to, if it has.
    pub(super) fn check_own(
        &self,
        seat: u8,
        player: PlayerId,
        own: Option<&ClientCommitment>,
        has_receipt: bool,
    ) -> Result<(), Fault> {
        let Some(row) = self.row(seat, player) else { return Ok(()) };
        match (&row.commitment, own) {
            (Some(listed), Some(own)) if listed.matches(own) => Ok(()),
            (_, Some(_)) if has_receipt => Err(V::CommitmentDropped.into()),
            (Some(_), _) => {
                Err(V::WrongClosing("it has a commitment in this client's name").into())
            }
            (None, _) => Ok(()),
        }
    }
}

fn parse_row(row: &common::ClosingRow) -> Result<ClosingRow, V> {
    let common::ClosingRow { seat, player_id, commitment } = row;
    let seat = u8::try_from(*seat).map_err(|_| V::WrongClosing("a seat that cannot be"))?;
    let player = parse_player(player_id)?;
    let commitment = match &**commitment {
        [] => None,
        bytes => Some(ClientCommitment(to_array("a seat's commitment", bytes)?)),
    };
    Ok(ClosingRow { seat, player, commitment })
}

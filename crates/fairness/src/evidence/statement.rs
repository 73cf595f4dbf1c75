//! Signed texts read back from their bytes.

use primitives::{PlayerId, TableId};

use super::{Entry, SignedEntry};
use crate::closing::Closing;
use crate::commit::{ClientCommitment, Commitment, Entropy};
use crate::context::Context;
use crate::decision::Chain;
use crate::encoding::read_lp_list;
use crate::signature::{
    ClosingStatement, CommitReceipt, CommitmentStatement, DecisionReceipt, DecisionStatement,
    KeyId, RevealReceipt, SignedText, verify_message,
};

/// Content of a signed text; the types of [`SignedText`] with fields of their own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// [`CommitmentStatement`].
    Commitment {
        origin: String,
        table: TableId,
        hand_no: u64,
        rules_hash: [u8; 32],
        commitment: Commitment,
    },
    /// [`CommitReceipt`].
    CommitReceipt {
        context: Context,
        dealer: Commitment,
        seat: u8,
        player: PlayerId,
        commitment: ClientCommitment,
        player_key: Option<[u8; 32]>,
        position: u64,
    },
    /// [`ClosingStatement`].
    Closing { context: Context, dealer: Commitment, closing: Closing },
    /// [`RevealReceipt`].
    RevealReceipt {
        context: Context,
        dealer: Commitment,
        seat: u8,
        player: PlayerId,
        entropy: Entropy,
        position: u64,
    },
    /// [`DecisionStatement`].
    Decision { context: Context, chain: Chain, said: String },
    /// [`DecisionReceipt`].
    DecisionReceipt { context: Context, chain: Chain, position: u64 },
}

/// Reason why bytes are no signed text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StatementError {
    #[error("the message is not a list of fields, each behind its length")]
    NotFields,
    #[error("the message has no tag of this protocol")]
    UnknownTag,
    #[error("the message has not the fields of its tag")]
    Fields,
}

/// Reason why an entry proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SignedEntryError {
    #[error(transparent)]
    Statement(#[from] StatementError),
    #[error("the message names another key")]
    OtherKey,
    #[error("the signature is not the key's over the message")]
    Signature,
}

impl Statement {
    /// Parses a signed text, and the id of the key that it names.
    ///
    /// # Errors
    /// The bytes are not exactly those of a signed text.
    pub fn parse(message: &[u8]) -> Result<(Statement, KeyId), StatementError> {
        let fields = read_lp_list(message).ok_or(StatementError::NotFields)?;
        let (tag, fields) = fields.split_first().ok_or(StatementError::NotFields)?;
        let parse: fn(&[&[u8]]) -> Option<Statement> = match *tag {
            tag if tag == CommitmentStatement::TAG.as_bytes() => parse_commitment,
            tag if tag == CommitReceipt::TAG.as_bytes() => parse_commit_receipt,
            tag if tag == ClosingStatement::TAG.as_bytes() => parse_closing,
            tag if tag == RevealReceipt::TAG.as_bytes() => parse_reveal_receipt,
            tag if tag == DecisionStatement::TAG.as_bytes() => parse_decision,
            tag if tag == DecisionReceipt::TAG.as_bytes() => parse_decision_receipt,
            _ => return Err(StatementError::UnknownTag),
        };
        let (key_id, fields) = fields.split_last().ok_or(StatementError::Fields)?;
        let key_id = KeyId(array(key_id).ok_or(StatementError::Fields)?);
        Ok((parse(fields).ok_or(StatementError::Fields)?, key_id))
    }

    /// The context of the hand that it is about; none of a promise, which names the hand itself.
    #[must_use]
    pub fn context(&self) -> Context {
        match self {
            Statement::Commitment { origin, table, hand_no, rules_hash, commitment: _ } => {
                Context::new(origin, *table, *hand_no, rules_hash)
            }
            Statement::CommitReceipt { context, .. }
            | Statement::Closing { context, .. }
            | Statement::RevealReceipt { context, .. }
            | Statement::Decision { context, .. }
            | Statement::DecisionReceipt { context, .. } => *context,
        }
    }
}

impl SignedEntry {
    /// Parses the message and verifies the signature. Whose key it is remains to be judged.
    ///
    /// # Errors
    /// The message is no signed text, names another key, or its signature does not verify.
    pub fn statement(&self) -> Result<Statement, SignedEntryError> {
        let (statement, key_id) = Statement::parse(&self.message)?;
        if key_id != KeyId::of(&self.key) {
            return Err(SignedEntryError::OtherKey);
        }
        let verified = verify_message(&self.message, &self.key, &self.signature);
        verified.map_err(|_| SignedEntryError::Signature)?;
        Ok(statement)
    }
}

impl Entry {
    /// The entry of a text that `key` has signed.
    #[must_use]
    pub fn signed(text: &impl SignedText, signature: &[u8; 64], key: &[u8; 32]) -> Entry {
        let message = text.message(&KeyId::of(key));
        Entry::Signed(SignedEntry { message, signature: *signature, key: *key })
    }
}

fn array<const N: usize>(field: &[u8]) -> Option<[u8; N]> {
    field.try_into().ok()
}

fn number(field: &[u8]) -> Option<u64> {
    array(field).map(u64::from_be_bytes)
}

fn text(field: &[u8]) -> Option<String> {
    str::from_utf8(field).ok().map(str::to_owned)
}

fn parse_commitment(fields: &[&[u8]]) -> Option<Statement> {
    let [origin, table, hand_no, rules_hash, commitment] = fields else { return None };
    Some(Statement::Commitment {
        origin: text(origin)?,
        table: TableId(array(table)?),
        hand_no: number(hand_no)?,
        rules_hash: array(rules_hash)?,
        commitment: Commitment(array(commitment)?),
    })
}

fn parse_commit_receipt(fields: &[&[u8]]) -> Option<Statement> {
    let [context, dealer, [seat], player, commitment, key, position] = fields else { return None };
    Some(Statement::CommitReceipt {
        context: Context(array(context)?),
        dealer: Commitment(array(dealer)?),
        seat: *seat,
        player: PlayerId(array(player)?),
        commitment: ClientCommitment(array(commitment)?),
        player_key: if key.is_empty() { None } else { Some(array(key)?) },
        position: number(position)?,
    })
}

fn parse_closing(fields: &[&[u8]]) -> Option<Statement> {
    let [context, dealer, closing] = fields else { return None };
    Some(Statement::Closing {
        context: Context(array(context)?),
        dealer: Commitment(array(dealer)?),
        closing: Closing(array(closing)?),
    })
}

fn parse_reveal_receipt(fields: &[&[u8]]) -> Option<Statement> {
    let [context, dealer, [seat], player, entropy, position] = fields else { return None };
    Some(Statement::RevealReceipt {
        context: Context(array(context)?),
        dealer: Commitment(array(dealer)?),
        seat: *seat,
        player: PlayerId(array(player)?),
        entropy: Entropy(array(entropy)?),
        position: number(position)?,
    })
}

fn parse_decision(fields: &[&[u8]]) -> Option<Statement> {
    let [context, chain, said] = fields else { return None };
    let (context, chain) = (Context(array(context)?), Chain(array(chain)?));
    Some(Statement::Decision { context, chain, said: text(said)? })
}

fn parse_decision_receipt(fields: &[&[u8]]) -> Option<Statement> {
    let [context, chain, position] = fields else { return None };
    let (context, chain) = (Context(array(context)?), Chain(array(chain)?));
    Some(Statement::DecisionReceipt { context, chain, position: number(position)? })
}

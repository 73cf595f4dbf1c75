//! A table as its stream says: seats, pots, the hand in play. A pure fold, no clock, no I/O.
//!
//! Everything the world owes a table follows from this state and the hand's: see [`crate::debt`].
//!
//! **When a hand is over.** `HandFinished` says what the table goes on with, and it is written when
//! that can no longer change: with `SettlementPosted`, or with `HandAborted`. Between a settlement and
//! its posting the seed may still turn out to be another than the dealer committed to, and then
//! everybody has what he had before the hand; so the table's own stacks and pots are those from before
//! it until then, and what viewers are shown meanwhile is [`Table::shown_stack`]. (Older logs have
//! `HandFinished` beside the settlement; either order folds to the same.)

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use primitives::{Credits, HandId, PlayerId, SeatNo, StreamId, TableId, UnixMicros};
use proto::dealer::v1::Commitment;
use proto::event::v1 as pb;
use rules::RuleSet;
use sha2::{Digest as _, Sha256};
use wire::Recorded;

use crate::debt::Debt;
use crate::entropy::{Promise, Promises, Sealing};
use crate::play::Seated;
use crate::stops::{self, Stops};

mod chance;
mod closing;
mod delays;
mod quota;
mod seats;
mod seeds;

pub use closing::{Absent, Refunded};
pub use delays::{Delays, IDLE};
pub use quota::Counts;
pub use seeds::{SeedOwed, Seeds};

/// Refusals of the wallet that are remembered, so that a repeated request hears the same again.
const REMEMBERED_REFUSALS: usize = 64;

/// What a table was opened with.
#[derive(Debug, Clone)]
pub struct Config {
    pub name: String,
    pub rules: RuleSet,
    /// The rule set's canonical text.
    pub rule_set: String,
    /// Its SHA-256, which is in the context of every hand.
    pub rule_set_hash: [u8; 32],
    pub seats: u8,
    pub min_buy_in: Credits,
    pub max_buy_in: Credits,
    pub action_seconds: u32,
    pub bank_seconds: u32,
    pub pause_ms: u32,
    /// From a settlement to the opening of the seed; 0: at once.
    pub reveal_delay_seconds: u32,
    /// For seats to commit to entropy, and as long again to reveal.
    pub entropy_ms: u32,
    /// How long a seat may hold its place without being dealt in.
    pub idle: Duration,
}

impl Config {
    /// What seats have to commit to entropy, and as long again to reveal.
    #[must_use]
    pub fn entropy_time(&self) -> Duration {
        Duration::from_millis(u64::from(self.entropy_ms))
    }
}

/// A taken seat.
#[derive(Debug, Clone)]
pub struct Seat {
    pub player: PlayerId,
    pub stack: Credits,
    pub funding: Funding,
    pub sitting_out: bool,
    pub leaving: bool,
    /// Clocks missed in a row.
    pub misses: u32,
    /// Not dealt in since then; see [`Table::idle_since`].
    pub idle_since: Option<UnixMicros>,
    /// What the wallet last said of the player, where there is something to tell them.
    pub standing: Option<pb::StandingFound>,
}

/// Where a seat's credits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Funding {
    /// Asked of the wallet under this transfer.
    BuyingIn {
        transfer: [u8; 16],
        amount: Credits,
    },
    AtTable,
    /// On their way back under this transfer.
    CashingOut {
        transfer: [u8; 16],
        /// The player's account takes nothing, and an operator has said so.
        to_suspense: bool,
    },
}

/// The end of a table, step by step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Closing {
    Open,
    /// No hand starts any more.
    Asked,
    /// The Sabacc Pot goes back under this transfer.
    Refunding {
        transfer: [u8; 16],
        shares: Vec<(Option<SeatNo>, PlayerId, Credits)>,
    },
    /// The Sabacc Pot is empty: everybody is paid out.
    Refunded,
    Closed,
}

/// The hand in play, as far as it concerns the table.
#[derive(Debug, Clone)]
pub struct InPlay {
    pub id: HandId,
    /// p1 first; empty until the hand is opened.
    pub roster: Vec<(SeatNo, PlayerId)>,
    /// Until the dealer has bound the seats' entropy.
    pub sealing: Option<Sealing>,
    pub settled: Option<Box<pb::HandSettled>>,
    /// The wallet has posted the settlement.
    pub posted: bool,
    /// The table has gone on.
    pub finished: bool,
}

/// A table between two events.
#[derive(Debug, Clone)]
pub struct Table {
    pub id: TableId,
    pub config: Config,
    pub seats: BTreeMap<SeatNo, Seat>,
    pub sabacc_pot: Credits,
    pub carried_pot: Credits,
    /// What each player paid into the Sabacc Pot since it was last won.
    pub paid: BTreeMap<PlayerId, Credits>,
    /// The hand in play, or the last one; 0: none yet.
    pub hand_no: u64,
    /// The hand in play: from its start until its settlement is posted, or it is aborted.
    pub hand: Option<InPlay>,
    /// The seat that had the button last.
    pub button: Option<SeatNo>,
    /// The dealer's commitments to hands that have not started.
    pub committed: BTreeMap<u64, Commitment>,
    /// What seats have committed to, by hand: of hands to come and of one that is not sealed.
    pub promises: BTreeMap<u64, Promises>,
    /// Who was absent in the last hand he was dealt into: nobody waits for him.
    pub absentees: BTreeSet<PlayerId>,
    /// The seeds of hands that have started and are not open.
    pub seeds: Seeds,
    /// Who withheld entropy lately.
    pub withheld: Delays,
    /// Who was removed lately from a seat that they did not use.
    pub idled: Delays,
    /// No hand starts until then: older logs have pauses.
    pub paused_until: Option<UnixMicros>,
    /// When the last hand was over.
    pub finished_at: Option<UnixMicros>,
    pub closing: Closing,
    /// By transfer: why the wallet refused a buy-in. The latest ones.
    pub refusals: Vec<([u8; 16], pb::SeatRefused)>,
    /// The seats' transfers that were posted, for repeated requests. Of present seats only.
    pub funded_by: BTreeMap<SeatNo, [u8; 16]>,
    /// Who played the last hand.
    pub last_roster: Vec<PlayerId>,
    /// Shares of the Sabacc Pot of players who had left, on their way to them.
    pub absent: BTreeMap<PlayerId, Absent>,
    /// What went back of the pots, where that takes several transfers.
    pub refunded: Option<Refunded>,
    /// Effects that wait for an operator.
    pub stops: Stops,
    /// Records of the table's own stream since the last hand ended.
    pub counts: Counts,
    /// Updates published so far.
    pub sequence: u64,
}

/// A table's stream says what cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the table's stream is damaged: {0}")]
pub struct Damaged(pub String);

impl From<wire::BadField> for Damaged {
    fn from(bad: wire::BadField) -> Damaged {
        Damaged(bad.to_string())
    }
}

impl Table {
    /// The table as its first event describes it.
    pub fn open(id: TableId, created: &pb::TableCreated) -> Result<Table, Damaged> {
        let rules = RuleSet::from_canonical(&created.rule_set)
            .map_err(|error| Damaged(error.to_string()))?;
        let seats =
            u8::try_from(created.seats).map_err(|_| Damaged("too many seats".to_owned()))?;
        Ok(Table {
            id,
            config: Config {
                name: created.name.clone(),
                rules,
                rule_set: created.rule_set.clone(),
                rule_set_hash: Sha256::digest(&created.rule_set).into(),
                seats,
                min_buy_in: wire::field::credits("min_buy_in", created.min_buy_in)?,
                max_buy_in: wire::field::credits("max_buy_in", created.max_buy_in)?,
                action_seconds: created.action_seconds,
                bank_seconds: created.bank_seconds,
                pause_ms: created.pause_ms,
                reveal_delay_seconds: created.reveal_delay_seconds,
                entropy_ms: if created.entropy_ms == 0 { 2000 } else { created.entropy_ms },
                idle: Duration::from_secs(u64::from(match created.idle_seconds {
                    0 => 600,
                    seconds => seconds,
                })),
            },
            seats: BTreeMap::new(),
            sabacc_pot: Credits::ZERO,
            carried_pot: Credits::ZERO,
            paid: BTreeMap::new(),
            hand_no: 0,
            hand: None,
            button: None,
            committed: BTreeMap::new(),
            promises: BTreeMap::new(),
            absentees: BTreeSet::new(),
            seeds: Seeds::default(),
            withheld: Delays::default(),
            idled: Delays::default(),
            paused_until: None,
            finished_at: None,
            closing: Closing::Open,
            refusals: Vec::new(),
            funded_by: BTreeMap::new(),
            last_roster: Vec::new(),
            absent: BTreeMap::new(),
            refunded: None,
            stops: Stops::new(),
            counts: Counts::default(),
            sequence: 0,
        })
    }

    /// The seat of a player, if he has one.
    #[must_use]
    pub fn seat_of(&self, player: PlayerId) -> Option<SeatNo> {
        self.seats.iter().find(|(_, seat)| seat.player == player).map(|(number, _)| *number)
    }

    /// The clocks that a hand's players have missed in a row, p1 first.
    #[must_use]
    pub fn misses(&self, opened: &pb::HandOpened) -> Vec<u32> {
        let misses = |seat: &pb::RosterSeat| {
            let number = SeatNo::try_from(seat.seat).ok()?;
            self.seats.get(&number).map(|seat| seat.misses)
        };
        opened.roster.iter().map(|seat| misses(seat).unwrap_or_default()).collect()
    }

    /// What a hand takes over that opens now.
    #[must_use]
    pub fn seated(&self, opened: &pb::HandOpened) -> Seated {
        Seated { misses: self.misses(opened), standings: crate::standing::of_all(self) }
    }

    /// What a seat needs to be dealt in.
    #[must_use]
    pub fn due(&self) -> Credits {
        self.config.rules.due(self.sabacc_pot).max(Credits::of(1))
    }

    /// The seats that the next hand deals in, ascending.
    pub fn ready(&self) -> impl Iterator<Item = (SeatNo, &Seat)> {
        let due = self.due();
        self.seats.iter().map(|(number, seat)| (*number, seat)).filter(move |(_, seat)| {
            seat.funding == Funding::AtTable
                && !seat.sitting_out
                && !seat.leaving
                && seat.stack >= due
        })
    }

    /// Whether as many are ready as a hand takes.
    #[must_use]
    pub fn enough_are_ready(&self) -> bool {
        self.ready().count() >= usize::from(*self.config.rules.seats().start())
    }

    /// Credits of a seat as viewers are told: after a settlement what it says, before the table has
    /// gone on.
    #[must_use]
    pub fn shown_stack(&self, number: SeatNo) -> Credits {
        let settled = self.settled_unfinished().and_then(|(hand, settled)| {
            let index = hand.roster.iter().position(|(seat, _)| *seat == number)?;
            Credits::try_new(*settled.finishing_stacks.get(index)?).ok()
        });
        let seat = self.seats.get(&number);
        settled.or_else(|| seat.map(|seat| seat.stack)).unwrap_or_default()
    }

    /// The Sabacc Pot and the carried pot, likewise.
    #[must_use]
    pub fn shown_pots(&self) -> (u64, u64) {
        match self.settled_unfinished() {
            Some((_, settled)) => (settled.finishing_sabacc_pot, settled.finishing_carried_pot),
            None => (self.sabacc_pot.get(), self.carried_pot.get()),
        }
    }

    fn settled_unfinished(&self) -> Option<(&InPlay, &pb::HandSettled)> {
        let hand = self.hand.as_ref().filter(|hand| !hand.finished)?;
        hand.settled.as_deref().map(|settled| (hand, settled))
    }

    /// Takes an event of its stream or of a hand's; these else concern [`crate::play::Play`].
    #[expect(clippy::too_many_lines, reason = "a line for each event that there is")]
    pub fn evolve(
        &mut self,
        stream: StreamId,
        event: &Recorded,
        at: UnixMicros,
    ) -> Result<(), Damaged> {
        if crate::updates::is_published(event, at) {
            self.sequence += 1;
        }
        if stream == self.id.into() {
            let owner = self.owner_of(event);
            self.count(event, owner, at);
        }
        match event {
            Recorded::SeatTaken(taken) => self.seat_taken(taken)?,
            Recorded::SeatFunded(pb::SeatFunded { seat }) => self.seat_funded(*seat)?,
            Recorded::SeatRefused(refused) => self.seat_refused(refused)?,
            Recorded::LeaveAsked(pb::LeaveAsked { seat, why }) => {
                self.seat_mut(*seat)?.leaving = true;
                let seat = seat_no(*seat)?;
                if why == IDLE {
                    self.note_idled(seat, at);
                }
                self.forget_stops(|debt| debt == Debt::RemoveIdle { seat });
            }
            Recorded::CashOutDue(pb::CashOutDue { seat, amount: _, transfer_id }) => {
                let transfer = wire::field::exactly("transfer_id", transfer_id)?;
                self.seat_mut(*seat)?.funding =
                    Funding::CashingOut { transfer, to_suspense: false };
                let seat = seat_no(*seat)?;
                self.forget_stops(|debt| debt == Debt::PayOut { seat });
            }
            Recorded::SeatVacated(pb::SeatVacated { seat }) => {
                let number = seat_no(*seat)?;
                self.seats.remove(&number);
                self.funded_by.remove(&number);
                self.forget_stops(|debt| stops::is_of_seat(debt, number));
            }
            Recorded::SitOutChanged(pb::SitOutChanged { seat, sitting_out, why: _ }) => {
                let seat = self.seat_mut(*seat)?;
                seat.sitting_out = *sitting_out;
                seat.misses = 0;
                self.note_idle(at);
            }
            Recorded::StandingFound(found) => {
                let nothing = crate::standing::says_nothing(found);
                self.seat_mut(found.seat)?.standing = (!nothing).then(|| found.clone());
            }
            Recorded::HandCommitted(pb::HandCommitted { hand_no, commitment }) => {
                let missing = || Damaged("a commitment without content".to_owned());
                let commitment = commitment.clone().ok_or_else(missing)?;
                self.committed.insert(*hand_no, commitment);
                self.forget_stops(|debt| debt == Debt::Commit { hand_no: *hand_no });
            }
            Recorded::HandStarted(pb::HandStarted { hand_no, hand_id }) => {
                self.hand_started(*hand_no, wire::field::id("hand_id", hand_id)?);
                self.forget_stops(|debt| debt == Debt::Start);
            }
            Recorded::HandFinished(finished) => self.hand_finished(finished, at)?,
            Recorded::HandOpened(opened) => self.hand_opened(opened, at)?,
            Recorded::EntropyCommitted(committed) => self.entropy_committed(committed)?,
            Recorded::EntropyClosed(closed) => self.entropy_closed(closed, at)?,
            Recorded::EntropyRevealed(revealed) => self.entropy_revealed(revealed, at)?,
            Recorded::HandSealed(_) => self.hand_sealed(),
            Recorded::HandSettled(settled) => self.hand_settled(settled, at),
            Recorded::SettlementPosted(_) => self.settlement_posted(),
            Recorded::HandAborted(aborted) => self.hand_aborted(aborted, at),
            Recorded::HandRevealed(_) | Recorded::SeedRefused(_) => self.seeds.opened(stream),
            Recorded::TablePaused(pb::TablePaused { why: _, until_micros }) => {
                self.paused_until = Some(UnixMicros(*until_micros));
            }
            Recorded::EffectStopped(stopped) => self.effect_stopped(stopped, at)?,
            Recorded::EffectResumed(resumed) => self.effect_resumed(resumed)?,
            Recorded::CloseAsked(_) => {
                self.closing = Closing::Asked;
                self.forget_stops(|debt| {
                    matches!(debt, Debt::Commit { .. } | Debt::Start | Debt::RemoveIdle { .. })
                });
            }
            Recorded::PotRefundDue(due) => self.refund_due(due)?,
            Recorded::PotRefunded(_) => self.pot_refunded()?,
            Recorded::AbsentPaid(pb::AbsentPaid { player_id }) => {
                let player = wire::field::player_id(player_id)?;
                self.absent.remove(&player);
                self.forget_stops(|debt| debt == Debt::PayAbsent { player });
            }
            Recorded::TableClosed(_) => {
                self.closing = Closing::Closed;
                self.stops.clear();
            }
            Recorded::SeatRenamed(pb::SeatRenamed { seat }) => drop(self.seat_mut(*seat)?),
            Recorded::TableCreated(_)
            | Recorded::ChanceUsed(_)
            | Recorded::CardsMoved(_)
            | Recorded::MoveDecided(_)
            | Recorded::CardsShown(_)
            | Recorded::ClockResumed(_)
            | Recorded::SeedCommitted(_)
            | Recorded::SeedSealed(_)
            | Recorded::OperationPerformed(_)
            | Recorded::CardsOpened(_)
            | Recorded::SeedOpened(_)
            | Recorded::AccountOpened(_)
            | Recorded::TransferPosted(_)
            | Recorded::AccountFrozen(_)
            | Recorded::AccountUnfrozen(_)
            | Recorded::AccountClosed(_)
            | Recorded::HoldPlaced(_)
            | Recorded::HoldReleased(_)
            | Recorded::HoldExpired(_)
            | Recorded::LimitsSet(_)
            | Recorded::SnapshotTaken(_)
            | Recorded::ClockStepped(_)
            | Recorded::PlayerExcluded(_)
            | Recorded::AdjustmentProposed(_)
            | Recorded::AdjustmentRejected(_)
            | Recorded::PlayerNamed(_)
            | Recorded::PlayerErased(_)
            | Recorded::DisputeOpened(_)
            | Recorded::DisputeStated(_)
            | Recorded::DisputeAnswered(_)
            | Recorded::DisputeReasoned(_) => {}
        }
        Ok(())
    }

    fn seat_mut(&mut self, number: u32) -> Result<&mut Seat, Damaged> {
        let number = seat_no(number)?;
        self.seats.get_mut(&number).ok_or_else(|| Damaged(format!("seat {number} is free")))
    }
}

fn seat_no(number: u32) -> Result<SeatNo, Damaged> {
    SeatNo::try_from(number).map_err(|error| Damaged(error.to_string()))
}

#[cfg(test)]
mod tests;

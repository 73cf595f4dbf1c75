//! A table folded from its stream: seats, pots, the hand in play. Pure: no clock, no I/O.
//!
//! Every pending effect of a table follows from this state and the hand's: see [`crate::effects`].
//!
//! **The end of a hand.** `HandFinished` records the stacks and pots that the table continues with.
//! It is written with `SettlementPosted`, or with `HandAborted`. A recorded settlement stands,
//! whatever its seed turns out to be. But until the wallet has posted it, the table's stacks and
//! pots stay those that the wallet knows, and viewers are shown [`Table::shown_stack`] meanwhile.

use proto::common::v1::Commitment;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use eventlog::Position;
use fairness::PlayerKey;
use primitives::{Credits, HandId, PlayerId, SeatNo, StreamId, TableId, UnixMicros};
use proto::event::v1 as pb;
use serde::{Deserialize, Serialize};
use wire::TableRecord;
use wire::records::{TableEvent, TableSubject};

use crate::effects::Effect;
use crate::entropy::{EntropyRound, SeatCommitment, SeatCommitments};
use crate::hand_in_play::InheritedState;
use crate::stops::Stops;

mod chance;
mod closing;
mod config;
mod delays;
mod disabled;
mod exclusion;
mod leaves;
mod quota;
mod seats;
mod seeds;
mod withheld;

pub(crate) use closing::{AbsentShare, RefundProgress};
pub(crate) use config::Config;
pub(crate) use delays::ReturnDelays;
pub(crate) use disabled::{DisabledState, game_disabled};
pub(crate) use exclusion::{Exclusion, Exclusions};
pub(crate) use leaves::PendingLeave;
pub(crate) use quota::RecordCounts;
pub(crate) use seeds::PendingSeeds;
pub(crate) use withheld::{WithheldCommitment, WithheldNumber};

/// Refused buy-ins that are remembered, so that a repeated request gets the same refusal again.
const REMEMBERED_REFUSALS: usize = 64;

/// A taken seat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Seat {
    pub player: PlayerId,
    /// Whether the house says that the player is its own.
    pub is_house: bool,
    /// Time since which the seat may be dealt in: it was taken, or sat in again.
    pub ready_at: UnixMicros,
    pub stack: Credits,
    pub funding: Funding,
    pub sitting_out: bool,
    /// Whether the seat sits out for an exclusion alone, so that it is dealt in again by itself.
    pub is_excluded: bool,
    pub leaving: bool,
    /// Decision clocks missed in a row.
    pub missed_clocks: u32,
    /// Time since which the seat is not dealt in; see [`Table::idle_since`].
    pub idle_since: Option<UnixMicros>,
    /// Standing that the wallet last reported of the player; `None` where there is nothing to report
    /// them.
    #[serde(with = "crate::stored::optional_message")]
    pub standing: Option<pb::StandingFound>,
}

/// Location of a seat's credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Funding {
    /// The buy-in is pending at the wallet under this transfer.
    BuyingIn {
        transfer: [u8; 16],
        amount: Credits,
    },
    AtTable,
    /// The cash-out is pending at the wallet under this transfer.
    CashingOut {
        transfer: [u8; 16],
        /// An operator sends the credits to `house/suspense`, since the player's account takes
        /// nothing.
        to_suspense: bool,
    },
}

/// Steps of closing a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Closing {
    Open,
    /// Closing was requested: no further hand starts.
    Asked,
    /// The wallet returns the Sabacc Pot under this transfer.
    Refunding {
        transfer: [u8; 16],
        shares: Vec<(Option<SeatNo>, PlayerId, Credits)>,
    },
    /// The Sabacc Pot is empty, and every seat is being paid out.
    Refunded,
    Closed,
}

/// The table's part of the hand in play.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct TableHand {
    pub id: HandId,
    /// Time at which the dealer's commitment was recorded.
    pub committed_at: UnixMicros,
    /// Seats and players, p1 first; empty until the hand is opened.
    pub roster: Vec<(SeatNo, PlayerId)>,
    /// Round of commitments and reveals; `None` once the dealer has bound the seats' entropy.
    pub entropy_round: Option<EntropyRound>,
    /// Keys that players sign their decisions with, once the hand is sealed.
    #[serde(with = "crate::stored::fixed_by_seat")]
    pub player_keys: BTreeMap<SeatNo, PlayerKey>,
    /// Positions of the records of the seats' reveals.
    pub reveals_at: BTreeMap<SeatNo, Position>,
    pub pending_leaves: Vec<PendingLeave>,
    /// Seats whose players have asked to leave since the hand was sealed.
    pub leavers: BTreeSet<SeatNo>,
    /// Time of the last commitment to entropy that was recorded while the hand was open; at first
    /// that of its opening.
    pub last_committed_at: UnixMicros,
    #[serde(with = "crate::stored::optional_message")]
    pub settled: Option<Box<pb::HandSettled>>,
}

/// The dealer's commitment to a hand that has not started, and the time at which it was recorded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct DealerPromise {
    #[serde(with = "crate::stored::message")]
    pub commitment: Commitment,
    pub at: UnixMicros,
}

/// State of a table after some event.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Table {
    pub id: TableId,
    pub config: Config,
    pub seats: BTreeMap<SeatNo, Seat>,
    pub sabacc_pot: Credits,
    pub carried_pot: Credits,
    /// Credits that each player has paid into the Sabacc Pot since it was last won.
    pub paid_into_pot: BTreeMap<PlayerId, Credits>,
    /// Number of the hand in play or of the last one; 0 before the first.
    pub hand_no: u64,
    /// Time at which the last hand started; at first that of the table's creation.
    pub last_started_at: UnixMicros,
    /// The hand in play, from its start until its settlement is posted or it is aborted.
    pub hand: Option<TableHand>,
    /// The seat that had the button last.
    pub button: Option<SeatNo>,
    /// The dealer's commitments to hands that have not started, by hand number.
    pub dealer_commitments: BTreeMap<u64, DealerPromise>,
    /// The dealer's last commitment on record, which it is shown when it is asked for the next. It is
    /// for the number before that.
    #[serde(with = "crate::stored::shared_message")]
    pub last_promise: Option<Arc<Commitment>>,
    /// Seats' commitments to entropy by hand number: of hands to come and of one that is not
    /// sealed.
    #[serde(with = "crate::stored::pairs_by_number")]
    pub seat_commitments: BTreeMap<u64, SeatCommitments>,
    /// Burnt numbers whose withheld entropy may still be opened, by hand number.
    pub withheld: BTreeMap<u64, WithheldNumber>,
    /// Seeds of started hands that are not open yet.
    pub seeds: PendingSeeds,
    /// Players who have withheld entropy here, and have not revealed often enough since.
    pub exclusions: Exclusions,
    /// Delays of players who were recently removed from a seat that they did not use.
    pub idle_delays: ReturnDelays,
    /// Time at which the last hand was over.
    pub finished_at: Option<UnixMicros>,
    pub closing: Closing,
    /// Whether no hand starts until an operator says so.
    pub disabled: DisabledState,
    /// Latest refusals of buy-ins by the wallet, by transfer.
    #[serde(with = "crate::stored::message_pairs")]
    pub refusals: Vec<([u8; 16], pb::SeatRefused)>,
    /// Players of the last hand.
    pub last_roster: Vec<PlayerId>,
    /// Pending shares of the Sabacc Pot for players who have left.
    pub absent_shares: BTreeMap<PlayerId, AbsentShare>,
    /// Progress of a refund of the pots that takes several transfers.
    pub refund_progress: Option<RefundProgress>,
    /// Effects that have stopped and wait for an operator.
    #[serde(with = "crate::stored::pairs")]
    pub stops: Stops,
    /// Counts of the records of the table's own stream since the last hand ended.
    pub record_counts: RecordCounts,
    /// Number of updates published so far.
    pub sequence: u64,
}

/// A record in the table's stream contradicts the ones before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the table's stream is damaged: {0}")]
pub(crate) struct Corrupt(pub String);

impl From<wire::BadField> for Corrupt {
    fn from(bad: wire::BadField) -> Corrupt {
        Corrupt(bad.to_string())
    }
}

impl Table {
    /// Builds the table that its first event describes, which was recorded at `at`.
    pub(crate) fn open(
        id: TableId,
        created: &pb::TableCreated,
        at: UnixMicros,
    ) -> Result<Table, Corrupt> {
        Ok(Table {
            id,
            config: Config::try_from(created)?,
            seats: BTreeMap::new(),
            sabacc_pot: Credits::ZERO,
            carried_pot: Credits::ZERO,
            paid_into_pot: BTreeMap::new(),
            hand_no: 0,
            last_started_at: at,
            hand: None,
            button: None,
            dealer_commitments: BTreeMap::new(),
            last_promise: None,
            seat_commitments: BTreeMap::new(),
            withheld: BTreeMap::new(),
            seeds: PendingSeeds::default(),
            exclusions: Exclusions::default(),
            idle_delays: ReturnDelays::default(),
            finished_at: None,
            closing: Closing::Open,
            disabled: DisabledState::default(),
            refusals: Vec::new(),
            last_roster: Vec::new(),
            absent_shares: BTreeMap::new(),
            refund_progress: None,
            stops: Stops::new(),
            record_counts: RecordCounts::default(),
            sequence: 0,
        })
    }

    /// Seat of a player, if they have one.
    #[must_use]
    pub(crate) fn seat_of(&self, player: PlayerId) -> Option<SeatNo> {
        self.seats.iter().find(|(_, seat)| seat.player == player).map(|(number, _)| *number)
    }

    /// Decision clocks that each player of a hand has missed in a row, p1 first.
    #[must_use]
    pub(crate) fn missed_clocks(&self, opened: &pb::HandOpened) -> Vec<u32> {
        let misses = |seat: &pb::RosterSeat| {
            let number = SeatNo::try_from(seat.seat).ok()?;
            self.seats.get(&number).map(|seat| seat.missed_clocks)
        };
        opened.roster.iter().map(|seat| misses(seat).unwrap_or_default()).collect()
    }

    /// State that a hand takes over from the table when it opens.
    #[must_use]
    pub(crate) fn inherited_state(&self, opened: &pb::HandOpened) -> InheritedState {
        InheritedState {
            missed_clocks: self.missed_clocks(opened),
            standings: crate::standing::of_all(self),
        }
    }

    /// Credits that a seat needs to be dealt in; at least 1.
    #[must_use]
    pub(crate) fn min_stack(&self) -> Credits {
        self.config.rules.min_stack(self.sabacc_pot).max(Credits::of(1))
    }

    /// Seats that the next hand deals in, in ascending order.
    pub(crate) fn ready_seats(&self) -> impl Iterator<Item = (SeatNo, &Seat)> {
        let due = self.min_stack();
        self.seats.iter().map(|(number, seat)| (*number, seat)).filter(move |(_, seat)| {
            seat.funding == Funding::AtTable
                && !seat.sitting_out
                && !seat.leaving
                && seat.stack >= due
        })
    }

    /// Seats that a hand which starts at `now` deals in, in ascending order. Who has just taken a seat
    /// or sat in again, and has not committed yet, is dealt in once they have had `commit_ms` to: the
    /// others do not wait for them, unless they are too few.
    #[must_use]
    pub(crate) fn seats_to_deal_in(&self, now: UnixMicros) -> Vec<(SeatNo, &Seat)> {
        let commitments = self.seat_commitments_of(self.hand_no + 1);
        let is_prepared = |number: SeatNo, seat: &Seat| {
            seat.ready_at.plus(self.config.commit_time()) <= now
                || commitments.contains_key(&(number, seat.player))
        };
        let prepared: Vec<_> =
            self.ready_seats().filter(|&(number, seat)| is_prepared(number, seat)).collect();
        if prepared.len() < self.min_players() { self.ready_seats().collect() } else { prepared }
    }

    /// Whether enough seats are ready for a hand, and enough of them have committed to it: an open
    /// hand never waits for the least number of commitments, so nobody can hold one up by making
    /// none.
    #[must_use]
    pub(crate) fn has_enough_ready_seats(&self) -> bool {
        let players: Vec<_> =
            self.ready_seats().map(|(number, seat)| (number, seat.player)).collect();
        let commitments = self.seat_commitments_of(self.hand_no + 1);
        let committed = crate::entropy::committed_seats(&players, commitments).len();
        let contributors_min = usize::try_from(self.config.settings.contributors_min);
        !self.is_short_of_players() && contributors_min.is_ok_and(|least| committed >= least)
    }

    /// Whether fewer seats are ready than a hand needs.
    #[must_use]
    pub(crate) fn is_short_of_players(&self) -> bool {
        self.ready_seats().count() < self.min_players()
    }

    fn min_players(&self) -> usize {
        usize::from(*self.config.rules.player_counts().start())
    }

    /// Credits of a seat as viewers see them: the settlement's, once there is one, even before the
    /// table has taken it over.
    #[must_use]
    pub(crate) fn shown_stack(&self, number: SeatNo) -> Credits {
        let settled = self.settled_unfinished().and_then(|(hand, settled)| {
            let index = hand.roster.iter().position(|(seat, _)| *seat == number)?;
            Credits::try_new(*settled.finishing_stacks.get(index)?).ok()
        });
        let seat = self.seats.get(&number);
        settled.or_else(|| seat.map(|seat| seat.stack)).unwrap_or_default()
    }

    /// The Sabacc Pot and the carried pot as viewers see them: the settlement's, once there is one,
    /// even before the table has taken it over.
    #[must_use]
    pub(crate) fn shown_pots(&self) -> (u64, u64) {
        match self.settled_unfinished() {
            Some((_, settled)) => (settled.finishing_sabacc_pot, settled.finishing_carried_pot),
            None => (self.sabacc_pot.get(), self.carried_pot.get()),
        }
    }

    fn settled_unfinished(&self) -> Option<(&TableHand, &pb::HandSettled)> {
        let hand = self.hand.as_ref()?;
        hand.settled.as_deref().map(|settled| (hand, settled))
    }

    /// Applies an event of the table's stream or of its hand's. The remaining events of a hand
    /// concern [`crate::hand_in_play::HandInPlay`].
    pub(crate) fn evolve(
        &mut self,
        stream: StreamId,
        recorded: &TableRecord,
        at: UnixMicros,
    ) -> Result<(), Corrupt> {
        let event = recorded.subject();
        if crate::updates::is_published(event) {
            self.sequence += 1;
        }
        if stream == self.id.into() {
            self.count_record(event);
        }
        match event {
            TableSubject::Seat(event) => self.evolve_seat(event, at),
            TableSubject::Table(event) => self.evolve_table(event, at),
            TableSubject::Hand(event) => self.evolve_hand(event, stream, at),
            TableSubject::Play(event) => {
                self.evolve_play(event, at);
                Ok(())
            }
            TableSubject::Person(_) | TableSubject::Room(_) | TableSubject::Clock(_) => Ok(()),
        }
    }

    fn evolve_table(&mut self, event: TableEvent<'_>, at: UnixMicros) -> Result<(), Corrupt> {
        match event {
            TableEvent::TableCreated(_) => {}
            TableEvent::HandCommitted(pb::HandCommitted { hand_no, commitment }) => {
                let missing = || Corrupt("a commitment without content".to_owned());
                let commitment = commitment.clone().ok_or_else(missing)?;
                self.last_promise = Some(Arc::new(commitment.clone()));
                self.dealer_commitments.insert(*hand_no, DealerPromise { commitment, at });
                self.forget_stops(|effect| effect == Effect::Commit { hand_no: *hand_no });
            }
            TableEvent::EntropyCommitted(committed) => self.entropy_committed(committed, at)?,
            TableEvent::HandStarted(pb::HandStarted { hand_no, hand_id }) => {
                self.hand_started(*hand_no, wire::field::id("hand_id", hand_id)?, at);
                self.forget_stops(|effect| effect == Effect::Start);
            }
            TableEvent::HandFinished(finished) => self.hand_finished(finished, at)?,
            TableEvent::EffectStopped(stopped) => self.effect_stopped(stopped, at)?,
            TableEvent::EffectResumed(resumed) => self.effect_resumed(resumed)?,
            TableEvent::TableDisabled(event) => self.table_disabled(event, at),
            TableEvent::TableEnabled(_) => self.table_enabled(at),
            TableEvent::CloseAsked(_) => {
                self.closing = Closing::Asked;
                self.forget_stops(Effect::ends_with_close);
            }
            TableEvent::PotRefundDue(due) => self.refund_due(due)?,
            TableEvent::PotRefunded(_) => self.pot_refunded()?,
            TableEvent::AbsentPaid(pb::AbsentPaid { player_id }) => {
                let player = wire::field::player_id(player_id)?;
                self.absent_shares.remove(&player);
                self.forget_stops(|effect| effect == Effect::PayAbsent { player });
            }
            TableEvent::TableClosed(_) => {
                self.closing = Closing::Closed;
                self.stops.clear();
            }
        }
        Ok(())
    }

    fn seat_mut(&mut self, number: u32) -> Result<&mut Seat, Corrupt> {
        let number = seat_no(number)?;
        self.seats.get_mut(&number).ok_or_else(|| Corrupt(format!("seat {number} is free")))
    }
}

fn seat_no(number: u32) -> Result<SeatNo, Corrupt> {
    SeatNo::try_from(number).map_err(|error| Corrupt(error.to_string()))
}

#[cfg(test)]
mod tests;

//! Credits by the tables' logs: every seat, every pot, and the transfers that are requested of the
//! wallet.

use std::collections::BTreeMap;

use ::ledger::Account;
use eventlog_core::Event;
use primitives::{HandId, PlayerId, RequestId, TableId};
use proto::event::v1 as pb;
use wire::records::{HandEvent, PlayEvent, Record as _, TableEvent, TableRecord, TableSubject};
use wire::{BadField, field};

use super::authors;
use super::transfers::{Legs, Transfers, WalletAnswer};
use super::{Check, Failures, Figures};

mod refunds;
mod seats;
mod stops;

/// Parts of the audit, beside the tables, that a table's event changes.
pub(super) struct Context<'a> {
    pub(super) transfers: &'a mut Transfers,
    pub(super) failures: &'a mut Failures,
    pub(super) figures: &'a mut Figures,
}

#[derive(Default)]
pub(super) struct Tables {
    created: BTreeMap<TableId, pb::TableCreated>,
    /// Number of the last hand of each table.
    hand_no: BTreeMap<TableId, u64>,
    /// Credits of each account by the tables' records, once everything requested is posted.
    stated: BTreeMap<Account, i128>,
    seats: BTreeMap<(TableId, u32), Seat>,
    refunds: BTreeMap<TableId, Refund>,
    hands: BTreeMap<HandId, HandInPlay>,
    /// Effects that have stopped, with their descriptions.
    stops: BTreeMap<(TableId, stops::EffectKey), String>,
}

struct Seat {
    player: PlayerId,
    /// Id and amount of the buy-in or cash-out that is under way.
    transfer: Option<(RequestId, u64)>,
}

/// A refund under way.
struct Refund {
    transfer: RequestId,
    /// Shares of players who had left the table. They are paid on from the table's account at once.
    absent: Vec<(PlayerId, i128)>,
}

/// A hand, from its opening until it is settled and the table has recorded its end.
struct HandInPlay {
    table: TableId,
    opened: pb::HandOpened,
    settled: Option<pb::HandSettled>,
    finished: Option<pb::HandFinished>,
    /// Whether it came to nothing.
    aborted: bool,
}

/// Reason why a record cannot follow those before it.
struct Inconsistent(String);

impl From<BadField> for Inconsistent {
    fn from(bad: BadField) -> Inconsistent {
        Inconsistent(bad.to_string())
    }
}

fn inconsistent(why: impl Into<String>) -> Inconsistent {
    Inconsistent(why.into())
}

/// Answer of the wallet that an event records.
fn answer_at(event: &Event) -> WalletAnswer {
    WalletAnswer { at: event.recorded_at, position: None }
}

impl Tables {
    /// Returns the stated credits by account: of tables, the house's rake and its suspense account.
    pub(super) fn stated(&self) -> &BTreeMap<Account, i128> {
        &self.stated
    }

    /// Describes the hands that are not settled.
    pub(super) fn describe_in_play(&self) -> Vec<String> {
        let open = self.hands.values().filter(|playing| playing.settled.is_none());
        open.map(|one| format!("hand {} of table {} is in play", one.opened.hand_no, one.table))
            .collect()
    }

    pub(super) fn apply(&mut self, event: &Event, recorded: &TableRecord, books: &mut Context<'_>) {
        if let Err(Inconsistent(why)) = self.try_apply(event, recorded, books) {
            let (at, name) = (event.position.0, recorded.name());
            let why = || format!("position {at} of the table's log, {name}: {why}");
            books.failures.add(Check::Tables, why);
        }
    }

    fn try_apply(
        &mut self,
        event: &Event,
        recorded: &TableRecord,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        match recorded.subject() {
            TableSubject::Seat(of_seat) => self.apply_to_seat(event, of_seat, books),
            TableSubject::Table(of_table) => self.apply_to_table(event, of_table, books),
            TableSubject::Hand(of_hand) => self.apply_to_hand(event, of_hand, books),
            TableSubject::Play(played) => self.apply_to_play(event, played, books),
            TableSubject::Person(_) | TableSubject::Room(_) => Ok(()),
            TableSubject::Clock(_) => Err(inconsistent("no table writes this")),
        }
    }

    fn apply_to_table(
        &mut self,
        event: &Event,
        of_table: TableEvent<'_>,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let table = TableId(event.stream.0);
        match of_table {
            TableEvent::TableCreated(created) => {
                self.created.insert(table, created.clone());
                Ok(())
            }
            TableEvent::HandFinished(finished) => {
                let hand = field::id("hand_id", &finished.hand_id)?;
                self.hand_in_play(hand)?.finished = Some(finished.clone());
                self.close_hand(hand)
            }
            TableEvent::PotRefundDue(due) => self.pot_refund(table, due, books),
            TableEvent::PotRefunded(_) => {
                self.pot_refunded(table, answer_at(event), books);
                Ok(())
            }
            TableEvent::AbsentPaid(paid) => {
                let account = Account::Seat(table, field::player_id(&paid.player_id)?);
                let answer = answer_at(event);
                books.transfers.add_absent_answer(account, answer, books.failures);
                Ok(())
            }
            TableEvent::TableClosed(_) => self.close_table(table),
            TableEvent::EffectStopped(stopped) => {
                self.stopped(table, stopped);
                Ok(())
            }
            TableEvent::EffectResumed(resumed) => {
                self.resumed(table, resumed, books)?;
                authors::check_operator(&event.actor).map_err(Inconsistent)
            }
            TableEvent::TableDisabled(pb::TableDisabled { with_game, reason: _ })
            | TableEvent::TableEnabled(pb::TableEnabled { with_game, reason: _ }) => {
                let check =
                    if *with_game { authors::check_service } else { authors::check_operator };
                check(&event.actor).map_err(Inconsistent)
            }
            TableEvent::HandCommitted(_)
            | TableEvent::HandStarted(_)
            | TableEvent::EntropyCommitted(_)
            | TableEvent::CloseAsked(_) => Ok(()),
        }
    }

    fn apply_to_hand(
        &mut self,
        event: &Event,
        of_hand: HandEvent<'_>,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let hand = HandId(event.stream.0);
        match of_hand {
            HandEvent::HandOpened(opened) => self.hand_opened(hand, opened, books),
            HandEvent::HandAborted(_) => self.hand_aborted(hand),
            HandEvent::EntropyClosed(_)
            | HandEvent::EntropyRevealed(_)
            | HandEvent::HandRevealed(_)
            | HandEvent::SeedRefused(_)
            | HandEvent::HandSuspended(_)
            | HandEvent::HandContinued(_) => Ok(()),
        }
    }

    fn apply_to_play(
        &mut self,
        event: &Event,
        played: PlayEvent<'_>,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let hand = HandId(event.stream.0);
        match played {
            PlayEvent::HandSettled(settled) => self.hand_settled(hand, settled, books),
            PlayEvent::SettlementPosted(posted) => {
                let answer = WalletAnswer { position: Some(posted.position), ..answer_at(event) };
                books.transfers.add_answer(hand.into(), answer, books.failures);
                Ok(())
            }
            PlayEvent::HandSealed(_)
            | PlayEvent::ChanceUsed(_)
            | PlayEvent::CardsMoved(_)
            | PlayEvent::MoveDecided(_)
            | PlayEvent::CardsShown(_)
            | PlayEvent::ClockResumed(_) => Ok(()),
        }
    }

    fn add_stated(&mut self, account: Account, by: i128) {
        let sum = self.stated.entry(account).or_default();
        *sum = sum.saturating_add(by);
    }

    /// Adds an operator's adjustment of an account of the house.
    pub(super) fn adjusted(&mut self, account: Account, by: i128) {
        if matches!(account, Account::Rake | Account::Suspense) {
            self.add_stated(account, by);
        }
    }

    fn stated_amount(&self, account: Account) -> i128 {
        self.stated.get(&account).copied().unwrap_or_default()
    }

    fn hand_in_play(&mut self, hand: HandId) -> Result<&mut HandInPlay, Inconsistent> {
        self.hands.get_mut(&hand).ok_or_else(|| inconsistent("no such hand is in play"))
    }

    /// Checks that a hand begins with the credits that the table has.
    fn hand_opened(
        &mut self,
        hand: HandId,
        opened: &pb::HandOpened,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let table = field::table_id(&opened.table_id)?;
        books.figures.hands_opened = books.figures.hands_opened.saturating_add(1);
        let unsettled = self.hands.values().find(|playing| playing.table == table);
        let unsettled = unsettled.map(|playing| playing.opened.hand_no);
        let playing = HandInPlay {
            table,
            opened: opened.clone(),
            settled: None,
            finished: None,
            aborted: false,
        };
        self.hands.insert(hand, playing);
        if let Some(hand_no) = unsettled {
            return Err(inconsistent(format!("hand {hand_no} of this table was never settled")));
        }
        let number = opened.hand_no;
        let last = self.hand_no.insert(table, number).unwrap_or_default();
        if last.checked_add(1) != Some(number) || hand != fairness::hand_id(table, number) {
            return Err(inconsistent(format!(
                "hand {number} follows hand {last}, or has another's id"
            )));
        }
        self.check_as_created(table, opened)?;
        self.check_credits(table, &opened.roster, opened.sabacc_pot, opened.carried_pot)
    }

    /// Checks that a hand has the rules and the clocks that its table was created with.
    fn check_as_created(
        &self,
        table: TableId,
        opened: &pb::HandOpened,
    ) -> Result<(), Inconsistent> {
        let created =
            self.created.get(&table).ok_or_else(|| inconsistent("there is no such table"))?;
        if opened.settings != created.settings {
            return Err(inconsistent("the hand has other settings than its table"));
        }
        if opened.rule_set != created.rule_set {
            return Err(inconsistent("the hand has another rule set than its table"));
        }
        Ok(())
    }

    /// Checks stacks and pots against the stated credits.
    fn check_credits(
        &self,
        table: TableId,
        roster: &[pb::RosterSeat],
        sabacc: u64,
        carried: u64,
    ) -> Result<(), Inconsistent> {
        for pb::RosterSeat { seat, player_id, stack, house: _ } in roster {
            let player = field::player_id(player_id)?;
            let sits = self.seats.get(&(table, *seat)).is_some_and(|it| it.player == player);
            let before = self.stated_amount(Account::Seat(table, player));
            if !sits || before != i128::from(*stack) {
                return Err(inconsistent(format!("seat {seat} has {before} credits, not {stack}")));
            }
        }
        let pots = [(Account::SabaccPot(table), sabacc), (Account::CarriedPot(table), carried)];
        let wrong = pots
            .into_iter()
            .find(|(pot, credits)| self.stated_amount(*pot) != i128::from(*credits));
        match wrong {
            None => Ok(()),
            Some((pot, credits)) => Err(inconsistent(format!(
                "{pot} has {} credits, not {credits}",
                self.stated_amount(pot)
            ))),
        }
    }

    fn hand_settled(
        &mut self,
        hand: HandId,
        settled: &pb::HandSettled,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let playing = self.hand_in_play(hand)?;
        if playing.settled.replace(settled.clone()).is_some() {
            return Err(inconsistent("the hand is settled twice"));
        }
        let (table, opened) = (playing.table, playing.opened.clone());
        if opened.roster.len() != settled.finishing_stacks.len() {
            return Err(inconsistent("not one finishing stack a player"));
        }
        let legs = settlement_legs(table, &opened, settled)?;
        for (account, moved) in &legs {
            self.add_stated(*account, *moved);
        }
        let sum: i128 = legs.values().sum();
        let figures = &mut books.figures;
        figures.hands_settled = figures.hands_settled.saturating_add(1);
        figures.rake = figures.rake.saturating_add(settled.rake);
        books.transfers.add_request(hand.into(), "the settlement of hand", legs, books.failures);
        self.close_hand(hand)?;
        if sum == 0 { Ok(()) } else { Err(inconsistent(format!("the hand made {sum} credits"))) }
    }

    /// Ends a hand that came to nothing. A settled hand is undone by nothing.
    fn hand_aborted(&mut self, hand: HandId) -> Result<(), Inconsistent> {
        let playing = self.hand_in_play(hand)?;
        if playing.settled.is_some() {
            return Err(inconsistent("the hand is settled, and aborted after it"));
        }
        playing.aborted = true;
        self.close_hand(hand)
    }

    /// Removes a hand that is over on both sides, and checks that they agree.
    fn close_hand(&mut self, hand: HandId) -> Result<(), Inconsistent> {
        let playing = self.hand_in_play(hand)?;
        let table = playing.table;
        let over = playing.settled.is_some() || playing.aborted;
        let Some(finished) = playing.finished.clone().filter(|_| over) else { return Ok(()) };
        let aborted = playing.aborted;
        self.hands.remove(&hand);
        self.clear_stops(table, |stop| stop.hand_no == finished.hand_no);
        if finished.aborted != aborted {
            return Err(inconsistent("its records disagree whether the hand came to nothing"));
        }
        self.check_credits(table, &finished.seats, finished.sabacc_pot, finished.carried_pot)
    }

    /// Checks that a closed table has no credits.
    fn close_table(&mut self, table: TableId) -> Result<(), Inconsistent> {
        let left = self
            .stated
            .iter()
            .find(|(account, amount)| account.table() == Some(table) && **amount != 0);
        match left {
            None => {
                self.stated.retain(|account, _| account.table() != Some(table));
                self.clear_stops(table, |_| true);
                Ok(())
            }
            Some((account, amount)) => {
                Err(inconsistent(format!("the table closes with {amount} credits on {account}")))
            }
        }
    }
}

/// Returns every seat's net, 0 too, and the credits that a settlement moves of pots and the house.
fn settlement_legs(
    table: TableId,
    opened: &pb::HandOpened,
    settled: &pb::HandSettled,
) -> Result<Legs, Inconsistent> {
    let mut legs = Legs::new();
    let mut leg = |account, before: u64, after: u64| {
        let moved = i128::from(after) - i128::from(before);
        if moved != 0 || matches!(account, Account::Seat(..)) {
            legs.insert(account, moved);
        }
    };
    for (seat, stack) in opened.roster.iter().zip(&settled.finishing_stacks) {
        let player = field::player_id(&seat.player_id)?;
        leg(Account::Seat(table, player), seat.stack, *stack);
    }
    leg(Account::SabaccPot(table), opened.sabacc_pot, settled.finishing_sabacc_pot);
    leg(Account::CarriedPot(table), opened.carried_pot, settled.finishing_carried_pot);
    leg(Account::Rake, 0, settled.rake);
    Ok(legs)
}

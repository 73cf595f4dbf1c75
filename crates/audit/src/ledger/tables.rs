//! Credits by the tables' logs: every seat, every pot, and the transfers that are requested of the
//! wallet.

use std::collections::BTreeMap;

use ::ledger::Account;
use eventlog_core::Event;
use primitives::{HandId, PlayerId, RequestId, TableId};
use proto::event::v1 as pb;
use wire::{BadField, Recorded, field};

use super::authors;
use super::transfers::{Legs, Transfers, WalletAnswer};
use super::{Check, Failures, Figures};

mod refunds;
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

    pub(super) fn apply(&mut self, event: &Event, recorded: &Recorded, books: &mut Context<'_>) {
        if let Err(Inconsistent(why)) = self.try_apply(event, recorded, books) {
            let (at, name) = (event.position.0, recorded.name());
            let why = || format!("position {at} of the table's log, {name}: {why}");
            books.failures.add(Check::Tables, why);
        }
    }

    #[expect(clippy::too_many_lines, reason = "a line for each event that is none of a table's")]
    fn try_apply(
        &mut self,
        event: &Event,
        recorded: &Recorded,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let (table, hand) = (TableId(event.stream.0), HandId(event.stream.0));
        let answer = WalletAnswer { at: event.recorded_at, position: None };
        match recorded {
            Recorded::SeatTaken(taken) => self.seat_taken(table, taken, books),
            Recorded::SeatFunded(funded) => {
                let (id, _) = self.take_transfer((table, funded.seat))?;
                books.transfers.add_answer(id, answer, books.failures);
                Ok(())
            }
            Recorded::SeatRefused(refused) => {
                let place = (table, refused.seat);
                let (id, amount) = self.take_transfer(place)?;
                books.transfers.add_refusal(id, books.failures);
                self.vacate_seat(place, -i128::from(amount))
            }
            Recorded::CashOutDue(due) => self.cash_out(table, due, books),
            Recorded::SeatVacated(vacated) => {
                let place = (table, vacated.seat);
                if let Ok((id, _)) = self.take_transfer(place) {
                    books.transfers.add_answer(id, answer, books.failures);
                }
                self.vacate_seat(place, 0)
            }
            Recorded::HandOpened(opened) => self.hand_opened(hand, opened, books),
            Recorded::HandSettled(settled) => self.hand_settled(hand, settled, books),
            Recorded::HandFinished(finished) => {
                let hand = field::id("hand_id", &finished.hand_id)?;
                self.hand_in_play(hand)?.finished = Some(finished.clone());
                self.close_hand(hand)
            }
            Recorded::HandAborted(_) => self.hand_aborted(hand, books),
            Recorded::SettlementPosted(posted) => {
                let answer = WalletAnswer { position: Some(posted.position), ..answer };
                books.transfers.add_answer(hand.into(), answer, books.failures);
                Ok(())
            }
            Recorded::PotRefundDue(due) => self.pot_refund(table, due, books),
            Recorded::PotRefunded(_) => {
                self.pot_refunded(table, answer, books);
                Ok(())
            }
            Recorded::AbsentPaid(paid) => {
                let account = Account::Seat(table, field::player_id(&paid.player_id)?);
                books.transfers.add_absent_answer(account, answer, books.failures);
                Ok(())
            }
            Recorded::TableClosed(_) => self.close_table(table),
            Recorded::TableCreated(created) => {
                self.created.insert(table, created.clone());
                Ok(())
            }
            Recorded::EffectStopped(stopped) => {
                self.stopped(table, stopped);
                Ok(())
            }
            Recorded::EffectResumed(resumed) => {
                self.resumed(table, resumed, books)?;
                authors::check_operator(&event.actor).map_err(Inconsistent)
            }
            Recorded::LeaveAsked(_)
            | Recorded::SitOutChanged(_)
            | Recorded::StandingFound(_)
            | Recorded::SeatRenamed(_)
            | Recorded::PlayerNamed(_)
            | Recorded::PlayerErased(_)
            | Recorded::DisputeOpened(_)
            | Recorded::DisputeStated(_)
            | Recorded::DisputeAnswered(_)
            | Recorded::DisputeReasoned(_)
            | Recorded::HandCommitted(_)
            | Recorded::HandStarted(_)
            | Recorded::HandSealed(_)
            | Recorded::ChanceUsed(_)
            | Recorded::CardsMoved(_)
            | Recorded::MoveDecided(_)
            | Recorded::CardsShown(_)
            | Recorded::HandRevealed(_)
            | Recorded::ClockResumed(_)
            | Recorded::EntropyCommitted(_)
            | Recorded::EntropyClosed(_)
            | Recorded::EntropyRevealed(_)
            | Recorded::TablePaused(_)
            | Recorded::SeedRefused(_)
            | Recorded::CloseAsked(_) => Ok(()),
            Recorded::SeedCommitted(_)
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
            | Recorded::AdjustmentRejected(_) => Err(inconsistent("no table writes this")),
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

    /// Takes the transfer of a seat that is under way.
    fn take_transfer(&mut self, place: (TableId, u32)) -> Result<(RequestId, u64), Inconsistent> {
        let seat = self.seats.get_mut(&place).ok_or_else(|| inconsistent("the seat is free"))?;
        seat.transfer.take().ok_or_else(|| inconsistent("no transfer of the seat is under way"))
    }

    fn seat_taken(
        &mut self,
        table: TableId,
        taken: &pb::SeatTaken,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let pb::SeatTaken { seat, player_id, buy_in, transfer_id } = taken;
        let player = field::player_id(player_id)?;
        let id = field::id("transfer_id", transfer_id)?;
        let transfer = Some((id, *buy_in));
        if self.seats.insert((table, *seat), Seat { player, transfer }).is_some() {
            return Err(inconsistent(format!("seat {seat} is taken already")));
        }
        let (account, amount) = (Account::Seat(table, player), i128::from(*buy_in));
        self.add_stated(account, amount);
        let legs = Legs::from([(Account::Player(player), -amount), (account, amount)]);
        books.transfers.add_request(id, "the buy-in", legs, books.failures);
        Ok(())
    }

    fn cash_out(
        &mut self,
        table: TableId,
        due: &pb::CashOutDue,
        books: &mut Context<'_>,
    ) -> Result<(), Inconsistent> {
        let pb::CashOutDue { seat, amount, transfer_id } = due;
        let id = field::id("transfer_id", transfer_id)?;
        let place =
            self.seats.get_mut(&(table, *seat)).ok_or_else(|| inconsistent("the seat is free"))?;
        place.transfer = Some((id, *amount));
        let (player, amount) = (place.player, i128::from(*amount));
        let account = Account::Seat(table, player);
        let stack = self.stated_amount(account);
        self.add_stated(account, -amount);
        let legs = Legs::from([(account, -amount), (Account::Player(player), amount)]);
        books.transfers.add_request(id, "the cash-out", legs, books.failures);
        let whole = stack == amount;
        if whole {
            Ok(())
        } else {
            Err(inconsistent(format!("{amount} of a stack of {stack} are paid out")))
        }
    }

    /// Frees a seat; no credits may be left on its account.
    fn vacate_seat(&mut self, place: (TableId, u32), by: i128) -> Result<(), Inconsistent> {
        let seat = self.seats.remove(&place).ok_or_else(|| inconsistent("the seat is free"))?;
        self.clear_stops(place.0, |stop| stop.seat == place.1);
        let account = Account::Seat(place.0, seat.player);
        self.add_stated(account, by);
        match self.stated_amount(account) {
            0 => {
                self.stated.remove(&account);
                Ok(())
            }
            left => Err(inconsistent(format!("the seat is left with {left} credits on it"))),
        }
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
        let clocks = (opened.action_seconds, opened.bank_seconds);
        if clocks != (created.action_seconds, created.bank_seconds) {
            return Err(inconsistent("the hand has other clocks than its table"));
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
        for pb::RosterSeat { seat, player_id, stack } in roster {
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

    /// Ends a hand that came to nothing. A settlement that was recorded before, and not posted, is
    /// taken back.
    fn hand_aborted(&mut self, hand: HandId, books: &mut Context<'_>) -> Result<(), Inconsistent> {
        let playing = self.hand_in_play(hand)?;
        playing.aborted = true;
        let (table, opened) = (playing.table, playing.opened.clone());
        if let Some(settled) = playing.settled.take() {
            for (account, moved) in settlement_legs(table, &opened, &settled)? {
                self.add_stated(account, -moved);
            }
            let figures = &mut books.figures;
            figures.hands_settled = figures.hands_settled.saturating_sub(1);
            figures.rake = figures.rake.saturating_sub(settled.rake);
            books.transfers.add_refusal(hand.into(), books.failures);
        }
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

//! The bot's seat: sitting down, staying in play, and buying in again.

use std::time::Duration;

use client::Error;
use primitives::Credits;
use proto::common::v1::ErrorReason;
use proto::table::v1::SeatState;
use tokio::time::Instant;

use super::{BotEnd, RunningBot, is_outdated};
use crate::strategy::Strategy;

/// Wait before the next attempt if the server names none.
const RETRY_WAIT: Duration = Duration::from_secs(1);

impl<S: Strategy> RunningBot<'_, S> {
    /// Does what the seat needs next. Returns the end of the run if nothing can be done.
    pub(super) async fn maintain_seat(&mut self) -> Result<Option<BotEnd>, Error> {
        if self.may_return_at.is_some_and(|at| Instant::now() < at) {
            return Ok(None);
        }
        self.may_return_at = None;
        let Some(seat) = self.state.my_seat() else { return self.sit_down().await };
        let (stack, state) = (seat.stack_credits, seat.state());
        match state {
            SeatState::SittingOut if self.is_given_up_in_play() => Ok(None),
            SeatState::SittingOut => {
                // The player missed a decision, perhaps while the server was away.
                let back = self.client.sit_out(self.table, false).await;
                self.seat_request_answered(back)
            }
            SeatState::Playing => {
                let in_hand = self.state.is_hand_in_play() && self.state.my_hand_seat().is_some();
                if in_hand || stack >= self.state.due().get() {
                    return Ok(None);
                }
                let balance = self.client.get_account(None).await?.balance_credits;
                if balance.saturating_add(stack) < self.min_stack() {
                    return Ok(Some(BotEnd::Broke));
                }
                // The bot sits down again once the seat is free and the stack is paid out.
                let left = self.client.leave(self.table, &mut self.chance).await;
                self.seat_request_answered(left)
            }
            SeatState::Unspecified | SeatState::BuyingIn | SeatState::Leaving => Ok(None),
        }
    }

    /// Whether the hand that the bot's number is not in has not ended.
    fn is_given_up_in_play(&self) -> bool {
        let view = self.state.view();
        let is_running = view.entropy.is_some() || self.state.is_hand_in_play();
        self.given_up == Some(view.hand_no) && is_running
    }

    /// Least credits with which the bot can sit down and be dealt in.
    fn min_stack(&self) -> u64 {
        self.state.view().min_buy_in_credits.max(self.state.due().get())
    }

    async fn sit_down(&mut self) -> Result<Option<BotEnd>, Error> {
        let balance = self.client.get_account(None).await?.balance_credits;
        let least = self.min_stack();
        let most = self.state.view().max_buy_in_credits.max(least);
        if balance < least {
            return Ok(Some(BotEnd::Broke));
        }
        let buy_in = self.bot.buy_in.get().clamp(least, most).min(balance);
        let buy_in = Credits::try_new(buy_in)
            .map_err(|_| Error::Malformed("the buy-in is more than there can be"))?;
        let mut wanted = self.bot.seat;
        loop {
            let error = match self.client.sit_down(self.table, wanted, buy_in).await {
                Ok(_) => {
                    self.report.buy_ins += 1;
                    self.seat_change_pending = true;
                    return Ok(None);
                }
                Err(error) => error,
            };
            return match error.reason() {
                Some(ErrorReason::SeatTaken) if wanted != 0 => {
                    wanted = 0;
                    continue;
                }
                Some(ErrorReason::SeatTaken) => Ok(Some(BotEnd::NoSeat)),
                Some(ErrorReason::TableClosed) => Ok(Some(BotEnd::TableClosed)),
                Some(ErrorReason::InsufficientCredits) => Ok(Some(BotEnd::Broke)),
                // The seat was taken before a reconnect; the updates show its number.
                Some(ErrorReason::AlreadySeated) => {
                    self.seat_change_pending = true;
                    Ok(None)
                }
                Some(ErrorReason::Withheld) => Ok(self.return_later(&error)),
                Some(_) | None => Err(error),
            };
        }
    }

    pub(super) fn seat_request_answered<A>(
        &mut self,
        answer: Result<A, Error>,
    ) -> Result<Option<BotEnd>, Error> {
        match answer {
            Err(error) if error.reason() == Some(ErrorReason::Withheld) => {
                return Ok(self.return_later(&error));
            }
            Err(error) if !is_outdated(&error) => return Err(error),
            Err(_) => {}
            Ok(_) => self.seat_change_pending = true,
        }
        Ok(None)
    }

    /// Remembers the time at which the table lets the player return after withheld entropy.
    fn return_later(&mut self, error: &Error) -> Option<BotEnd> {
        let wait = error.refusal().and_then(|refusal| refusal.retry_after);
        self.may_return_at = Some(Instant::now() + wait.unwrap_or(RETRY_WAIT));
        None
    }
}

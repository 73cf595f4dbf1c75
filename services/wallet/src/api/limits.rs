//! Limits and exclusions of players, and whether players may be dealt in.

use std::collections::BTreeSet;

use ledger::{
    Account, AllLimitTerms, Command, LimitSetter, LimitTerms, LimitUsage, Limits, Measure,
    RequestedLimits, Seconds, Window,
};
use primitives::{Credits, PlayerId};
use proto::wallet::v1 as pb;
use tonic::{Request, Status};
use wire::standing::play_standing;
use wire::{BadField, field};

use super::{Api, caller, target_player, text};
use crate::answer::AnswerContent;
use crate::command::{self, RequestContent};
use crate::wallet::{PlayerLimits, QueryContext, WalletError};

const MAX_PLAYERS: usize = 64;

impl Api {
    pub(super) async fn change_limits(
        &self,
        request: Request<pb::SetLimitsRequest>,
    ) -> Result<pb::SetLimitsResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::SetLimitsRequest { request_id, player_id, limits, loss, time } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let player = target_player(&caller, &player_id).map_err(|status| *status)?;
        let limits = parse_requested_limits(limits, loss, time)?;
        let by =
            if caller.player().is_some() { LimitSetter::Player } else { LimitSetter::Operator };
        let content = RequestContent::SetLimits { player, by, limits };
        let request = command::Request { id, content, linked: false };
        let done = self.execute_request(&caller, request).await?;
        match done.content {
            AnswerContent::LimitTerms(terms) => Ok(terms_to_pb(&terms)),
            AnswerContent::Empty
            | AnswerContent::Balance(_)
            | AnswerContent::AccountsOpened(_)
            | AnswerContent::ExcludedUntil(_) => Err(WalletError::Corrupt.into()),
        }
    }

    pub(super) async fn read_limits(
        &self,
        request: Request<pb::GetLimitsRequest>,
    ) -> Result<pb::GetLimitsResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::GetLimitsRequest { player_id } = request.into_inner();
        let player = target_player(&caller, &player_id).map_err(|status| *status)?;
        let seen = self.wallet.player_limits(vec![player]).await?.into_iter().next();
        let Some(PlayerLimits { standing, usage: Some(used), own, operator }) = seen else {
            return Err(super::account_unknown(Account::Player(player)));
        };
        let of = |measure, value: &dyn Fn(&LimitUsage) -> Option<u64>| {
            let windows = |window| {
                let found = used.iter().find(|it| (it.measure, it.window) == (measure, window));
                found.and_then(value)
            };
            Some(pb::Limits {
                day: windows(Window::Day),
                week: windows(Window::Week),
                month: windows(Window::Month),
            })
        };
        let (spent, left) = (|it: &LimitUsage| Some(it.used), LimitUsage::left);
        Ok(pb::GetLimitsResponse {
            own_limits: Some(terms_to_pb(&own)),
            operator_limits: Some(terms_to_pb(&operator)),
            used: of(Measure::BuyIn, &spent),
            lost: of(Measure::Loss, &spent),
            seconds: of(Measure::Time, &spent),
            left: of(Measure::BuyIn, &left),
            left_to_lose: of(Measure::Loss, &left),
            left_seconds: of(Measure::Time, &left),
            standing: Some(play_standing(&standing)),
        })
    }

    pub(super) async fn read_standings(
        &self,
        request: pb::CheckStandingRequest,
    ) -> Result<pb::CheckStandingResponse, Status> {
        let pb::CheckStandingRequest { table_id, player_ids } = request;
        field::table_id(&table_id)?;
        if player_ids.is_empty() || player_ids.len() > MAX_PLAYERS {
            return Err(BadField::new("player_ids", "1 to 64 of them").into());
        }
        let players = player_ids.iter().map(field::player_id);
        let players = players.collect::<Result<Vec<PlayerId>, BadField>>()?;
        let unique: BTreeSet<&PlayerId> = players.iter().collect();
        if unique.len() != players.len() {
            return Err(BadField::new("player_ids", "one is there twice").into());
        }
        let stand = move |view: &QueryContext<'_>| {
            let stand = |player: PlayerId| {
                let account = view.ledger.account(&Account::Player(player));
                let available = account.map(|account| account.available().get());
                let standing = view.ledger.standing(player, view.now);
                pb::PlayerStanding {
                    player_id: player.0.to_vec(),
                    standing: Some(play_standing(&standing)),
                    available: available.map(|credits| u64::try_from(credits).unwrap_or(0)),
                }
            };
            players.into_iter().map(stand).collect()
        };
        Ok(pb::CheckStandingResponse { players: self.wallet.query(stand).await? })
    }

    pub(super) async fn exclude_player(
        &self,
        request: Request<pb::ExcludeRequest>,
    ) -> Result<pb::ExcludeResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ExcludeRequest { request_id, player_id, end_time: until } = request.into_inner();
        let id = field::request_id(&request_id)?;
        let player = target_player(&caller, &player_id).map_err(|status| *status)?;
        let until = until.map(|until| text::parse_time("end_time", until)).transpose()?;
        let done = self.execute(&caller, id, Command::Exclude { player, until }).await?;
        match done.content {
            AnswerContent::ExcludedUntil(until) => {
                Ok(pb::ExcludeResponse { end_time: until.map(text::timestamp) })
            }
            AnswerContent::Empty
            | AnswerContent::Balance(_)
            | AnswerContent::AccountsOpened(_)
            | AnswerContent::LimitTerms(_) => Err(WalletError::Corrupt.into()),
        }
    }
}

/// Requested limits by measure: at least one measure.
fn parse_requested_limits(
    buy_in: Option<pb::Limits>,
    loss: Option<pb::Limits>,
    time: Option<pb::Limits>,
) -> Result<Vec<RequestedLimits>, BadField> {
    let credits = |name: &str, limit| field::credits(name, limit);
    let seconds = |name: &str, limit| {
        let seconds = Seconds(limit);
        let problem = || BadField::new(name, "at most 2,595,600 seconds, 30 days and an hour");
        (seconds <= Seconds::MAX).then_some(seconds).ok_or_else(problem)
    };
    let buy_in =
        buy_in.map(|limits| parse_limits("limits", limits, credits).map(RequestedLimits::BuyIn));
    let loss = loss.map(|limits| parse_limits("loss", limits, credits).map(RequestedLimits::Loss));
    let time = time.map(|limits| parse_limits("time", limits, seconds).map(RequestedLimits::Time));
    let wanted: Vec<RequestedLimits> =
        [buy_in, loss, time].into_iter().flatten().collect::<Result<_, _>>()?;
    if wanted.is_empty() {
        let problem = "missing, and so are loss and time: an empty one says that nothing limits";
        return Err(BadField::new("limits", problem));
    }
    Ok(wanted)
}

fn parse_limits<T>(
    name: &str,
    limits: pb::Limits,
    unit: impl Fn(&str, u64) -> Result<T, BadField>,
) -> Result<Limits<T>, BadField> {
    let pb::Limits { day, week, month } = limits;
    let limit = |window: &str, limit: Option<u64>| -> Result<Option<T>, BadField> {
        limit.map(|limit| unit(&format!("{name}.{window}"), limit)).transpose()
    };
    Ok(Limits {
        day: limit("day", day)?,
        week: limit("week", week)?,
        month: limit("month", month)?,
    })
}

fn terms_to_pb(terms: &AllLimitTerms) -> pb::SetLimitsResponse {
    let AllLimitTerms { buy_in, loss, time } = terms;
    let pb::LimitTerms { now, later, later_time: later_at } =
        measure_terms_to_pb(buy_in, Credits::get);
    let seconds = |Seconds(seconds)| seconds;
    pb::SetLimitsResponse {
        now,
        later,
        later_time: later_at,
        loss: Some(measure_terms_to_pb(loss, Credits::get)),
        time: Some(measure_terms_to_pb(time, seconds)),
    }
}

fn measure_terms_to_pb<T: Copy>(terms: &LimitTerms<T>, unit: impl Fn(T) -> u64) -> pb::LimitTerms {
    let LimitTerms { now, later } = terms;
    let limits = |limits: &Limits<T>| pb::Limits {
        day: limits.day.map(&unit),
        week: limits.week.map(&unit),
        month: limits.month.map(&unit),
    };
    pb::LimitTerms {
        now: Some(limits(now)),
        later: later.as_ref().map(|(_, later)| limits(later)),
        later_time: later.map(|(from, _)| text::timestamp(from)),
    }
}

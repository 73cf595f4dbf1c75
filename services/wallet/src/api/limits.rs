//! Limits and exclusions of players, and whether players may be dealt in.

use std::collections::BTreeSet;

use ledger::{
    Account, AllTerms, Command, Limits, Measure, Seconds, Setter, Terms, Used, Wanted, Window,
};
use primitives::{Credits, PlayerId};
use proto::wallet::v1 as pb;
use tonic::{Request, Status};
use wire::standing::play_standing;
use wire::{BadField, field};

use super::{Api, caller, text, whose};
use crate::answer::Told;
use crate::command::{self, Wish};
use crate::wallet::{Problem, Seen, View};

const MOST_PLAYERS: usize = 64;

impl Api {
    pub(super) async fn limit(
        &self,
        request: Request<pb::SetLimitsRequest>,
    ) -> Result<pb::SetLimitsResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::SetLimitsRequest { request_id, player_id, limits, loss, time } =
            request.into_inner();
        let id = field::request_id(&request_id)?;
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let limits = wanted(limits, loss, time)?;
        let by = if caller.player().is_some() { Setter::Player } else { Setter::Operator };
        let wish = Wish::SetLimits { player, by, limits };
        let request = command::Request { id, wish, linked: false };
        let done = self.ask_for(&caller, request).await?;
        match done.told {
            Told::Terms(terms) => Ok(said(&terms)),
            Told::Nothing | Told::Balance(_) | Told::Opened(_) | Told::Until(_) => {
                Err(Problem::Corrupt.into())
            }
        }
    }

    pub(super) async fn limits(
        &self,
        request: Request<pb::GetLimitsRequest>,
    ) -> Result<pb::GetLimitsResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::GetLimitsRequest { player_id } = request.into_inner();
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let seen = self.wallet.look(vec![player]).await?.into_iter().next();
        let Some(Seen { standing, used: Some(used), own, operator }) = seen else {
            return Err(super::unknown(Account::Player(player)));
        };
        let of = |measure, value: &dyn Fn(&Used) -> Option<u64>| {
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
        let (spent, left) = (|it: &Used| Some(it.used), Used::left);
        Ok(pb::GetLimitsResponse {
            own: Some(said(&own)),
            operator: Some(said(&operator)),
            used: of(Measure::BuyIn, &spent),
            lost: of(Measure::Loss, &spent),
            seconds: of(Measure::Time, &spent),
            left: of(Measure::BuyIn, &left),
            left_to_lose: of(Measure::Loss, &left),
            left_seconds: of(Measure::Time, &left),
            standing: Some(play_standing(&standing)),
        })
    }

    pub(super) async fn check_players(
        &self,
        request: pb::CheckStandingRequest,
    ) -> Result<pb::CheckStandingResponse, Status> {
        let pb::CheckStandingRequest { table_id, player_ids } = request;
        field::table_id(&table_id)?;
        if player_ids.is_empty() || player_ids.len() > MOST_PLAYERS {
            return Err(BadField::new("player_ids", "1 to 64 of them").into());
        }
        let players = player_ids.iter().map(|id| field::player_id(id));
        let players = players.collect::<Result<Vec<PlayerId>, BadField>>()?;
        let unique: BTreeSet<&PlayerId> = players.iter().collect();
        if unique.len() != players.len() {
            return Err(BadField::new("player_ids", "one is there twice").into());
        }
        let stand = move |view: &View<'_>| {
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
        Ok(pb::CheckStandingResponse { players: self.wallet.see(stand).await? })
    }

    pub(super) async fn keep_away(
        &self,
        request: Request<pb::ExcludeRequest>,
    ) -> Result<pb::ExcludeResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::ExcludeRequest { request_id, player_id, until } = request.into_inner();
        let id = field::request_id(&request_id)?;
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let until = until.map(|until| text::time("until", until)).transpose()?;
        let done = self.ask(&caller, id, Command::Exclude { player, until }).await?;
        match done.told {
            Told::Until(until) => Ok(pb::ExcludeResponse { until: until.map(text::timestamp) }),
            Told::Nothing | Told::Balance(_) | Told::Opened(_) | Told::Terms(_) => {
                Err(Problem::Corrupt.into())
            }
        }
    }
}

/// Requested limits by measure: at least one measure.
fn wanted(
    buy_in: Option<pb::Limits>,
    loss: Option<pb::Limits>,
    time: Option<pb::Limits>,
) -> Result<Vec<Wanted>, BadField> {
    let credits = |name: &str, limit| field::credits(name, limit);
    let seconds = |name: &str, limit| {
        let seconds = Seconds(limit);
        let problem = || BadField::new(name, "at most 2,595,600 seconds, 30 days and an hour");
        (seconds <= Seconds::MAX).then_some(seconds).ok_or_else(problem)
    };
    let buy_in = buy_in.map(|limits| parse("limits", limits, credits).map(Wanted::BuyIn));
    let loss = loss.map(|limits| parse("loss", limits, credits).map(Wanted::Loss));
    let time = time.map(|limits| parse("time", limits, seconds).map(Wanted::Time));
    let wanted: Vec<Wanted> =
        [buy_in, loss, time].into_iter().flatten().collect::<Result<_, _>>()?;
    if wanted.is_empty() {
        let problem = "missing, and so are loss and time: an empty one says that nothing limits";
        return Err(BadField::new("limits", problem));
    }
    Ok(wanted)
}

fn parse<T>(
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

fn said(terms: &AllTerms) -> pb::SetLimitsResponse {
    let AllTerms { buy_in, loss, time } = terms;
    let pb::LimitTerms { now, later, later_at } = message(buy_in, Credits::get);
    let seconds = |Seconds(seconds)| seconds;
    pb::SetLimitsResponse {
        now,
        later,
        later_at,
        loss: Some(message(loss, Credits::get)),
        time: Some(message(time, seconds)),
    }
}

fn message<T: Copy>(terms: &Terms<T>, unit: impl Fn(T) -> u64) -> pb::LimitTerms {
    let Terms { now, later } = terms;
    let limits = |limits: &Limits<T>| pb::Limits {
        day: limits.day.map(&unit),
        week: limits.week.map(&unit),
        month: limits.month.map(&unit),
    };
    pb::LimitTerms {
        now: Some(limits(now)),
        later: later.as_ref().map(|(_, later)| limits(later)),
        later_at: later.map(|(from, _)| text::timestamp(from)),
    }
}

//! What players may bring to tables, and players who keep themselves from play.

use ledger::{Account, Command, Limits, Setter, Terms, Window};
use primitives::Credits;
use proto::wallet::v1 as pb;
use tonic::{Request, Status};
use wire::{BadField, field};

use super::{Api, caller, text, whose};
use crate::answer::Told;
use crate::wallet::Problem;

impl Api {
    pub(super) async fn limit(
        &self,
        request: Request<pb::SetLimitsRequest>,
    ) -> Result<pb::SetLimitsResponse, Status> {
        let caller = caller(&request).map_err(|status| *status)?;
        let pb::SetLimitsRequest { request_id, player_id, limits } = request.into_inner();
        let id = field::request_id(&request_id)?;
        let player = whose(&caller, &player_id).map_err(|status| *status)?;
        let missing = || BadField::new("limits", "missing: an empty one says that nothing limits");
        let limits = parse(limits.ok_or_else(missing)?)?;
        let by = if caller.player().is_some() { Setter::Player } else { Setter::Operator };
        let done = self.ask(&caller, id, Command::SetLimits { player, by, limits }).await?;
        match done.told {
            Told::Terms(terms) => Ok(said(terms)),
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
        let state = self.account_of(Account::Player(player)).await?.state;
        let now = self.now();
        let used = |window| Some(state.brought(window, now).get());
        Ok(pb::GetLimitsResponse {
            own: Some(said(state.terms(Setter::Player, now))),
            operator: Some(said(state.terms(Setter::Operator, now))),
            used: Some(pb::Limits {
                day: used(Window::Day),
                week: used(Window::Week),
                month: used(Window::Month),
            }),
        })
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

fn parse(limits: pb::Limits) -> Result<Limits, BadField> {
    let pb::Limits { day, week, month } = limits;
    let limit = |name, limit: Option<u64>| -> Result<Option<Credits>, BadField> {
        limit.map(|limit| field::credits(name, limit)).transpose()
    };
    Ok(Limits {
        day: limit("limits.day", day)?,
        week: limit("limits.week", week)?,
        month: limit("limits.month", month)?,
    })
}

fn said(terms: Terms) -> pb::SetLimitsResponse {
    let Terms { now, later } = terms;
    pb::SetLimitsResponse {
        now: Some(message(now)),
        later: later.map(|(_, limits)| message(limits)),
        later_at: later.map(|(from, _)| text::timestamp(from)),
    }
}

fn message(limits: Limits) -> pb::Limits {
    let Limits { day, week, month } = limits;
    let limit = |limit: Option<Credits>| limit.map(Credits::get);
    pb::Limits { day: limit(day), week: limit(week), month: limit(month) }
}

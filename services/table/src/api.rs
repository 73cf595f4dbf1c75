//! The gRPC face: a request is parsed, sent to its table, and the answer passed back.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chassis::auth::Identity;
use futures_util::{Stream, StreamExt};
use primitives::{PlayerId, TableId};
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::table_service_server::{TableService, TableServiceServer};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};
use wire::{Refused, field, refused, status};

use crate::actor::{Command, Order};
use crate::deeds::Deed;
use crate::house::{House, Opening};
use crate::pay::digest;
use crate::{publish, updates};

/// A sign of life this often on a stream on which nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How long a list waits for one table.
const SUMMARY: Duration = Duration::from_millis(500);
/// Tables in a page unless asked otherwise, and the most.
const PAGE: (usize, usize) = (100, 500);

/// The service over whatever house is ours at the moment.
pub struct Api {
    house: watch::Receiver<Option<Arc<House>>>,
    stopping: CancellationToken,
}

impl Api {
    #[must_use]
    pub fn service(
        house: watch::Receiver<Option<Arc<House>>>,
        stopping: CancellationToken,
    ) -> TableServiceServer<Api> {
        TableServiceServer::new(Api { house, stopping })
    }

    fn house(&self) -> Result<Arc<House>, Refused> {
        let house = self.house.borrow().clone();
        house.ok_or_else(|| status::unavailable("the tables are just being taken up"))
    }

    fn table(&self, table_id: &[u8]) -> Result<mpsc::Sender<Command>, Refused> {
        self.house()?.table(field::table_id(table_id)?)
    }

    /// Has a deed done, and waits until it is.
    async fn order<A: Message + Default>(
        &self,
        (method, request_id, table_id): (&str, &[u8], &[u8]),
        caller: &Caller,
        (content, deed): (&impl Message, Deed),
    ) -> Result<Response<A>, Status> {
        let request = field::request_id(request_id)?;
        let table = self.table(table_id)?;
        let (reply, answer) = oneshot::channel();
        let order = Order {
            deed,
            player: caller.player,
            request,
            digest: digest(method, &caller.actor, content),
            actor: Arc::clone(&caller.actor),
            trace: chassis::telemetry::trace_id(),
            span: tracing::Span::current(),
            reply,
        };
        send(&table, Command::Do(Box::new(order)))?;
        let answer = answer.await.map_err(|_| gone())??;
        let answer = A::decode(answer.as_slice()).map_err(|_| {
            Status::from(refused(ErrorReason::Corrupt, "the stored answer is damaged"))
        })?;
        Ok(Response::new(answer))
    }
}

/// Who calls.
struct Caller {
    player: Option<PlayerId>,
    actor: Arc<str>,
}

impl Caller {
    fn of<T>(request: &Request<T>) -> Result<Caller, Status> {
        let identity = Identity::of(request).ok_or_else(|| {
            Status::from(refused(ErrorReason::TokenMissing, "this call has no verified token"))
        })?;
        Ok(Caller { player: identity.player(), actor: identity.actor().into() })
    }
}

fn gone() -> Status {
    status::unavailable("the table is changing hands").into()
}

/// A table that is far behind refuses at once rather than let a queue grow.
fn send(table: &mpsc::Sender<Command>, command: Command) -> Result<(), Status> {
    match table.try_send(command) {
        Ok(()) => Ok(()),
        Err(mpsc::error::TrySendError::Full(_)) => {
            let message = "this table has too much to do: try again in a moment";
            Err(refused(ErrorReason::Overloaded, message).into())
        }
        Err(mpsc::error::TrySendError::Closed(_)) => Err(gone()),
    }
}

/// A table in a list; nothing where it is closed or does not answer.
async fn summary(table: &mpsc::Sender<Command>) -> Option<pb::TableSummary> {
    let (reply, summary) = oneshot::channel();
    send(table, Command::Summary { reply }).ok()?;
    summary.await.ok().flatten()
}

#[tonic::async_trait]
impl TableService for Api {
    async fn create_table(
        &self,
        request: Request<pb::CreateTableRequest>,
    ) -> Result<Response<pb::CreateTableResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let opening = Opening {
            request: field::request_id(&message.request_id)?,
            digest: digest("CreateTable", &caller.actor, &message),
            actor: caller.actor,
            trace: chassis::telemetry::trace_id(),
        };
        let missing = || wire::BadField::new("config", "missing: what kind of table?");
        let config = message.config.as_ref().ok_or_else(missing)?;
        Ok(Response::new(self.house()?.create(config, opening).await?))
    }

    async fn list_tables(
        &self,
        request: Request<pb::ListTablesRequest>,
    ) -> Result<Response<pb::ListTablesResponse>, Status> {
        let pb::ListTablesRequest { page_size, page_token } = request.into_inner();
        let (default, most) = PAGE;
        let size = usize::try_from(page_size).unwrap_or(most);
        if size > most {
            return Err(wire::BadField::new("page_size", format!("at most {most}")).into());
        }
        let size = if size == 0 { default } else { size };
        let skip = if page_token.is_empty() { Ok(0) } else { page_token.parse::<usize>() };
        let skip = skip.map_err(|_| {
            wire::BadField::new("page_token", "not one of ours: send what the page before gave")
        })?;
        let found = self.house()?.list(skip, size);
        let full = found.len() == size;
        let mut tables = Vec::with_capacity(found.len());
        for (_, table) in found {
            // A table that does not answer must not hide the others.
            tables.extend(tokio::time::timeout(SUMMARY, summary(&table)).await.ok().flatten());
        }
        let next_page_token = if full { (skip + size).to_string() } else { String::new() };
        Ok(Response::new(pb::ListTablesResponse { tables, next_page_token }))
    }

    async fn get_table(
        &self,
        request: Request<pb::GetTableRequest>,
    ) -> Result<Response<pb::GetTableResponse>, Status> {
        let caller = Caller::of(&request)?;
        let table = self.table(&request.into_inner().table_id)?;
        let (reply, view) = oneshot::channel();
        send(&table, Command::View { viewer: caller.player, reply })?;
        let table = Some(view.await.map_err(|_| gone())?);
        Ok(Response::new(pb::GetTableResponse { table }))
    }

    async fn sit_down(
        &self,
        request: Request<pb::SitDownRequest>,
    ) -> Result<Response<pb::SitDownResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::SitDownRequest { request_id, table_id, seat, buy_in } = &message;
        let seat = if *seat == 0 { None } else { Some(field::seat("seat", *seat)?) };
        let deed = Deed::SitDown { seat, buy_in: field::positive("buy_in", *buy_in)? };
        self.order(("SitDown", request_id, table_id), &caller, (&message, deed)).await
    }

    async fn stand_up(
        &self,
        request: Request<pb::StandUpRequest>,
    ) -> Result<Response<pb::StandUpResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::StandUpRequest { request_id, table_id } = &message;
        let what = ("StandUp", request_id.as_slice(), table_id.as_slice());
        self.order(what, &caller, (&message, Deed::StandUp)).await
    }

    async fn sit_out(
        &self,
        request: Request<pb::SitOutRequest>,
    ) -> Result<Response<pb::SitOutResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::SitOutRequest { request_id, table_id, sit_out } = &message;
        let what = ("SitOut", request_id.as_slice(), table_id.as_slice());
        self.order(what, &caller, (&message, Deed::SitOut(*sit_out))).await
    }

    async fn act(
        &self,
        request: Request<pb::ActRequest>,
    ) -> Result<Response<pb::ActResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::ActRequest { request_id, table_id, hand_no, turn, r#move } = &message;
        let missing = || wire::BadField::new("move", "missing: what do you decide?");
        let mv = r#move.clone().ok_or_else(missing)?;
        let deed = Deed::Act { hand_no: *hand_no, turn: *turn, mv };
        self.order(("Act", request_id, table_id), &caller, (&message, deed)).await
    }

    async fn close_table(
        &self,
        request: Request<pb::CloseTableRequest>,
    ) -> Result<Response<pb::CloseTableResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::CloseTableRequest { request_id, table_id } = &message;
        let what = ("CloseTable", request_id.as_slice(), table_id.as_slice());
        self.order(what, &caller, (&message, Deed::Close)).await
    }

    type WatchTableStream =
        Pin<Box<dyn Stream<Item = Result<pb::WatchTableResponse, Status>> + Send>>;

    async fn watch_table(
        &self,
        request: Request<pb::WatchTableRequest>,
    ) -> Result<Response<Self::WatchTableStream>, Status> {
        let caller = Caller::of(&request)?;
        let pb::WatchTableRequest { table_id, resume_token } = request.into_inner();
        let id = field::table_id(&table_id)?;
        let resume = if resume_token.is_empty() {
            None
        } else {
            let problem = "not one of this table's: send what the last message gave, or nothing";
            let read = publish::read_token(id, &resume_token);
            Some(read.ok_or_else(|| wire::BadField::new("resume_token", problem))?)
        };
        let table = self.table(&table_id)?;
        let (reply, watched) = oneshot::channel();
        send(&table, Command::Watch { viewer: caller.player, resume, reply })?;
        let (first, live) = watched.await.map_err(|_| gone())??;
        let stream = follow(id, first, live, self.stopping.clone());
        Ok(Response::new(Box::pin(stream)))
    }
}

/// Where a followed table's stream is.
struct Following {
    table: TableId,
    first: std::vec::IntoIter<pb::WatchTableResponse>,
    live: mpsc::Receiver<pb::WatchTableResponse>,
    stopping: CancellationToken,
    token: Vec<u8>,
    over: bool,
}

/// What was missed, then what happens, with a heartbeat between, and a typed end.
fn follow(
    table: TableId,
    first: Vec<pb::WatchTableResponse>,
    live: mpsc::Receiver<pb::WatchTableResponse>,
    stopping: CancellationToken,
) -> impl Stream<Item = Result<pb::WatchTableResponse, Status>> + Send {
    let token = publish::token(table, 0);
    let first = first.into_iter();
    let following = Following { table, first, live, stopping, token, over: false };
    futures_util::stream::unfold(following, |mut following| async move {
        let message = following.next().await?;
        Some((Ok(message), following))
    })
    .fuse()
}

impl Following {
    async fn next(&mut self) -> Option<pb::WatchTableResponse> {
        if self.over {
            return None;
        }
        let message = match self.first.next() {
            Some(message) => message,
            None => tokio::select! {
                biased;
                () = self.stopping.cancelled() => self.ended(pb::EndReason::ServerStopping),
                message = self.live.recv() => match message {
                    Some(message) => message,
                    None => self.ended(pb::EndReason::TooSlow),
                },
                () = tokio::time::sleep(HEARTBEAT) => self.heartbeat(),
            },
        };
        self.token.clone_from(&message.resume_token);
        let ended = matches!(message.message, Some(pb::watch_table_response::Message::Ended(_)));
        self.over = ended;
        Some(message)
    }

    fn ended(&self, reason: pb::EndReason) -> pb::WatchTableResponse {
        tracing::debug!(table = %self.table, ?reason, "a stream ends");
        let ended = pb::StreamEnded { reason: reason.into() };
        self.say(pb::watch_table_response::Message::Ended(ended))
    }

    fn heartbeat(&self) -> pb::WatchTableResponse {
        let at = Some(updates::timestamp(chassis::clock::Clock::now(&CLOCK)));
        self.say(pb::watch_table_response::Message::Heartbeat(pb::Heartbeat { at }))
    }

    fn say(&self, message: pb::watch_table_response::Message) -> pb::WatchTableResponse {
        pb::WatchTableResponse { message: Some(message), resume_token: self.token.clone() }
    }
}

static CLOCK: chassis::clock::SystemClock = chassis::clock::SystemClock::new();

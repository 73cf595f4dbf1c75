//! The gRPC face: a request is parsed, sent to its table, and the answer passed back.

mod follow;
mod people;
mod play;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chassis::auth::{Identity, Pace};
use fairness::{ClientCommitment, Entropy};
use futures_util::{Stream, StreamExt};
use primitives::{PlayerId, RequestId};
use prost::Message;
use proto::common::v1::ErrorReason;
use proto::table::v1 as pb;
use proto::table::v1::table_service_server::{TableService, TableServiceServer};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, Streaming};
use wire::{Refused, field, refused, status};

use crate::actor::{Command, Look, Order};
use crate::deeds::Deed;
use crate::house::{House, Opening};
use crate::pay::digest;
use crate::publish;

use follow::Following;

pub use people::PeopleApi;

/// How long a list waits for one table.
const SUMMARY: Duration = Duration::from_millis(500);
/// Tables in a page unless asked otherwise, and the most.
const PAGE: (usize, usize) = (100, 500);

/// The service over whatever house is ours at the moment.
pub struct Api {
    house: watch::Receiver<Option<Arc<House>>>,
    stopping: CancellationToken,
    /// Of all players who decide over streams: calls of their own are paced at the edge.
    pace: Arc<Pace>,
}

impl Api {
    #[must_use]
    pub fn service(
        house: watch::Receiver<Option<Arc<House>>>,
        stopping: CancellationToken,
    ) -> TableServiceServer<Api> {
        TableServiceServer::new(Api { house, stopping, pace: Arc::new(Pace::new(play::DECISIONS)) })
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
        let digest = digest(method, &caller.actor, content);
        let trace = chassis::telemetry::trace_id();
        let answer = order(&table, caller, (request, digest, deed), trace)?;
        Ok(Response::new(read(&answer.await.map_err(|_| gone())??)?))
    }

    /// What somebody who follows a table is told first, and the rest as it comes.
    async fn following(
        &self,
        caller: &Caller,
        request: pb::WatchTableRequest,
    ) -> Result<Following, Refused> {
        let pb::WatchTableRequest { table_id, resume_token } = request;
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
        send(&table, Command::Look(Look::Watch { viewer: caller.player, resume, reply }))?;
        let (first, live) = watched.await.map_err(|_| gone())??;
        Ok(Following::new(id, first, live, self.stopping.clone()))
    }
}

/// Hands a deed to its table. The encoded answer comes when it is done.
fn order(
    table: &mpsc::Sender<Command>,
    caller: &Caller,
    (request, digest, deed): (RequestId, [u8; 32], Deed),
    trace: [u8; 16],
) -> Result<oneshot::Receiver<Result<Vec<u8>, Refused>>, Refused> {
    let (reply, answer) = oneshot::channel();
    let order = Order {
        deed,
        player: caller.player,
        request,
        digest,
        actor: Arc::clone(&caller.actor),
        trace,
        span: tracing::Span::current(),
        reply,
    };
    send(table, Command::Do(Box::new(order)))?;
    Ok(answer)
}

fn read<A: Message + Default>(answer: &[u8]) -> Result<A, Refused> {
    A::decode(answer).map_err(|_| refused(ErrorReason::Corrupt, "the stored answer is damaged"))
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

fn gone() -> Refused {
    status::unavailable("the table is changing hands")
}

/// A table that is far behind refuses at once rather than let a queue grow.
fn send(table: &mpsc::Sender<Command>, command: Command) -> Result<(), Refused> {
    match table.try_send(command) {
        Ok(()) => Ok(()),
        Err(mpsc::error::TrySendError::Full(_)) => {
            let message = "this table has too much to do: try again in a moment";
            Err(refused(ErrorReason::Overloaded, message))
        }
        Err(mpsc::error::TrySendError::Closed(_)) => Err(gone()),
    }
}

/// A table in a list; nothing where it is closed or does not answer.
async fn summary(table: &mpsc::Sender<Command>) -> Option<pb::TableSummary> {
    let (reply, summary) = oneshot::channel();
    send(table, Command::Look(Look::Summary { reply })).ok()?;
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
        let (skip, size) = people::page(page_size, &page_token)?;
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
        send(&table, Command::Look(Look::View { viewer: caller.player, reply }))?;
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
        if let Some(player) = caller.player {
            self.house()?.people().admit(player).await?;
        }
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
        let deed = decision(&message)?;
        let pb::ActRequest { request_id, table_id, .. } = &message;
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

    async fn commit_entropy(
        &self,
        request: Request<pb::CommitEntropyRequest>,
    ) -> Result<Response<pb::CommitEntropyResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let deed = commitment(&message)?;
        let pb::CommitEntropyRequest { request_id, table_id, .. } = &message;
        self.order(("CommitEntropy", request_id, table_id), &caller, (&message, deed)).await
    }

    async fn reveal_entropy(
        &self,
        request: Request<pb::RevealEntropyRequest>,
    ) -> Result<Response<pb::RevealEntropyResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let deed = entropy(&message)?;
        let pb::RevealEntropyRequest { request_id, table_id, .. } = &message;
        self.order(("RevealEntropy", request_id, table_id), &caller, (&message, deed)).await
    }

    async fn void_hand(
        &self,
        request: Request<pb::VoidHandRequest>,
    ) -> Result<Response<pb::VoidHandResponse>, Status> {
        let caller = Caller::of(&request)?;
        let message = request.into_inner();
        let pb::VoidHandRequest { request_id, table_id, hand_no, reason } = &message;
        let reason = field::text("reason", reason, 1, 500)?;
        let deed = Deed::Void { hand_no: *hand_no, reason };
        self.order(("VoidHand", request_id, table_id), &caller, (&message, deed)).await
    }

    type WatchTableStream =
        Pin<Box<dyn Stream<Item = Result<pb::WatchTableResponse, Status>> + Send>>;

    async fn watch_table(
        &self,
        request: Request<pb::WatchTableRequest>,
    ) -> Result<Response<Self::WatchTableStream>, Status> {
        let caller = Caller::of(&request)?;
        // Boxed, as is the other: it is moved for every message.
        let following = Box::new(self.following(&caller, request.into_inner()).await?);
        let stream = futures_util::stream::unfold(following, |mut following| async move {
            let message = following.next().await?;
            Some((Ok(message), following))
        });
        Ok(Response::new(Box::pin(stream.fuse())))
    }

    type PlayStream = Pin<Box<dyn Stream<Item = Result<pb::PlayResponse, Status>> + Send>>;

    async fn play(
        &self,
        request: Request<Streaming<pb::PlayRequest>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        let caller = Caller::of(&request)?;
        let mut asked = request.into_inner();
        let (table_id, following) = {
            let watch = play::opening(&mut asked).await?;
            (watch.table_id.clone(), self.following(&caller, watch).await?)
        };
        let seat = play::Seat { caller, table: self.table(&table_id)?, table_id };
        let pace = Arc::clone(&self.pace);
        let playing = Box::new(play::Playing::new(seat, pace, following, asked));
        let stream = futures_util::stream::unfold(playing, |mut playing| async move {
            let message = playing.next().await?;
            Some((message, playing))
        });
        Ok(Response::new(Box::pin(stream.fuse())))
    }
}

/// The deed of a decision.
fn decision(message: &pb::ActRequest) -> Result<Deed, wire::BadField> {
    let pb::ActRequest { request_id: _, table_id: _, hand_no, turn, r#move } = message;
    let missing = || wire::BadField::new("move", "missing: what do you decide?");
    let mv = r#move.clone().ok_or_else(missing)?;
    Ok(Deed::Act { hand_no: *hand_no, turn: *turn, mv })
}

/// The deed of a commitment to entropy.
fn commitment(message: &pb::CommitEntropyRequest) -> Result<Deed, wire::BadField> {
    let pb::CommitEntropyRequest { request_id: _, table_id: _, hand_no, commitment } = message;
    let commitment = ClientCommitment(field::exactly("commitment", commitment)?);
    Ok(Deed::CommitEntropy { hand_no: *hand_no, commitment })
}

/// The deed of what was committed to.
fn entropy(message: &pb::RevealEntropyRequest) -> Result<Deed, wire::BadField> {
    let pb::RevealEntropyRequest { request_id: _, table_id: _, hand_no, entropy } = message;
    let entropy = Entropy(field::exactly("entropy", entropy)?);
    Ok(Deed::RevealEntropy { hand_no: *hand_no, entropy })
}

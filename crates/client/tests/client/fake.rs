//! Fake server of one table, scripted by a test.

mod fake_wallet;

use primitives::PlayerId;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use client::{Client, RetryPolicy};
use proto::common::v1::{ErrorReason, Move};
use proto::table::v1 as pb;
use proto::table::v1::play_request::Message as PlayMessage;
use proto::table::v1::play_response::Message as PlayAnswer;
use proto::table::v1::table_service_server::{TableService, TableServiceServer};
use proto::table::v1::table_update::What;
use proto::table::v1::watch_table_response::Message;
use proto::wallet::v1 as wallet;
use proto::wallet::v1::wallet_service_server::{WalletService, WalletServiceServer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_stream::Stream;
use tokio_stream::wrappers::{TcpListenerStream, UnboundedReceiverStream};
use tonic::{Request, Response, Status};
use wire::api_refusal;

pub(crate) const ME: [u8; 16] = [7; 16];

pub(crate) type WatchResult = Result<pb::WatchTableResponse, Status>;
type Answer<T> = Result<Response<T>, Status>;
/// Reaction of the table to a decision.
type OnDecision =
    Box<dyn FnMut(&mut Table, &pb::ActRequest) -> Result<DecisionAnswer, Status> + Send>;
type DecisionAnswer = Option<pb::DecisionReceipt>;
/// Reaction of the table to an entropy message.
pub(crate) type OnEntropy =
    Box<dyn FnMut(&mut Table, &EntropyRequest) -> Result<EntropyAnswer, Status> + Send>;

/// Answer to an entropy message.
pub(crate) enum EntropyAnswer {
    Committed(pb::EntropyReceipt),
    Revealed(Option<pb::RevealReceipt>),
    /// An answer on a played stream that says nothing.
    Empty,
}

/// Entropy message, as it was sent.
pub(crate) enum EntropyRequest {
    Commit(pb::CommitEntropyRequest),
    Reveal(pb::RevealEntropyRequest),
}

/// State of the server, and the calls it has received.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) view: pb::TableView,
    pub(crate) log: Vec<pb::TableUpdate>,
    pub(crate) watchers: Vec<mpsc::UnboundedSender<WatchResult>>,
    /// Resume tokens of the calls, one for each.
    pub(crate) tokens: Vec<Vec<u8>>,
    /// Refusals of the next calls, except watching.
    pub(crate) refusals: VecDeque<Status>,
    /// Method and request id of each command, refused ones too.
    pub(crate) requests: Vec<(&'static str, String)>,
    pub(crate) bearers: Vec<String>,
    pub(crate) balance: u64,
    pub(crate) decisions: Vec<Move>,
    /// Signatures of the decisions.
    pub(crate) signatures: Vec<Vec<u8>>,
    /// Updates after a player sits down.
    pub(crate) on_seat: Vec<What>,
}

impl Table {
    /// Appends an update and sends it to every watcher.
    pub(crate) fn push(&mut self, what: What) {
        self.push_at(None, what);
    }

    /// Appends an update of this time.
    pub(crate) fn push_at(&mut self, at: Option<prost_types::Timestamp>, what: What) {
        let sequence = self.view.sequence + u64::try_from(self.log.len()).unwrap() + 1;
        let update = pb::TableUpdate { sequence, record_time: at, what: Some(what) };
        self.log.push(update.clone());
        self.send(&message(Message::Update(Box::new(update)), sequence));
    }

    pub(crate) fn send(&mut self, response: &pb::WatchTableResponse) {
        self.watchers.retain(|watcher| watcher.send(Ok(response.clone())).is_ok());
    }

    /// Ends every stream with this status.
    pub(crate) fn cut(&mut self, last: Option<&Status>) {
        for watcher in self.watchers.drain(..) {
            if let Some(status) = last {
                drop(watcher.send(Err(status.clone())));
            }
        }
    }

    pub(crate) fn end(&mut self, reason: pb::EndReason) {
        let ended = Message::Ended(pb::StreamEnded { reason: reason.into(), ..Default::default() });
        self.send(&pb::WatchTableResponse { message: Some(ended), resume_token: Vec::new() });
        self.cut(None);
    }

    fn call<T>(
        &mut self,
        method: &'static str,
        id: &str,
        request: &Request<T>,
    ) -> Result<(), Status> {
        self.requests.push((method, id.to_owned()));
        let bearer = request.metadata().get("authorization");
        self.bearers.push(bearer.map_or("", |bearer| bearer.to_str().unwrap()).to_owned());
        self.refusals.pop_front().map_or(Ok(()), Err)
    }

    fn seat(&mut self, stack: u64, vacated: bool) {
        let seat = pb::SeatView {
            seat: 2,
            player_id: PlayerId(ME).to_string(),
            stack_credits: stack,
            state: pb::SeatState::Playing.into(),
            ..pb::SeatView::default()
        };
        self.push(What::Seat(pb::SeatChanged { seat: Some(seat), vacated, your_standing: None }));
    }

    fn watch(&mut self, token: &[u8]) -> mpsc::UnboundedReceiver<WatchResult> {
        let (sender, receiver) = mpsc::unbounded_channel();
        let start = self.view.sequence;
        let last = start + u64::try_from(self.log.len()).unwrap();
        let seen = match <[u8; 8]>::try_from(token) {
            Ok(seen) => u64::from_be_bytes(seen),
            Err(_) => {
                let snapshot = Message::Snapshot(Box::new(self.view.clone()));
                sender.send(Ok(message(snapshot, start))).unwrap();
                start
            }
        };
        for update in self.log.iter().filter(|update| update.sequence > seen) {
            let response = message(Message::Update(Box::new(update.clone())), update.sequence);
            sender.send(Ok(response)).unwrap();
        }
        sender.send(Ok(message(Message::CaughtUp(pb::CaughtUp {}), last))).unwrap();
        self.tokens.push(token.to_vec());
        self.watchers.push(sender);
        receiver
    }
}

pub(crate) fn message(message: Message, sequence: u64) -> pb::WatchTableResponse {
    pb::WatchTableResponse { message: Some(message), resume_token: sequence.to_be_bytes().to_vec() }
}

/// The server. Stops when the last clone is dropped and the test ends.
#[derive(Clone)]
pub(crate) struct FakeServer {
    table: Arc<Mutex<Table>>,
    on_decision: Arc<Mutex<OnDecision>>,
    on_entropy: Arc<Mutex<OnEntropy>>,
}

impl FakeServer {
    pub(crate) fn new(table: Table) -> FakeServer {
        let nothing: OnDecision = Box::new(|_, _| Ok(None));
        let none: OnEntropy = Box::new(|_, _| Err(unimplemented()));
        FakeServer {
            table: Arc::new(Mutex::new(table)),
            on_decision: Arc::new(Mutex::new(nothing)),
            on_entropy: Arc::new(Mutex::new(none)),
        }
    }

    pub(crate) fn on_entropy(self, chance: OnEntropy) -> FakeServer {
        *self.on_entropy.lock().unwrap() = chance;
        self
    }

    fn answer_entropy(&self, part: &EntropyRequest) -> Result<EntropyAnswer, Status> {
        let mut table = self.table();
        let (method, id) = match part {
            EntropyRequest::Commit(commit) => ("commit_entropy", &commit.request_id),
            EntropyRequest::Reveal(reveal) => ("reveal_entropy", &reveal.request_id),
        };
        table.requests.push((method, id.clone()));
        table.refusals.pop_front().map_or(Ok(()), Err)?;
        (self.on_entropy.lock().unwrap())(&mut table, part)
    }

    /// Answers a message of a played stream.
    async fn answer_message(
        &self,
        message: Option<PlayMessage>,
    ) -> Option<Result<PlayAnswer, Status>> {
        let (request_id, part) = match message? {
            PlayMessage::Watch(_) | PlayMessage::AccessToken(_) => return None,
            PlayMessage::Act(act) => {
                let request_id = act.request_id.clone();
                let answer = self.act(Request::new(act)).await;
                return Some(answer.map(|answer| {
                    let outcome = Some(pb::acted::Outcome::Done(answer.into_inner()));
                    PlayAnswer::Acted(pb::Acted { request_id, outcome })
                }));
            }
            PlayMessage::CommitEntropy(commit) => {
                (commit.request_id.clone(), EntropyRequest::Commit(commit))
            }
            PlayMessage::RevealEntropy(reveal) => {
                (reveal.request_id.clone(), EntropyRequest::Reveal(reveal))
            }
        };
        Some(self.answer_entropy(&part).map(|answer| {
            use pb::entropy_taken::Outcome;
            let outcome = match answer {
                EntropyAnswer::Committed(receipt) => Some(Outcome::Receipt(receipt)),
                EntropyAnswer::Revealed(receipt) => {
                    Some(Outcome::Revealed(pb::RevealEntropyResponse { receipt }))
                }
                EntropyAnswer::Empty => None,
            };
            PlayAnswer::Entropy(pb::EntropyTaken { request_id, outcome })
        }))
    }

    pub(crate) fn on_decision(
        self,
        react: impl FnMut(&mut Table, &pb::ActRequest) -> Result<DecisionAnswer, Status>
        + Send
        + 'static,
    ) -> FakeServer {
        *self.on_decision.lock().unwrap() = Box::new(react);
        self
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap()
    }

    /// Returns a client of this server, behind `broken` connections that end at once.
    pub(crate) async fn client(&self, broken: usize) -> Client {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let fake = self.clone();
        tokio::spawn(async move {
            for _ in 0..broken {
                drop(listener.accept().await.unwrap());
            }
            tonic::transport::Server::builder()
                .add_service(TableServiceServer::new(fake.clone()))
                .add_service(WalletServiceServer::new(fake))
                .serve_with_incoming(TcpListenerStream::new(listener))
                .await
        });
        let client = Client::connect(&format!("http://{address}"), || "a token".to_owned());
        let first = std::time::Duration::from_millis(5);
        client
            .unwrap()
            .with_retry_policy(RetryPolicy { first_wait: first, ..RetryPolicy::default() })
    }
}

#[tonic::async_trait]
impl TableService for FakeServer {
    async fn create_table(
        &self,
        _: Request<pb::CreateTableRequest>,
    ) -> Answer<pb::CreateTableResponse> {
        Err(Status::unimplemented("not of this table"))
    }

    async fn list_tables(
        &self,
        request: Request<pb::ListTablesRequest>,
    ) -> Answer<pb::ListTablesResponse> {
        let (name, next) = match &*request.get_ref().page_token {
            "" => ("first", "more"),
            _ => ("second", ""),
        };
        let tables = vec![pb::TableSummary { name: name.to_owned(), ..Default::default() }];
        Ok(Response::new(pb::ListTablesResponse { tables, next_page_token: next.to_owned() }))
    }

    async fn list_seats(&self, _: Request<pb::ListSeatsRequest>) -> Answer<pb::ListSeatsResponse> {
        Err(Status::unimplemented("not of this table"))
    }

    type WatchLobbyStream = tonic::codegen::BoxStream<pb::WatchLobbyResponse>;

    async fn watch_lobby(
        &self,
        _: Request<pb::WatchLobbyRequest>,
    ) -> Answer<Self::WatchLobbyStream> {
        Err(Status::unimplemented("not of this table"))
    }

    async fn get_table(&self, _: Request<pb::GetTableRequest>) -> Answer<pb::GetTableResponse> {
        Ok(Response::new(pb::GetTableResponse { table: Some(self.table().view.clone()) }))
    }

    async fn sit_down(&self, request: Request<pb::SitDownRequest>) -> Answer<pb::SitDownResponse> {
        let mut table = self.table();
        table.call("sit_down", &request.get_ref().request_id, &request)?;
        let buy_in = request.get_ref().buy_in_credits;
        table.balance -= buy_in;
        table.seat(buy_in, false);
        for what in std::mem::take(&mut table.on_seat) {
            table.push(what);
        }
        Ok(Response::new(pb::SitDownResponse { seat: 2 }))
    }

    async fn stand_up(&self, request: Request<pb::StandUpRequest>) -> Answer<pb::StandUpResponse> {
        let mut table = self.table();
        table.call("stand_up", &request.get_ref().request_id, &request)?;
        table.seat(0, true);
        Ok(Response::new(pb::StandUpResponse { after_hand: false, receipt: None }))
    }

    async fn sit_out(&self, request: Request<pb::SitOutRequest>) -> Answer<pb::SitOutResponse> {
        let mut table = self.table();
        table.call("sit_out", &request.get_ref().request_id, &request)?;
        Ok(Response::new(pb::SitOutResponse {}))
    }

    async fn act(&self, request: Request<pb::ActRequest>) -> Answer<pb::ActResponse> {
        let mut table = self.table();
        table.call("act", &request.get_ref().request_id, &request)?;
        let request = request.into_inner();
        let receipt = (self.on_decision.lock().unwrap())(&mut table, &request)?;
        table.signatures.push(request.signature);
        table.decisions.extend(request.decision);
        Ok(Response::new(pb::ActResponse { sequence: 0, receipt }))
    }

    async fn commit_entropy(
        &self,
        request: Request<pb::CommitEntropyRequest>,
    ) -> Answer<pb::CommitEntropyResponse> {
        match self.answer_entropy(&EntropyRequest::Commit(request.into_inner()))? {
            EntropyAnswer::Committed(receipt) => {
                Ok(Response::new(pb::CommitEntropyResponse { receipt: Some(receipt) }))
            }
            EntropyAnswer::Revealed(_) | EntropyAnswer::Empty => Err(unimplemented()),
        }
    }

    async fn reveal_entropy(
        &self,
        request: Request<pb::RevealEntropyRequest>,
    ) -> Answer<pb::RevealEntropyResponse> {
        match self.answer_entropy(&EntropyRequest::Reveal(request.into_inner()))? {
            EntropyAnswer::Revealed(receipt) => {
                Ok(Response::new(pb::RevealEntropyResponse { receipt }))
            }
            EntropyAnswer::Committed(_) | EntropyAnswer::Empty => Err(unimplemented()),
        }
    }

    async fn close_table(
        &self,
        _: Request<pb::CloseTableRequest>,
    ) -> Answer<pb::CloseTableResponse> {
        Err(Status::unimplemented("not of this table"))
    }

    async fn resume_table(
        &self,
        _: Request<pb::ResumeTableRequest>,
    ) -> Answer<pb::ResumeTableResponse> {
        Err(Status::unimplemented("not of this table"))
    }

    type WatchTableStream = Pin<Box<dyn Stream<Item = WatchResult> + Send>>;

    async fn watch_table(
        &self,
        request: Request<pb::WatchTableRequest>,
    ) -> Answer<Self::WatchTableStream> {
        let receiver = self.table().watch(&request.get_ref().resume_token);
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(receiver))))
    }

    type PlayStream = Pin<Box<dyn Stream<Item = Result<pb::PlayResponse, Status>> + Send>>;

    /// Answers decisions; a queued refusal breaks the stream instead.
    async fn play(
        &self,
        request: Request<tonic::Streaming<pb::PlayRequest>>,
    ) -> Answer<Self::PlayStream> {
        let mut asked = request.into_inner();
        let Some(PlayMessage::Watch(watch)) = asked.message().await?.unwrap().message else {
            return Err(Status::invalid_argument("watch first"));
        };
        let mut seen = self.table().watch(&watch.resume_token);
        let (sender, receiver) = mpsc::unbounded_channel();
        let fake = self.clone();
        tokio::spawn(async move {
            loop {
                let next = tokio::select! {
                    seen = seen.recv() => match seen {
                        Some(seen) => seen.map(PlayAnswer::Seen),
                        None => return,
                    },
                    asked = asked.message() => {
                        let Ok(Some(asked)) = asked else { return };
                        let Some(answer) = fake.answer_message(asked.message).await else { return };
                        answer
                    }
                };
                let broken = next.is_err();
                let response = next.map(|answer| pb::PlayResponse { message: Some(answer) });
                if sender.send(response).is_err() || broken {
                    return;
                }
            }
        });
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(receiver))))
    }
}

/// Status of calls that the client under test does not make.
fn unimplemented() -> Status {
    Status::unimplemented("nobody asks for this here")
}

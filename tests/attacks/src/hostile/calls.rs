//! Every lawful call of a player, one after the other, as often as allowed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use primitives::TableId;
use proto::audit::v1::dispute_service_client::DisputeServiceClient;
use proto::audit::v1::{
    AuditHandRequest, GetHandBundleRequest, ListDisputesRequest, OpenDisputeRequest,
};
use proto::common::v1::{Move, MoveKind};
use proto::table::v1 as pb;
use proto::table::v1::people_service_client::PeopleServiceClient;
use proto::wallet::v1 as wallet;
use system::ids::IdMaker;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status};

use crate::caller::{CallCounts, Caller, answered};
use crate::crew::Crew;
use crate::room::Room;

/// Pause between two calls: twenty a second, the limit of a player.
const PAUSE: Duration = Duration::from_millis(50);
/// Pause between two calls beside which the player also plays and commits: half of the limit.
const PAUSE_BESIDE_PLAY: Duration = Duration::from_millis(100);
/// Calls in flight.
const MAX_IN_FLIGHT: usize = 16;

/// Kind of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Table,
    Act(Act),
    Seat(Seat),
    Entropy(Entropy),
    Follow(Follow),
    Wallet(Wallet),
    Audit(Audit),
    People(People),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Act {
    Illegal,
    Late,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seat {
    SitDown,
    SitIn,
    SitOut,
    StandUp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entropy {
    CommitTooEarly,
    RevealOther,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follow {
    Play,
    Watch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wallet {
    Account,
    Entries,
    Limits,
    SetLimits,
    Statement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Audit {
    Bundle,
    Dispute,
    Disputes,
    Hand,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum People {
    Name,
    Player,
    Tables,
}

/// Calls in the order in which they are repeated. Calls that change a seat alternate with others,
/// so that each call meets a hand at every moment of it.
const CALL_ORDER: &[Call] = &[
    Call::Table,
    Call::Act(Act::Late),
    Call::Seat(Seat::SitOut),
    Call::Follow(Follow::Watch),
    Call::Act(Act::Illegal),
    Call::Seat(Seat::SitIn),
    Call::Entropy(Entropy::CommitTooEarly),
    Call::Audit(Audit::Hand),
    Call::Entropy(Entropy::RevealOther),
    Call::Seat(Seat::SitOut),
    Call::Seat(Seat::SitIn),
    Call::Follow(Follow::Play),
    Call::Wallet(Wallet::Statement),
    Call::Wallet(Wallet::SetLimits),
    Call::Seat(Seat::StandUp),
    Call::People(People::Tables),
    Call::Seat(Seat::SitDown),
    Call::Audit(Audit::Bundle),
    Call::Wallet(Wallet::Entries),
    Call::Act(Act::Illegal),
    Call::People(People::Name),
    Call::Follow(Follow::Watch),
    Call::Seat(Seat::StandUp),
    Call::Seat(Seat::SitDown),
    Call::Audit(Audit::Dispute),
    Call::Wallet(Wallet::Account),
    Call::Wallet(Wallet::Limits),
    Call::Follow(Follow::Play),
    Call::People(People::Player),
    Call::Audit(Audit::Disputes),
];

/// Player of the crew who also makes calls.
#[derive(Clone)]
pub struct Hostility {
    caller: Caller,
    ids: IdMaker,
    table: TableId,
    pause: Duration,
    last: Arc<Mutex<TableFacts>>,
}

/// Facts of the table from the last look at it.
#[derive(Clone, Copy, Default)]
struct TableFacts {
    buy_in: u64,
    hand_no: u64,
    turn: u32,
}

impl Hostility {
    /// Creates the hostility of the crew's last player, who counts nothing, from another address.
    ///
    /// # Errors
    /// The room's address is malformed.
    pub fn of(room: &Room, crew: &Crew) -> anyhow::Result<Hostility> {
        let guest = crew.guests.last().cloned();
        let guest = guest.ok_or_else(|| anyhow::anyhow!("a crew has players"))?;
        Ok(Hostility::for_caller(Caller::of(room, guest, 2)?, crew.table))
    }

    /// Creates the hostility of a caller who sits at the table.
    #[must_use]
    pub fn for_caller(caller: Caller, table: TableId) -> Hostility {
        Hostility { caller, ids: IdMaker::system(), table, pause: PAUSE, last: Arc::default() }
    }

    /// Leaves half of the player's calls to another program of theirs.
    #[must_use]
    pub fn at_half_rate(self) -> Hostility {
        Hostility { pause: PAUSE_BESIDE_PLAY, ..self }
    }

    /// Makes `calls` calls, or until `stop` is cancelled, without waiting for answers.
    pub async fn make_calls(self, calls: u64, stop: CancellationToken) -> CallCounts {
        let mut sent = CallCounts::default();
        let mut ticks = tokio::time::interval(self.pause);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut under_way = JoinSet::new();
        for (_, call) in (0..calls).zip(CALL_ORDER.iter().copied().cycle()) {
            tokio::select! {
                () = stop.cancelled() => break,
                _ = ticks.tick() => {}
            }
            let caller = self.clone();
            under_way.spawn(async move { caller.call(call).await });
            while under_way.len() >= MAX_IN_FLIGHT {
                count(&mut sent, under_way.join_next().await);
            }
            while let Some(done) = under_way.try_join_next() {
                count(&mut sent, Some(done));
            }
        }
        while let Some(done) = under_way.join_next().await {
            count(&mut sent, Some(done));
        }
        sent
    }

    /// Makes as many calls that do nothing at the same rate: the baseline where calls are counted
    /// instead of seconds.
    pub async fn make_harmless_calls(self, calls: u64) -> CallCounts {
        let mut sent = CallCounts::default();
        let mut ticks = tokio::time::interval(self.pause);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for _ in 0..calls {
            ticks.tick().await;
            let request = self.request(pb::GetTableRequest { table_id: self.table_id() });
            sent.count(answered(self.caller.table().get_table(request)).await);
        }
        sent
    }

    async fn call(&self, call: Call) -> Result<Response<()>, Status> {
        match call {
            Call::Table => self.refresh_facts().await,
            Call::Act(act) => self.act(act).await,
            Call::Seat(seat) => self.seat(seat).await,
            Call::Entropy(entropy) => self.entropy(entropy).await,
            Call::Follow(follow) => self.follow(follow).await,
            Call::Wallet(wallet) => self.wallet(wallet).await,
            Call::Audit(audit) => self.audit(audit).await,
            Call::People(people) => self.people(people).await,
        }
    }

    fn last(&self) -> TableFacts {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn refresh_facts(&self) -> Result<Response<()>, Status> {
        let request = self.request(pb::GetTableRequest { table_id: self.table_id() });
        let answer = answered(self.caller.table().get_table(request)).await?.into_inner();
        if let Some(view) = answer.table {
            let turn = view.hand.and_then(|hand| hand.turn).map_or(0, |turn| turn.turn);
            let last = TableFacts { buy_in: view.max_buy_in_credits, hand_no: view.hand_no, turn };
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = last;
        }
        Ok(Response::new(()))
    }

    async fn act(&self, call: Act) -> Result<Response<()>, Status> {
        let (late, last) = (call == Act::Late, self.last());
        let kind = if late { MoveKind::Check } else { MoveKind::Junk };
        let request = pb::ActRequest {
            request_id: self.request_id(),
            table_id: self.table_id(),
            hand_no: last.hand_no,
            turn: if late { last.turn.saturating_sub(1) } else { last.turn },
            decision: Some(Move { kind: kind.into(), ..Move::default() }),
            signature: Vec::new(),
        };
        done(answered(self.caller.table().act(self.request(request))).await)
    }

    async fn seat(&self, call: Seat) -> Result<Response<()>, Status> {
        let (request_id, table_id) = (self.request_id(), self.table_id());
        let mut client = self.caller.table();
        match call {
            Seat::SitDown => {
                let sit = pb::SitDownRequest {
                    request_id,
                    table_id,
                    seat: 0,
                    buy_in_credits: self.last().buy_in,
                };
                done(answered(client.sit_down(self.request(sit))).await)
            }
            Seat::StandUp => {
                let stand = pb::StandUpRequest { request_id, table_id, signature: Vec::new() };
                done(answered(client.stand_up(self.request(stand))).await)
            }
            Seat::SitIn | Seat::SitOut => {
                let sit_out = call == Seat::SitOut;
                let change = pb::SitOutRequest { request_id, table_id, sit_out };
                done(answered(client.sit_out(self.request(change))).await)
            }
        }
    }

    /// Neither breaks a commitment nor withholds entropy.
    async fn entropy(&self, call: Entropy) -> Result<Response<()>, Status> {
        let (request_id, table_id) = (self.request_id(), self.table_id());
        let mut client = self.caller.table();
        if call == Entropy::CommitTooEarly {
            let hand_no = self.last().hand_no + 20;
            let commitment = vec![7; 32];
            let commit = pb::CommitEntropyRequest {
                request_id,
                table_id,
                hand_no,
                commitment,
                key: Vec::new(),
            };
            return done(answered(client.commit_entropy(self.request(commit))).await);
        }
        let (hand_no, entropy) = (self.last().hand_no, vec![7; 32]);
        let reveal = pb::RevealEntropyRequest { request_id, table_id, hand_no, entropy };
        done(answered(client.reveal_entropy(self.request(reveal))).await)
    }

    /// Opens a stream, reads one message, and leaves it.
    async fn follow(&self, call: Follow) -> Result<Response<()>, Status> {
        let watch = pb::WatchTableRequest { table_id: self.table_id(), resume_token: Vec::new() };
        let mut client = self.caller.table();
        if call == Follow::Watch {
            let mut stream = answered(client.watch_table(self.request(watch))).await?;
            return done(answered(first(stream.get_mut())).await);
        }
        let message = pb::play_request::Message::Watch(watch);
        let (say, said) = tokio::sync::mpsc::channel(1);
        let _ = say.send(pb::PlayRequest { message: Some(message) }).await;
        let said = tokio_stream::wrappers::ReceiverStream::new(said);
        let mut stream = answered(client.play(self.request(said))).await?;
        done(answered(first(stream.get_mut())).await)
    }

    async fn wallet(&self, call: Wallet) -> Result<Response<()>, Status> {
        let mut client = self.caller.wallet();
        match call {
            Wallet::Entries => {
                let list = wallet::ListEntriesRequest { page_size: 100, ..Default::default() };
                done(answered(client.list_entries(self.request(list))).await)
            }
            Wallet::Limits => {
                let get = wallet::GetLimitsRequest::default();
                done(answered(client.get_limits(self.request(get))).await)
            }
            Wallet::SetLimits => {
                let day = Some(9_000_000_000_000 - self.last().hand_no);
                let limits = Some(wallet::Limits { day, ..Default::default() });
                let request_id = self.request_id();
                let set = wallet::SetLimitsRequest { request_id, limits, ..Default::default() };
                done(answered(client.set_limits(self.request(set))).await)
            }
            Wallet::Statement => {
                let format = wallet::StatementFormat::Csv.into();
                let export = wallet::ExportStatementRequest { format, ..Default::default() };
                let mut stream = answered(client.export_statement(self.request(export))).await?;
                done(answered(first(stream.get_mut())).await)
            }
            Wallet::Account => {
                let get = wallet::GetAccountRequest::default();
                done(answered(client.get_account(self.request(get))).await)
            }
        }
    }

    async fn audit(&self, call: Audit) -> Result<Response<()>, Status> {
        let (table_id, hand_no) = (self.table_id(), self.last().hand_no.saturating_sub(1).max(1));
        let mut disputes = DisputeServiceClient::new(self.caller.channel());
        match call {
            Audit::Hand => {
                let audit = AuditHandRequest { table_id, hand_no };
                done(answered(self.caller.audit().audit_hand(self.request(audit))).await)
            }
            Audit::Bundle => {
                let bundle = GetHandBundleRequest { table_id, hand_no };
                done(answered(self.caller.audit().get_hand_bundle(self.request(bundle))).await)
            }
            Audit::Dispute => {
                let (request_id, text) = (self.request_id(), "I do not believe it.".to_owned());
                let evidence = Vec::new();
                let open = OpenDisputeRequest { request_id, table_id, hand_no, text, evidence };
                done(answered(disputes.open_dispute(self.request(open))).await)
            }
            Audit::Disputes => {
                let list = ListDisputesRequest { page_size: 100, ..Default::default() };
                done(answered(disputes.list_disputes(self.request(list))).await)
            }
        }
    }

    async fn people(&self, call: People) -> Result<Response<()>, Status> {
        let mut people = PeopleServiceClient::new(self.caller.channel());
        match call {
            People::Name => {
                let (request_id, name) =
                    (self.request_id(), format!("Number {}", self.last().hand_no));
                let set = pb::SetNameRequest { request_id, name };
                done(answered(people.set_name(self.request(set))).await)
            }
            People::Player => {
                let get = pb::GetPlayerRequest { player_id: self.caller.id.to_string() };
                done(answered(people.get_player(self.request(get))).await)
            }
            People::Tables => {
                let list = pb::ListTablesRequest { page_size: 100, ..Default::default() };
                done(answered(self.caller.table().list_tables(self.request(list))).await)
            }
        }
    }

    fn request<T>(&self, message: T) -> Request<T> {
        self.caller.request(message)
    }

    fn table_id(&self) -> String {
        self.table.to_string()
    }

    fn request_id(&self) -> String {
        self.ids.request_id().to_string()
    }
}

fn count(sent: &mut CallCounts, done: Option<Result<Result<Response<()>, Status>, JoinError>>) {
    if let Some(Ok(answer)) = done {
        sent.count(answer);
    }
}

fn done<A>(answer: Result<Response<A>, Status>) -> Result<Response<()>, Status> {
    answer.map(|_| Response::new(()))
}

/// Waits for the first message of a stream, and drops the stream.
async fn first<T>(stream: &mut tonic::Streaming<T>) -> Result<Response<()>, Status> {
    stream.message().await.map(|_| Response::new(()))
}

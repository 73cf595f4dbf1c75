use std::path::Path;

use proto::table::v1::people_service_server::{PeopleService, PeopleServiceServer};
use system::clock::{Clock as _, ManualClock};
use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::{Request, Response, Status};
use wire::{api_refusal, time::timestamp};

use super::*;
use crate::retry::RetryPolicy;

const BEGIN: UnixMicros = UnixMicros(1_800_000_000_000_000);
const LIFE: Duration = Duration::from_mins(15);
const PLAYER: PlayerId = PlayerId([7; 16]);

type Answer<T> = Result<Response<T>, Status>;

/// A room's way with sign-ins and refresh tokens: token `r1` is given for `r0`, and so on.
struct Room {
    clock: Arc<ManualClock>,
    file: PathBuf,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sign_ins: Vec<pb::SignInAsGuestRequest>,
    /// Request of each refresh token that was used.
    used: Vec<String>,
    /// Answers that are lost, of the calls to come.
    lost: u32,
    revoked: bool,
    /// Access tokens that came with calls.
    bearers: Vec<String>,
}

impl Room {
    fn tokens(&self, number: usize) -> pb::Tokens {
        pb::Tokens {
            access_token: format!("a{number}"),
            access_expire_time: Some(timestamp(self.clock.now().plus(LIFE))),
            refresh_token: format!("r{number}"),
            refresh_expire_time: None,
        }
    }

    /// Answer that may be lost on its way.
    fn answer<T>(&self, answer: T) -> Answer<T> {
        let mut state = self.state.lock().unwrap();
        if state.lost > 0 {
            state.lost -= 1;
            return Err(Status::unavailable("the connection broke"));
        }
        Ok(Response::new(answer))
    }

    fn saved(&self) -> GuestLogin {
        GuestLogin::parse(&std::fs::read_to_string(&self.file).unwrap()).unwrap()
    }
}

/// Service of a [`Room`].
struct Served(Arc<Room>);

#[tonic::async_trait]
impl PeopleService for Served {
    async fn sign_in_as_guest(
        &self,
        request: Request<pb::SignInAsGuestRequest>,
    ) -> Answer<pb::SignInAsGuestResponse> {
        assert!(request.metadata().get("authorization").is_none());
        let request = request.into_inner();
        let name = request.name.clone();
        self.0.state.lock().unwrap().sign_ins.push(request);
        let (player_id, tokens) = (PLAYER.to_string(), Some(self.0.tokens(0)));
        self.0.answer(pb::SignInAsGuestResponse { player_id, name, tokens, starting_credits: 9 })
    }

    async fn refresh(&self, request: Request<pb::RefreshRequest>) -> Answer<pb::RefreshResponse> {
        assert!(request.metadata().get("authorization").is_none());
        let pb::RefreshRequest { request_id, refresh_token } = request.into_inner();
        let saved = self.0.saved();
        assert_eq!(
            saved.refresh_request.unwrap().to_string(),
            request_id,
            "kept before it is sent"
        );
        let number = {
            let mut state = self.0.state.lock().unwrap();
            let number: usize = refresh_token.strip_prefix('r').unwrap().parse().unwrap();
            if state.used.len() == number {
                state.used.push(request_id.clone());
            }
            state.revoked |= state.used[number] != request_id;
            if state.revoked {
                return Err(api_refusal(ErrorReason::TokenRevoked, "signed out").into());
            }
            number + 1
        };
        self.0.answer(pb::RefreshResponse { tokens: Some(self.0.tokens(number)) })
    }

    async fn set_name(&self, request: Request<pb::SetNameRequest>) -> Answer<pb::SetNameResponse> {
        let bearer = request.metadata().get("authorization").unwrap().to_str().unwrap();
        let access = bearer.strip_prefix("Bearer a").unwrap();
        assert_eq!(self.0.saved().refresh_token.expose(), format!("r{access}"), "kept first");
        self.0.state.lock().unwrap().bearers.push(access.to_owned());
        Ok(Response::new(pb::SetNameResponse { name: request.into_inner().name }))
    }

    async fn get_player(&self, _: Request<pb::GetPlayerRequest>) -> Answer<pb::GetPlayerResponse> {
        Err(Status::unimplemented("not asked"))
    }

    async fn mark_player(
        &self,
        _: Request<pb::MarkPlayerRequest>,
    ) -> Answer<pb::MarkPlayerResponse> {
        Err(Status::unimplemented("not asked"))
    }

    async fn sign_out(&self, _: Request<pb::SignOutRequest>) -> Answer<pb::SignOutResponse> {
        Err(Status::unimplemented("not asked"))
    }

    async fn revoke_tokens(
        &self,
        _: Request<pb::RevokeTokensRequest>,
    ) -> Answer<pb::RevokeTokensResponse> {
        Err(Status::unimplemented("not asked"))
    }

    async fn erase_player(
        &self,
        _: Request<pb::ErasePlayerRequest>,
    ) -> Answer<pb::ErasePlayerResponse> {
        Err(Status::unimplemented("not asked"))
    }
}

/// A room, and a client of it by the room's clock.
async fn room(place: &Path) -> (Arc<Room>, Client) {
    let clock = Arc::new(ManualClock::new(BEGIN));
    let file = place.join("guest.json");
    let room = Room { clock: Arc::clone(&clock), file, state: Mutex::default() };
    let room = Arc::new(room);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let server = tonic::transport::Server::builder()
        .add_service(PeopleServiceServer::new(Served(Arc::clone(&room))))
        .serve_with_incoming(TcpListenerStream::new(listener));
    tokio::spawn(server);
    let once = RetryPolicy::with_total_time(Duration::ZERO);
    let client = Client::connect(&address, "another's").unwrap().with_retry_policy(once);
    (room, client.with_clock(clock))
}

/// Waits, without a clock, until the room has given this many refresh tokens.
async fn until_refreshed(room: &Room, number: usize) {
    while room.saved().refresh_token.expose() != format!("r{number}") {
        tokio::task::yield_now().await;
    }
}

/// Opens the login as soon as the guest before, whose task ends by itself, has let go of it.
async fn reopen(client: &Client, room: &Room) -> Result<Guest, Error> {
    loop {
        match Guest::open(client, &room.file, "Han").await {
            Err(Error::Login(LoginError::InUse(_))) => tokio::task::yield_now().await,
            opened => return opened,
        }
    }
}

#[tokio::test]
async fn a_guest_comes_back_by_the_file_and_has_a_fresh_token_all_the_time() {
    let place = tempfile::tempdir().unwrap();
    let (room, client) = room(place.path()).await;
    let guest = Guest::open(&client, &room.file, "Lando").await.unwrap();
    assert_eq!((guest.player().await, guest.login().await), (PLAYER, room.saved()));
    assert_eq!(room.saved().name, "Lando");
    let own = guest.client();
    own.set_name("one").await.unwrap();
    let twice = Guest::open(&client, &room.file, "").await.err().unwrap();
    assert!(matches!(twice, Error::Login(LoginError::InUse(_))), "{twice}");
    for number in 1..=3 {
        // Two thirds of a token's life; the loop looks at the clock each half minute.
        for _ in 0..22 {
            tokio::task::yield_now().await;
            room.clock.advance(LOOK);
        }
        until_refreshed(&room, number).await;
        own.set_name("one").await.unwrap();
    }
    guest.refresh().await.unwrap();
    own.set_name("one").await.unwrap();
    drop(guest);
    drop(own);
    let again = reopen(&client, &room).await.unwrap();
    again.client().set_name("two").await.unwrap();
    let state = room.state.lock().unwrap();
    assert_eq!(state.bearers, ["0", "1", "2", "3", "4", "5"]);
    assert_eq!((state.sign_ins.len(), state.used.len()), (1, 5), "one guest, one line of tokens");
    let [signed_in] = &state.sign_ins[..] else { unreachable!() };
    assert_eq!(signed_in.sign_in_secret.len(), 32);
}

#[tokio::test]
async fn what_was_not_answered_is_asked_again_with_the_same_words() {
    let place = tempfile::tempdir().unwrap();
    let (room, client) = room(place.path()).await;
    let patient = client.with_retry_policy(RetryPolicy {
        first_wait: Duration::ZERO,
        max_wait: Duration::ZERO,
        ..RetryPolicy::default()
    });
    room.state.lock().unwrap().lost = 2;
    drop(Guest::open(&patient, &room.file, "").await.unwrap());
    let asked = room.state.lock().unwrap().sign_ins.clone();
    assert_eq!(asked, [&asked[0], &asked[0], &asked[0]].map(Clone::clone));

    // The answer to a refresh is lost, and with it the process.
    room.state.lock().unwrap().lost = 1;
    let lost = reopen(&client, &room).await.err().unwrap();
    assert!(matches!(lost, Error::Unanswered(_)), "{lost}");
    assert_eq!(room.state.lock().unwrap().used.len(), 1);
    assert!(room.saved().refresh_request.is_some());
    let guest = reopen(&client, &room).await.unwrap();
    assert_eq!(room.state.lock().unwrap().used.len(), 1, "no other request used it");
    assert_eq!(room.saved().refresh_token.expose(), "r1");

    // Another program has the same login, and used it: both are out, and this one knows.
    room.state.lock().unwrap().used.push("another's".to_owned());
    let over = guest.refresh().await.unwrap_err();
    assert_eq!(over.reason(), Some(ErrorReason::TokenRevoked));
    assert_eq!(guest.ended().unwrap().reason, Some(ErrorReason::TokenRevoked));
}

#[tokio::test]
async fn a_login_is_shown_to_its_own_room_alone() {
    let place = tempfile::tempdir().unwrap();
    let (room, client) = room(place.path()).await;
    drop(Guest::open(&client, &room.file, "").await.unwrap());
    let login = GuestLogin { server: "https://room.example".to_owned(), ..room.saved() };
    std::fs::write(&room.file, login.to_json().as_bytes()).unwrap();
    let refused = reopen(&client, &room).await.err().unwrap();
    assert!(matches!(refused, Error::Login(LoginError::OtherServer(_))), "{refused}");
    assert_eq!(room.state.lock().unwrap().used.len(), 0);
    assert!(is_same_server("https://Room.example/", "https://room.example"));
    assert!(!is_same_server("http://room.example", "https://room.example"));
    assert!(!is_same_server("", ""));
}

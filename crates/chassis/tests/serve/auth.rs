//! Access matrix: every method with every role, and every kind of invalid token.

use std::time::Duration;

use chassis::auth::{Access, Claims, Identity, Role};
use chassis::channel::{add_token, forward_token};
use system::clock::SystemClock;
use system::entropy::SystemEntropy;
use tonic::{Code, Request, Status};
use tonic_types::StatusExt;

use crate::echo::{self, Room, Setting, call, text};

const METHODS: [(&str, &[Role]); 11] = [
    ("Audit", &[Role::Auditor]),
    ("Closed", &[]),
    ("Dear", &[Role::Player]),
    ("Forgotten", &[]),
    ("Look", &[Role::Player]),
    ("Operate", &[Role::Operator, Role::Service]),
    ("Play", &[Role::Player]),
    ("Talk", &[Role::Player]),
    ("Tell", &[Role::Player]),
    ("Ticks", &Role::ALL),
    ("Watch", &[Role::Player]),
];

/// Methods that may be called without a token.
const FOR_ANYBODY: [&str; 2] = ["Look", "Watch"];

const STREAMS: [&str; 4] = ["Talk", "Tell", "Ticks", "Watch"];

/// Token of a caller with this role, from the room's issuer.
pub(crate) fn token(room: &Room, role: Role) -> String {
    token_of(
        room,
        role,
        match role {
            Role::Player => "0190c2f0-7d3a-4b6e-8a52-6d1f2e3c4b5a",
            Role::Operator | Role::Auditor | Role::Service => "somebody",
        },
    )
}

pub(crate) fn token_of(room: &Room, role: Role, subject: &str) -> String {
    let identity = Identity::new(role, subject);
    let (clock, entropy) = (SystemClock::new(), SystemEntropy);
    let claims = Claims::new("test", &identity, Duration::from_secs(60), &clock, &entropy);
    room.issuer.issue(&claims)
}

fn reason(status: &Status) -> (Code, String) {
    let details = status.get_error_details();
    let info = details.error_info().expect("every refusal has its reason");
    assert_eq!(info.domain, "sabacc");
    (status.code(), info.reason.clone())
}

#[test]
fn the_matrix_is_read_from_the_descriptors() {
    let access = Access::from_descriptors(&echo::descriptors()).unwrap();
    let read: Vec<(String, Vec<Role>)> = access
        .methods()
        .map(|(path, roles)| (path.into(), roles.iter().copied().collect()))
        .collect();
    let written: Vec<(String, Vec<Role>)> = METHODS
        .map(|(method, roles)| (format!("/chassis.test.v1.EchoService/{method}"), roles.to_vec()))
        .to_vec();
    assert_eq!(read, written);
    for (method, _) in METHODS {
        let path = format!("/chassis.test.v1.EchoService/{method}");
        assert_eq!(access.is_for_anybody(&path), FOR_ANYBODY.contains(&method), "{method}");
    }
    assert!(Access::from_descriptors(b"\xff\xff").is_err());
}

#[tokio::test]
async fn every_method_with_every_role() {
    let room = Room::open(Setting::default()).await;
    let channel = room.plain();
    for (method, roles) in METHODS.into_iter().filter(|(method, _)| !STREAMS.contains(method)) {
        for role in Role::ALL {
            let mut request = text("hello");
            add_token(&mut request, &token(&room, role));
            match call(&channel, method, request).await {
                Ok(answer) => {
                    assert!(roles.contains(&role), "{method} let {role:?} in");
                    let actor = answer.into_inner().text;
                    assert!(actor.starts_with(role.name()), "{actor}");
                }
                Err(status) => {
                    assert!(!roles.contains(&role), "{method} refused {role:?}: {status}");
                    let expected = (Code::PermissionDenied, "ROLE_NOT_ALLOWED".to_owned());
                    assert_eq!(reason(&status), expected);
                }
            }
        }
        if FOR_ANYBODY.contains(&method) {
            continue;
        }
        let status = call(&channel, method, text("hello")).await.unwrap_err();
        assert_eq!(reason(&status), (Code::Unauthenticated, "TOKEN_MISSING".to_owned()));
    }
    let mut request = text("hello");
    add_token(&mut request, &token(&room, Role::Operator));
    let status = call(&channel, "Nothing", request).await.unwrap_err();
    assert_eq!(reason(&status), (Code::Unimplemented, "NO_SUCH_METHOD".to_owned()));
}

#[tokio::test]
async fn a_service_may_call_what_names_it_and_nothing_else() {
    let room = Room::open(Setting::default()).await;
    let channel = room.plain();
    for (subject, allowed) in [("test", true), ("table", false), ("Test", false), ("test ", false)]
    {
        let mut request = text("hello");
        add_token(&mut request, &token_of(&room, Role::Service, subject));
        let answer = call(&channel, "Operate", request).await;
        assert_eq!(answer.is_ok(), allowed, "{subject}: {answer:?}");
    }
    // The names of services do not restrict other roles.
    let mut request = text("hello");
    add_token(&mut request, &token_of(&room, Role::Operator, "anybody"));
    call(&channel, "Operate", request).await.unwrap();
}

#[test]
fn a_method_for_services_that_names_none_is_refused_at_start() {
    let echo = echo::descriptors();
    let named = b"\x12\x08somebody\x12\x04test";
    let at = echo.windows(named.len()).position(|bytes| bytes == named).unwrap();
    // The option's bytes under an unknown field number.
    let mut forgotten = echo.clone();
    forgotten[at] = 0x7a;
    forgotten[at + 10] = 0x7a;
    let error = Access::from_descriptors(&forgotten).unwrap_err();
    assert!(error.to_string().contains("EchoService/Operate"), "{error}");
}

#[tokio::test]
async fn tokens_that_are_none_are_distinguished() {
    let room = Room::open(Setting::default()).await;
    let stranger = Room::open(Setting::default()).await;
    let good = token(&room, Role::Player);
    let parts: Vec<&str> = good.split('.').collect();
    // `{"alg":"none"}` and `{"alg":"HS256"}`.
    let none = format!("eyJhbGciOiJub25lIn0.{}.", parts[1]);
    let hs256 = format!("eyJhbGciOiJIUzI1NiJ9.{}.{}", parts[1], parts[2]);
    let claims = Claims {
        iss: "test".into(),
        aud: vec!["sabacc".into()],
        sub: "somebody".into(),
        role: Role::Operator,
        exp: 1_600_000_060,
        iat: 1_600_000_000,
        nbf: None,
        jti: "1".into(),
        house: false,
    };
    let old = room.issuer.issue(&claims);
    for (shown, expected) in [
        (none, "TOKEN_MALFORMED"),
        (hs256, "TOKEN_MALFORMED"),
        ("nonsense".to_owned(), "TOKEN_MALFORMED"),
        (old, "TOKEN_EXPIRED"),
        (token(&stranger, Role::Player), "TOKEN_FORGED"),
    ] {
        let mut request = text("hello");
        add_token(&mut request, &shown);
        let status = call(&room.plain(), "Play", request).await.unwrap_err();
        assert_eq!(reason(&status), (Code::Unauthenticated, expected.to_owned()));
        assert!(!status.to_string().contains(parts[1]), "no token in an error");
    }
}

#[tokio::test]
async fn a_channel_shows_its_own_token_or_the_one_it_is_given() {
    let room = Room::open(Setting::default()).await;
    let channel = room.channel();
    let own = call(&channel, "Operate", text("hello")).await.unwrap().into_inner();
    assert!(own.text.starts_with("service:test "), "{own:?}");
    let mut players = text("hello");
    add_token(&mut players, &token(&room, Role::Player));
    let mut passed: Request<_> = text("hello");
    forward_token(&players, &mut passed);
    let given = call(&channel, "Play", passed).await.unwrap().into_inner();
    assert!(given.text.starts_with("player:0190c2f0"), "{given:?}");
}

#[tokio::test]
async fn health_and_reflection_are_open() {
    use tonic_health::pb::health_client::HealthClient;
    use tonic_reflection::pb::v1 as reflection;

    let room = Room::open(Setting::default()).await;
    let mut health = HealthClient::new(room.plain());
    for service in ["", "chassis.test.v1.EchoService"] {
        let request = tonic_health::pb::HealthCheckRequest { service: service.into() };
        assert_eq!(health.check(request).await.unwrap().into_inner().status, 1, "{service:?}");
    }
    let mut reflection =
        reflection::server_reflection_client::ServerReflectionClient::new(room.plain());
    let question = reflection::ServerReflectionRequest {
        host: String::new(),
        message_request: Some(reflection::server_reflection_request::MessageRequest::ListServices(
            String::new(),
        )),
    };
    let questions = tokio_stream::iter([question]);
    let answers = reflection.server_reflection_info(questions).await.unwrap();
    let answer = answers.into_inner().message().await.unwrap().unwrap();
    let listed = format!("{answer:?}");
    assert!(listed.contains("chassis.test.v1.EchoService"), "{listed}");
}

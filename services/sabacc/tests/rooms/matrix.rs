//! Every method at the gateway, for every role: access is as the .proto files say.

use chassis::auth::Role;
use prost_reflect::{DescriptorPool, MethodDescriptor};
use proto::common::v1::ErrorReason;
use rustix::process::Signal;
use system::ids::IdMaker;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use crate::harness::RoomHarness;
use crate::people::{channel, with_token};

/// Services of the public port; the others are not reachable there.
pub(crate) const PUBLIC: [&str; 9] = [
    "sabacc.audit.v1.AuditService",
    "sabacc.audit.v1.DisputeService",
    "sabacc.audit.v1.HandService",
    "sabacc.audit.v1.LogService",
    "sabacc.table.v1.PeopleService",
    "sabacc.table.v1.RoomService",
    "sabacc.table.v1.RulesService",
    "sabacc.table.v1.TableService",
    "sabacc.wallet.v1.WalletService",
];

/// Names of services that exist, that could exist, and that resemble one.
const SERVICES: [&str; 8] =
    ["table", "dealer", "wallet", "gateway", "bench", "Table", "table2", "service:table"];

/// Callers that the descriptors allow a method to.
pub(crate) struct Allowed {
    pub(crate) roles: Vec<Role>,
    pub(crate) services: Vec<String>,
    /// Whether no token is needed.
    pub(crate) anybody: bool,
}

/// Number of the role of callers without a token.
const ANYBODY: i32 = 5;

/// Returns the callers that the descriptors allow a method to.
pub(crate) fn allowed(pool: &DescriptorPool, method: &MethodDescriptor) -> Allowed {
    let access = pool.get_extension_by_name("sabacc.common.v1.access").unwrap();
    let options = method.options();
    let access = options.get_extension(&access);
    let field = |name| access.as_message().unwrap().get_field_by_name(name).unwrap();
    let number = |role: &prost_reflect::Value| role.as_enum_number().unwrap();
    let role = |number: i32| Role::ALL[usize::try_from(number - 1).unwrap()];
    let roles = field("roles");
    let numbers: Vec<i32> = roles.as_list().unwrap().iter().map(number).collect();
    let services = field("services");
    let services = services.as_list().unwrap().iter();
    Allowed {
        roles: numbers.iter().filter(|it| **it != ANYBODY).map(|it| role(*it)).collect(),
        services: services.map(|name| name.as_str().unwrap().to_owned()).collect(),
        anybody: numbers.contains(&ANYBODY),
    }
}

/// Returns every kind of caller, and whether a method is open to them.
fn callers(roles: &[Role], services: &[String], player: &str) -> Vec<(Role, String, bool)> {
    let mut callers = Vec::new();
    for role in Role::ALL {
        let open = roles.contains(&role);
        match role {
            Role::Player => callers.push((role, player.to_owned(), open)),
            Role::Operator | Role::Auditor => callers.push((role, "test".to_owned(), open)),
            Role::Service => callers.extend(SERVICES.map(|name| {
                (role, name.to_owned(), open && services.iter().any(|named| named == name))
            })),
        }
    }
    callers
}

/// Calls every method of a service at an address, as every kind of caller.
pub(crate) async fn walk(service: &str, url: &str, token: impl Fn(Role, &str) -> String) -> usize {
    let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
    let player = IdMaker::system().player_id().to_string();
    let mut walked = 0;
    for method in pool.get_service_by_name(service).unwrap().methods() {
        // Dropped streams count against their connection.
        let channel = channel(url);
        let Allowed { roles, services, anybody: _ } = allowed(&pool, &method);
        for (role, subject, open) in callers(&roles, &services, &player) {
            let reason = call(&channel, &method, Some(&token(role, &subject))).await;
            let refused = reason == Some(ErrorReason::RoleNotAllowed);
            let name = method.full_name();
            assert_eq!(!refused, open, "{name} as {role:?} {subject}: {reason:?}");
            walked += 1;
        }
    }
    walked
}

/// Calls a method with an empty message; returns the refusal, if there was one.
async fn call(
    channel: &Channel,
    method: &MethodDescriptor,
    token: Option<&str>,
) -> Option<ErrorReason> {
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let path: PathAndQuery = path.parse().unwrap();
    let request = token.map_or_else(|| Request::new(()), |token| with_token(token, ()));
    let mut grpc = Grpc::new(channel.clone());
    grpc.ready().await.unwrap();
    let codec = ProstCodec::<(), ()>::default();
    let answer: Result<(), Status> = if method.is_server_streaming() {
        grpc.server_streaming(request, path, codec).await.map(drop)
    } else {
        grpc.unary(request, path, codec).await.map(drop)
    };
    let status = answer.err()?;
    let reason = wire::status::reason_of(&status);
    assert!(reason.is_some(), "{status:?} gives no reason");
    reason
}

/// Whether an answer to an empty message says that the caller may call: an admitted call may still
/// be refused for its message.
const fn is_admitted(reason: Option<ErrorReason>) -> bool {
    matches!(
        reason,
        None | Some(ErrorReason::BadField | ErrorReason::AccountUnknown | ErrorReason::NotInLog)
    )
}

/// ARCHITECTURE.md §6.3.
#[tokio::test(flavor = "multi_thread")]
async fn every_method_is_for_whom_the_descriptors_say() {
    let harness = RoomHarness::new();
    let mut room = harness.up(&["--no-bots"]).await;
    let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
    let player = IdMaker::system().player_id().to_string();
    let mut walked = 0;
    for service in pool.services() {
        let public = PUBLIC.contains(&service.full_name());
        for method in service.methods() {
            // Dropped streams count against their connection.
            let channel = channel(&room.url);
            let name = method.full_name().to_owned();
            let Allowed { roles, services, anybody } = allowed(&pool, &method);
            assert!(anybody || !roles.is_empty(), "{name} is for nobody");
            assert_eq!(roles.contains(&Role::Service), !services.is_empty(), "{name}");
            for (role, subject, open) in callers(&roles, &services, &player) {
                let token = harness.token(role, &subject);
                let reason = call(&channel, &method, Some(&token)).await;
                let fine = match (open, public) {
                    (true, true) => is_admitted(reason),
                    (true, false) => reason == Some(ErrorReason::NoSuchMethod),
                    (false, _) => reason == Some(ErrorReason::RoleNotAllowed),
                };
                assert!(fine, "{name} as {role:?} {subject}: {reason:?}");
                walked += 1;
            }
            let nobody = call(&channel, &method, None).await;
            let missing = nobody == Some(ErrorReason::TokenMissing);
            assert!(if anybody { is_admitted(nobody) } else { missing }, "{name}: {nobody:?}");
        }
    }
    assert!(walked >= 4 * 20, "{walked} calls");
    room.running.stop(Signal::INT).await;
}

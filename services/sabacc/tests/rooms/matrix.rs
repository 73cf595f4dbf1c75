//! Every method at the edge, as everybody: what the .proto files say about roles is what happens.

use chassis::auth::Role;
use chassis::ids::IdMaker;
use prost_reflect::{DescriptorPool, MethodDescriptor};
use proto::common::v1::ErrorReason;
use rustix::process::Signal;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use crate::people::{bearing, channel};
use crate::place::Place;

/// Services of the public edge; of the others there is nothing here, whoever asks.
const PUBLIC: [&str; 6] = [
    "sabacc.audit.v1.AuditService",
    "sabacc.audit.v1.DisputeService",
    "sabacc.audit.v1.LogService",
    "sabacc.table.v1.PeopleService",
    "sabacc.table.v1.TableService",
    "sabacc.wallet.v1.WalletService",
];

/// The roles that the descriptors allow a method to.
fn allowed(pool: &DescriptorPool, method: &MethodDescriptor) -> Vec<Role> {
    let access = pool.get_extension_by_name("sabacc.common.v1.access").unwrap();
    let options = method.options();
    let access = options.get_extension(&access);
    let roles = access.as_message().unwrap().get_field_by_name("roles").unwrap();
    let number = |role: &prost_reflect::Value| role.as_enum_number().unwrap();
    let role = |number: i32| Role::ALL[usize::try_from(number - 1).unwrap()];
    roles.as_list().unwrap().iter().map(|it| role(number(it))).collect()
}

/// Calls a method with an empty message; how it was refused, if it was.
async fn call(
    channel: &Channel,
    method: &MethodDescriptor,
    token: Option<&str>,
) -> Option<ErrorReason> {
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let path: PathAndQuery = path.parse().unwrap();
    let request = token.map_or_else(|| Request::new(()), |token| bearing(token, ()));
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

#[tokio::test(flavor = "multi_thread")]
async fn every_method_is_for_whom_the_descriptors_say() {
    let place = Place::new();
    let mut room = place.up(&["--no-bots"]).await;
    let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
    let channel = channel(&room.url);
    let player = IdMaker::system().player_id().to_string();
    let mut walked = 0;
    for service in pool.services() {
        let public = PUBLIC.contains(&service.full_name());
        for method in service.methods() {
            let name = method.full_name().to_owned();
            let roles = allowed(&pool, &method);
            assert!(!roles.is_empty(), "{name} is for nobody");
            for role in Role::ALL {
                let subject = if role == Role::Player { &player } else { "test" };
                let token = place.token(role, subject);
                let reason = call(&channel, &method, Some(&token)).await;
                // Let in, and then told what is wrong with an empty message, if anything is.
                let fine = match (roles.contains(&role), public) {
                    (true, true) => matches!(
                        reason,
                        None | Some(
                            ErrorReason::BadField
                                | ErrorReason::AccountUnknown
                                | ErrorReason::NotInLog
                        )
                    ),
                    (true, false) => reason == Some(ErrorReason::NoSuchMethod),
                    (false, _) => reason == Some(ErrorReason::RoleNotAllowed),
                };
                assert!(fine, "{name} as {role:?}: {reason:?}");
                walked += 1;
            }
            let nobody = call(&channel, &method, None).await;
            assert_eq!(nobody, Some(ErrorReason::TokenMissing), "{name} as nobody");
        }
    }
    assert!(walked >= 4 * 20, "{walked} calls");
    room.running.stop(Signal::INT).await;
}

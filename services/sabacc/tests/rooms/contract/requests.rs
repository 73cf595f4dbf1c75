//! A valid request to every public method. A new method needs an arm in the file of its service.

mod audit;
mod people;
mod room;
mod tables;
mod wallet;

use proto::common::v1::ErrorReason;
use serde_json::Value;

use super::world::World;

/// Valid request, made for one call and its repeats.
pub(super) struct Prepared {
    pub(super) token: Option<String>,
    /// The message, by the names of the protobuf files.
    pub(super) json: Value,
    /// Field, and what it may be changed to, so that the request is another one.
    pub(super) other: Option<(&'static str, Value)>,
    /// Refusal that a valid request gets in a room in which nothing is wrong.
    pub(super) refused: Option<ErrorReason>,
    /// Whether the request revokes the token that it comes with.
    pub(super) revokes_token: bool,
}

impl Prepared {
    /// Request of a caller with this token.
    fn by(token: impl Into<String>, json: Value) -> Prepared {
        Prepared::of(Some(token.into()), json)
    }

    /// Request without a token.
    fn anonymous(json: Value) -> Prepared {
        Prepared::of(None, json)
    }

    fn of(token: Option<String>, json: Value) -> Prepared {
        Prepared { token, json, other: None, refused: None, revokes_token: false }
    }

    /// Names what makes another request of it.
    fn or(self, field: &'static str, value: impl Into<Value>) -> Prepared {
        Prepared { other: Some((field, value.into())), ..self }
    }
}

/// Makes a valid request to a method, with all that it needs in the room; `None` if nobody has said
/// how.
pub(super) async fn prepare(world: &World, service: &str, method: &str) -> Option<Prepared> {
    match service {
        "sabacc.audit.v1.AuditService" => audit::audit_service(world, method).await,
        "sabacc.audit.v1.DisputeService" => audit::dispute_service(world, method).await,
        "sabacc.audit.v1.HandService" => audit::hand_service(world, method).await,
        "sabacc.audit.v1.LogService" => audit::log_service(world, method),
        "sabacc.table.v1.PeopleService" => people::people_service(world, method).await,
        "sabacc.table.v1.RoomService" => room::room_service(world, method).await,
        "sabacc.table.v1.RulesService" => tables::rules_service(method),
        "sabacc.table.v1.TableService" => tables::table_service(world, method).await,
        "sabacc.wallet.v1.WalletService" => wallet::wallet_service(world, method).await,
        _ => None,
    }
}

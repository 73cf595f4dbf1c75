//! The role × method matrix, read from the descriptors that the .proto files compile to.
//!
//! Prost drops extensions when it decodes a message. So the few fields that matter are declared
//! here again, with the option as the plain field that it is on the wire.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use prost::Message;

use super::{Identity, Role};

/// Services open to everybody without a token. They reveal nothing about games.
const OPEN: &[&str] = &[
    "/grpc.health.v1.Health/",
    "/grpc.reflection.v1.ServerReflection/",
    "/grpc.reflection.v1alpha.ServerReflection/",
];

/// Number of the role of callers without a token, which no token can carry.
const ANYBODY: i32 = 5;

#[derive(Clone, PartialEq, Message)]
struct FileSet {
    #[prost(message, repeated, tag = "1")]
    file: Vec<File>,
}

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(string, tag = "2")]
    package: String,
    #[prost(message, repeated, tag = "4")]
    message_type: Vec<MessageType>,
    #[prost(message, repeated, tag = "6")]
    service: Vec<Service>,
}

#[derive(Clone, PartialEq, Message)]
struct MessageType {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    field: Vec<Field>,
}

#[derive(Clone, PartialEq, Message)]
struct Field {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(uint32, tag = "3")]
    number: u32,
    #[prost(int32, tag = "5")]
    kind: i32,
}

#[derive(Clone, PartialEq, Message)]
struct Service {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(message, repeated, tag = "2")]
    method: Vec<Method>,
}

#[derive(Clone, PartialEq, Message)]
struct Method {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, tag = "2")]
    input_type: String,
    #[prost(message, optional, tag = "4")]
    options: Option<Options>,
    #[prost(bool, tag = "5")]
    client_streaming: bool,
    #[prost(bool, tag = "6")]
    server_streaming: bool,
}

#[derive(Clone, PartialEq, Message)]
struct Options {
    #[prost(message, optional, tag = "50100")]
    access: Option<AccessOption>,
    #[prost(message, optional, tag = "50101")]
    limits: Option<MethodLimits>,
}

#[derive(Clone, PartialEq, Message)]
struct AccessOption {
    #[prost(int32, repeated, tag = "1")]
    roles: Vec<i32>,
    #[prost(string, repeated, tag = "2")]
    services: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
struct MethodLimits {
    #[prost(uint32, tag = "1")]
    cost: u32,
    #[prost(uint32, tag = "2")]
    request_bytes: u32,
    #[prost(uint32, tag = "3")]
    wait_ms: u32,
    #[prost(uint32, tag = "4")]
    token_field: u32,
}

/// Error in the descriptors: they are not those that this program was built with.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("the descriptors are not an encoded FileDescriptorSet")]
    NotDescriptors(#[from] prost::DecodeError),
    #[error("{method} is open to a role with the number {number}, which no token can carry")]
    UnknownRole { method: String, number: i32 },
    #[error("{method} must name services exactly where it is open to the role service")]
    Services { method: String },
    #[error("{method} takes fresh tokens in field {field}, which is none of 1 to 15")]
    TokenField { method: String, field: u32 },
}

/// Access rule, cost and limits of one method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) roles: BTreeSet<Role>,
    /// Whether the method may be called without a token.
    pub(crate) is_for_anybody: bool,
    /// Subjects of the services that may call the method.
    pub(crate) services: BTreeSet<String>,
    pub(crate) streams: bool,
    /// Whether the client streams: requests go on while the answer is given.
    pub(crate) client_streams: bool,
    /// Units that a call costs: 1, or more if the method's option says so.
    pub(crate) cost: u32,
    /// Bytes of the longest request, if the method's option names a bound.
    pub(crate) message_bytes: Option<usize>,
    /// Longest wait for somebody outside the room, by which the deadline of a call is later.
    pub(crate) wait: Duration,
    /// Field of the stream's messages, 1 to 15, that has a fresh token of the caller.
    pub(crate) token_field: Option<u8>,
    /// Field `request_id` of the request, if it is a text.
    pub(crate) request_id_field: Option<u32>,
}

/// Access rules of all methods. A method without the option is closed to everybody.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// Rule by path, `/package.Service/Method`.
    rules: BTreeMap<String, Rule>,
}

impl Access {
    /// Reads the rules from an encoded `FileDescriptorSet`.
    ///
    /// # Errors
    /// The bytes are not a descriptor set, an option names an unknown role or field, or a method
    /// names services without the role `service` or the role without services.
    pub fn from_descriptors(descriptors: &[u8]) -> Result<Access, AccessError> {
        let files = FileSet::decode(descriptors)?.file;
        let request_ids = request_id_fields(&files);
        let mut rules = BTreeMap::new();
        for File { package, message_type: _, service } in files {
            for Service { name: service, method } in service {
                for method in method {
                    let path = format!("/{package}.{service}/{}", method.name);
                    let request_id_field = request_ids.get(&method.input_type).copied();
                    let rule = rule(&path, method)?;
                    rules.insert(path, Rule { request_id_field, ..rule });
                }
            }
        }
        Ok(Access { rules })
    }

    /// All methods with the roles that may call them, sorted by path.
    pub fn methods(&self) -> impl Iterator<Item = (&str, &BTreeSet<Role>)> {
        self.rules.iter().map(|(path, rule)| (path.as_str(), &rule.roles))
    }

    /// Whether a method may be called without a token.
    #[must_use]
    pub fn is_for_anybody(&self, path: &str) -> bool {
        self.rules.get(path).is_some_and(|rule| rule.is_for_anybody)
    }

    /// Subjects of the services that may call a method.
    pub fn services(&self, path: &str) -> impl Iterator<Item = &str> {
        self.rules.get(path).into_iter().flat_map(|rule| &rule.services).map(String::as_str)
    }

    /// Longest time for which a call of a method waits for somebody outside the room.
    #[must_use]
    pub fn wait(&self, path: &str) -> Duration {
        self.rules.get(path).map_or(Duration::ZERO, |rule| rule.wait)
    }

    pub(crate) fn rule(&self, path: &str) -> Option<&Rule> {
        self.rules.get(path)
    }

    /// Whether `path` needs no token.
    pub(crate) fn is_open(path: &str) -> bool {
        OPEN.iter().any(|service| path.starts_with(service))
    }
}

impl Rule {
    /// Whether the identity may call the method.
    pub(crate) fn admits(&self, identity: &Identity) -> bool {
        self.roles.contains(&identity.role)
            && match identity.role {
                Role::Service => self.services.contains(&identity.subject),
                Role::Player | Role::Operator | Role::Auditor => true,
            }
    }
}

/// Number of the field `request_id` of each message that has it as text, by the message's full name
/// with a dot before it.
fn request_id_fields(files: &[File]) -> BTreeMap<String, u32> {
    const TEXT: i32 = 9;
    let mut fields = BTreeMap::new();
    for File { package, message_type, service: _ } in files {
        for MessageType { name, field } in message_type {
            let id = field.iter().find(|field| field.name == "request_id" && field.kind == TEXT);
            fields.extend(id.map(|field| (format!(".{package}.{name}"), field.number)));
        }
    }
    fields
}

fn rule(path: &str, method: Method) -> Result<Rule, AccessError> {
    let Method { name: _, input_type: _, options, client_streaming, server_streaming } = method;
    let Options { access, limits } = options.unwrap_or_default();
    let AccessOption { roles: numbers, services } = access.unwrap_or_default();
    let mut roles = BTreeSet::new();
    let mut is_for_anybody = false;
    for number in numbers {
        let role = match number {
            1 => Role::Player,
            2 => Role::Operator,
            3 => Role::Auditor,
            4 => Role::Service,
            ANYBODY => {
                is_for_anybody = true;
                continue;
            }
            number => return Err(AccessError::UnknownRole { method: path.to_owned(), number }),
        };
        roles.insert(role);
    }
    let services = BTreeSet::from_iter(services);
    if roles.contains(&Role::Service) == services.is_empty() {
        return Err(AccessError::Services { method: path.to_owned() });
    }
    let MethodLimits { cost, request_bytes, wait_ms, token_field: field } =
        limits.unwrap_or_default();
    let request_bytes = usize::try_from(request_bytes).ok();
    let token_field = u8::try_from(field).ok().filter(|field| (1..=15).contains(field));
    if field > 0 && token_field.is_none() {
        return Err(AccessError::TokenField { method: path.to_owned(), field });
    }
    Ok(Rule {
        roles,
        is_for_anybody,
        services,
        streams: client_streaming || server_streaming,
        client_streams: client_streaming,
        cost: cost.max(1),
        message_bytes: request_bytes.filter(|bytes| *bytes > 0),
        wait: Duration::from_millis(wait_ms.into()),
        token_field,
        request_id_field: None,
    })
}

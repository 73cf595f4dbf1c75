//! The role × method matrix, read from the descriptors that the .proto files compile to.
//!
//! Prost forgets the extensions of what it decodes, so the few fields that matter are declared here
//! once more, the option among them as the plain field that it is on the wire.

use std::collections::{BTreeMap, BTreeSet};

use prost::Message;

use super::{Identity, Role};

/// Services that everybody may call, without a token: they say nothing of the game.
const OPEN: &[&str] = &[
    "/grpc.health.v1.Health/",
    "/grpc.reflection.v1.ServerReflection/",
    "/grpc.reflection.v1alpha.ServerReflection/",
];

#[derive(Clone, PartialEq, Message)]
struct FileSet {
    #[prost(message, repeated, tag = "1")]
    file: Vec<File>,
}

#[derive(Clone, PartialEq, Message)]
struct File {
    #[prost(string, tag = "2")]
    package: String,
    #[prost(message, repeated, tag = "6")]
    service: Vec<Service>,
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
    access: Option<Allowed>,
    #[prost(message, optional, tag = "50101")]
    limits: Option<MethodLimits>,
}

#[derive(Clone, PartialEq, Message)]
struct Allowed {
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
}

/// The descriptors are not what this program was built with.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    #[error("the descriptors are not an encoded FileDescriptorSet")]
    NotDescriptors(#[from] prost::DecodeError),
    #[error("{method} is open to a role with the number {number}, which no token can carry")]
    UnknownRole { method: String, number: i32 },
    #[error("{method} must name services exactly where it is open to the role service")]
    Services { method: String },
}

/// What is known of one method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Rule {
    pub(crate) roles: BTreeSet<Role>,
    /// The services among those who may call it, by the subject of their tokens.
    pub(crate) services: BTreeSet<String>,
    pub(crate) streams: bool,
    /// Requests go on while the answer is given.
    pub(crate) client_streams: bool,
    /// What a call costs its caller: 1, or more where the method's option says so.
    pub(crate) cost: u32,
    /// The longest request, where the method's option says so.
    pub(crate) message_bytes: Option<usize>,
}

/// Who may call what. A method without the option is closed to everybody.
#[derive(Debug, Clone, Default)]
pub struct Access {
    /// `/package.Service/Method` → its rule.
    rules: BTreeMap<String, Rule>,
}

impl Access {
    /// From an encoded `FileDescriptorSet`.
    ///
    /// # Errors
    /// The bytes are something else, or an option names a role that does not exist.
    pub fn from_descriptors(descriptors: &[u8]) -> Result<Access, AccessError> {
        let mut rules = BTreeMap::new();
        for File { package, service } in FileSet::decode(descriptors)?.file {
            for Service { name: service, method } in service {
                for Method { name, options, client_streaming, server_streaming } in method {
                    let path = format!("/{package}.{service}/{name}");
                    let Options { access, limits } = options.unwrap_or_default();
                    let allowed = access.unwrap_or_default();
                    let roles = roles(&path, &allowed.roles)?;
                    let services = BTreeSet::from_iter(allowed.services);
                    if roles.contains(&Role::Service) == services.is_empty() {
                        return Err(AccessError::Services { method: path });
                    }
                    let MethodLimits { cost, request_bytes } = limits.unwrap_or_default();
                    let request_bytes = usize::try_from(request_bytes).ok();
                    let rule = Rule {
                        roles,
                        services,
                        streams: client_streaming || server_streaming,
                        client_streams: client_streaming,
                        cost: cost.max(1),
                        message_bytes: request_bytes.filter(|bytes| *bytes > 0),
                    };
                    rules.insert(path, rule);
                }
            }
        }
        Ok(Access { rules })
    }

    /// Every method with the roles that may call it, sorted by path.
    pub fn methods(&self) -> impl Iterator<Item = (&str, &BTreeSet<Role>)> {
        self.rules.iter().map(|(path, rule)| (path.as_str(), &rule.roles))
    }

    /// The services that may call a method.
    pub fn services(&self, path: &str) -> impl Iterator<Item = &str> {
        self.rules.get(path).into_iter().flat_map(|rule| &rule.services).map(String::as_str)
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
    /// Whether somebody may call the method.
    pub(crate) fn admits(&self, identity: &Identity) -> bool {
        self.roles.contains(&identity.role)
            && match identity.role {
                Role::Service => self.services.contains(&identity.subject),
                Role::Player | Role::Operator | Role::Auditor => true,
            }
    }
}

fn roles(method: &str, numbers: &[i32]) -> Result<BTreeSet<Role>, AccessError> {
    let role = |&number| match number {
        1 => Ok(Role::Player),
        2 => Ok(Role::Operator),
        3 => Ok(Role::Auditor),
        4 => Ok(Role::Service),
        number => Err(AccessError::UnknownRole { method: method.to_owned(), number }),
    };
    numbers.iter().map(role).collect()
}

//! The API of one port: descriptors of the services that it serves, and of no other.
//!
//! Reflection, `GET /api.json` and the transcoder read it, so all three know the same methods. A
//! file that also has services of other ports is shown without them.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use prost::Message as _;
use prost_reflect::{
    DescriptorError as PoolError, DescriptorPool, DynamicMessage, FileDescriptor, MethodDescriptor,
    Value,
};

use crate::auth::{Access, AccessError};

/// Error in descriptors: they are not those that this program was built with.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error(transparent)]
    Access(#[from] AccessError),
    #[error("the descriptors contradict themselves: {0}")]
    Pool(#[from] PoolError),
    #[error("the descriptors are not a FileDescriptorSet: {0}")]
    Decode(#[from] prost::DecodeError),
    #[error("the descriptors do not describe {0}")]
    Missing(String),
    #[error("the descriptors cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Services of one port.
#[derive(Debug)]
pub struct Api {
    /// Encoded `FileDescriptorSet` of the services and all that they use.
    files: Vec<u8>,
    json: Bytes,
    /// Methods by path, `/package.Service/Method`; health and reflection among them.
    methods: BTreeMap<String, Method>,
}

/// Method of the API.
#[derive(Debug, Clone)]
pub(crate) struct Method {
    pub(crate) descriptor: MethodDescriptor,
    /// Bytes of the longest request.
    pub(crate) max_request_bytes: usize,
}

impl Method {
    /// Whether requests or answers are a stream.
    pub(crate) fn streams(&self) -> bool {
        self.descriptor.is_client_streaming() || self.descriptor.is_server_streaming()
    }
}

/// Descriptors of the services that every port has.
const EVERYWHERE: [&[u8]; 2] =
    [tonic_health::pb::FILE_DESCRIPTOR_SET, tonic_reflection::pb::v1::FILE_DESCRIPTOR_SET];

impl Api {
    /// API of these services. `descriptors` is an encoded `FileDescriptorSet` that has them among
    /// others; `max_message_bytes` bounds requests to methods without a bound of their own.
    ///
    /// # Errors
    /// The descriptors cannot be used, or lack one of the services.
    pub(crate) fn new(
        descriptors: &[u8],
        services: &BTreeSet<&'static str>,
        max_message_bytes: usize,
    ) -> Result<Api, ApiError> {
        let access = Access::from_descriptors(descriptors)?;
        let pool = DescriptorPool::decode(descriptors)?;
        let set = "google.protobuf.FileDescriptorSet";
        let set = pool.get_message_by_name(set).ok_or_else(|| ApiError::Missing(set.to_owned()))?;
        let mut set = DynamicMessage::decode(set, descriptors)?;
        let files = files_of(&pool, services)?;
        retain_named(&mut set, "file", |name| files.contains(name));
        for file in messages_of(&mut set, "file") {
            let package = text_of(file, "package");
            retain_named(file, "service", |name| {
                services.contains(format!("{package}.{name}").as_str())
            });
        }
        let files = set.encode_to_vec();
        let mut shown = DescriptorPool::decode(&*files)?;
        for more in EVERYWHERE {
            shown.decode_file_descriptor_set(more)?;
        }
        let methods = shown.services().flat_map(|service| service.methods().collect::<Vec<_>>());
        let methods = methods.map(|descriptor| {
            let path =
                format!("/{}/{}", descriptor.parent_service().full_name(), descriptor.name());
            let own = access.rule(&path).and_then(|rule| rule.message_bytes);
            (path, Method { descriptor, max_request_bytes: own.unwrap_or(max_message_bytes) })
        });
        let methods = methods.collect();
        Ok(Api { files, json: serde_json::to_vec(&set)?.into(), methods })
    }

    /// Encoded `FileDescriptorSet` of the services and of all that they use, with their options.
    pub(crate) fn files(&self) -> &[u8] {
        &self.files
    }

    /// JSON of the descriptors.
    #[must_use]
    pub fn json(&self) -> Bytes {
        self.json.clone()
    }

    /// Paths of all methods, `/package.Service/Method`, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.methods.keys().map(String::as_str)
    }

    pub(crate) fn method(&self, path: &str) -> Option<&Method> {
        self.methods.get(path)
    }
}

/// Names of the files that describe these services, and of all files that those import.
fn files_of(
    pool: &DescriptorPool,
    services: &BTreeSet<&'static str>,
) -> Result<BTreeSet<String>, ApiError> {
    let mut files: Vec<FileDescriptor> = Vec::new();
    for name in services {
        let service = pool.get_service_by_name(name);
        files.push(service.ok_or_else(|| ApiError::Missing((*name).to_owned()))?.parent_file());
    }
    let mut names = BTreeSet::new();
    while let Some(file) = files.pop() {
        if names.insert(file.name().to_owned()) {
            files.extend(file.dependencies());
        }
    }
    Ok(names)
}

/// Messages of a repeated field.
fn messages_of<'a>(
    message: &'a mut DynamicMessage,
    field: &str,
) -> impl Iterator<Item = &'a mut DynamicMessage> {
    let list = message.get_field_by_name_mut(field).and_then(Value::as_list_mut);
    list.into_iter().flatten().filter_map(Value::as_message_mut)
}

/// Keeps the messages of a repeated field whose names pass.
fn retain_named(message: &mut DynamicMessage, field: &str, passes: impl Fn(&str) -> bool) {
    if let Some(list) = message.get_field_by_name_mut(field).and_then(Value::as_list_mut) {
        list.retain(|entry| {
            entry.as_message().is_some_and(|entry| passes(&text_of(entry, "name")))
        });
    }
}

fn text_of(message: &DynamicMessage, field: &str) -> String {
    let value = message.get_field_by_name(field);
    value.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

//! Files and elements of the public API.

use prost::Message as _;
use prost_types::{DescriptorProto, EnumDescriptorProto, FileDescriptorProto, FileDescriptorSet};

/// Packages that strangers program against.
const PACKAGES: [&str; 5] = [
    "sabacc.audit.v1",
    "sabacc.common.v1",
    "sabacc.history.v1",
    "sabacc.table.v1",
    "sabacc.wallet.v1",
];

/// Files of these packages that services speak among themselves, or that are a file's format.
const NOT_PUBLIC: [&str; 3] = [
    "sabacc/audit/v1/bundle.proto",
    "sabacc/history/v1/history.proto",
    "sabacc/wallet/v1/settlement.proto",
];

/// All files of ours.
pub(crate) fn files() -> Vec<FileDescriptorProto> {
    let set = FileDescriptorSet::decode(proto::DESCRIPTORS).expect("the committed descriptors");
    set.file.into_iter().filter(|file| file.package().starts_with("sabacc.")).collect()
}

/// Files of the public API.
pub(crate) fn public_files() -> Vec<FileDescriptorProto> {
    let is_public = |file: &FileDescriptorProto| {
        PACKAGES.contains(&file.package()) && !NOT_PUBLIC.contains(&file.name())
    };
    let public: Vec<_> = files().into_iter().filter(is_public).collect();
    assert!(public.len() >= 12, "{} files", public.len());
    public
}

/// Whether a public file may import this one.
pub(crate) fn is_importable(path: &str) -> bool {
    let package = |package: &str| path.starts_with(&package.replace('.', "/"));
    path.starts_with("google/protobuf/")
        || PACKAGES.iter().any(|it| package(it)) && path != "sabacc/wallet/v1/settlement.proto"
}

/// All messages of a file, those within messages too, but for map entries.
pub(crate) fn messages(file: &FileDescriptorProto) -> Vec<&DescriptorProto> {
    let mut found = Vec::new();
    let mut waiting: Vec<_> = file.message_type.iter().collect();
    while let Some(message) = waiting.pop() {
        waiting.extend(&message.nested_type);
        if !message.options.as_ref().is_some_and(|options| options.map_entry()) {
            found.push(message);
        }
    }
    found
}

/// All enums of a file, those within messages too.
pub(crate) fn enums(file: &FileDescriptorProto) -> Vec<&EnumDescriptorProto> {
    let inner = messages(file).into_iter().flat_map(|message| &message.enum_type);
    file.enum_type.iter().chain(inner).collect()
}

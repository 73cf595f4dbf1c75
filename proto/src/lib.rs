//! Knows: the generated bindings of the protobuf files in this folder.
//! Does not know: anything else; not one line of it is written by hand but this file.
//!
//! The code in `src/gen` is committed, so that a build needs no protobuf compiler; the test
//! `freshness` makes it again and compares. After a change to a protobuf file, run that test once
//! with `SABACC_WRITE_BINDINGS=1`.

/// The encoded `FileDescriptorSet` of all files: for reflection, and for the roles that may call
/// each method.
pub const DESCRIPTORS: &[u8] = include_bytes!("gen/descriptors.bin");

macro_rules! package {
    ($area:ident, $file:literal) => {
        pub mod $area {
            pub mod v1 {
                include!(concat!("gen/", $file));
            }
        }
    };
}

/// The packages, nested as their names are, which the generated code relies on.
pub mod sabacc {
    package!(audit, "sabacc.audit.v1.rs");
    package!(common, "sabacc.common.v1.rs");
    package!(dealer, "sabacc.dealer.v1.rs");
    package!(event, "sabacc.event.v1.rs");
    package!(history, "sabacc.history.v1.rs");
    package!(table, "sabacc.table.v1.rs");
    package!(wallet, "sabacc.wallet.v1.rs");
}

pub use sabacc::{audit, common, dealer, event, history, table, wallet};

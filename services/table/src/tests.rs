//! Tests of a table in memory, with their harness.

pub(crate) mod harness;

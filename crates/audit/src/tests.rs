//! Tests of whole audits, and the fixture of all tests: honest records of made-up tables.

mod attacks;
mod bundles;
pub(crate) mod fixture;

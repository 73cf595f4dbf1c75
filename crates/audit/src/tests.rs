//! Tests of whole audits, and the fixture of all tests: honest records of made-up tables.

mod attacks;
mod bundles;
mod evidence;
pub(crate) mod fixture;
mod histories;
mod quotas;
mod verdicts;

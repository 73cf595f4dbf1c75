//! Knows: the layout of the whole tree, and the rules of style for its files.
//! Does not know: what any package does inside.
//!
//! Shared code of the suites in `tests/`. [`tidy`] checks the style: its rules are tables and small
//! functions.

pub mod tidy;

//! Knows: how the whole tree is laid out and which habits its files keep.
//! Does not know: what any room does inside.
//!
//! What the end-to-end suites in `tests/` share. [`tidy`] is the style as a program: it reads the
//! tree the way a reviewer would, and its rules are rows and small functions.

pub mod tidy;

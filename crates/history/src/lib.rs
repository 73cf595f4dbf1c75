//! Knows: nothing yet.
//! Does not know: anything.

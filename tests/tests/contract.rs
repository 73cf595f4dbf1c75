//! The public API as a program in another language meets it: names, types, imports and options of
//! the committed descriptors.

mod contract {
    mod keywords;
    mod public;
    mod rules;
    mod unknown;
}

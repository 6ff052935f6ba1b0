//! Standing instructions: what the user said once and for all, found in the log and kept in every prompt.

pub mod find;

//! What a stored text is, and how to show part of it: its shape, a digest of it, slices of it.
//!
//! Everything here is a pure function of text, linear in it, and never larger than it.

pub mod digest;
pub mod extract;
pub mod projection;
pub mod reshape;
pub mod signals;
pub mod slice;
pub mod sniff;
pub mod table;
pub mod tree;
pub mod views;

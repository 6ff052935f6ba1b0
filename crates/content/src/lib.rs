//! What a stored text is, and how to show part of it: its shape, a digest of it, slices of it.
//!
//! Everything here is a pure function of text, linear in it, and never larger than it.

mod digest;
pub mod extract;
mod projection;
mod reshape;
mod signals;
mod slice;
mod sniff;
mod table;
pub mod tree;
mod views;

pub use digest::{Digest, Focus, digest, digest_sniffed};
pub use projection::{KeepPath, PathSegment, project};
pub use reshape::{Reshaped, reshape, reshape_sniffed};
pub use slice::{SELECTORS, Selector, TextSlice, slice};
pub use sniff::{Shape, SniffedText, essence, sniff};
pub use views::{views, views_sniffed};

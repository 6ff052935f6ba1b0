//! Records of the Model Context Protocol, and what becomes of them here. Nothing in this room scores, selects or stores.
//!
//! What a server says of its tools is a hint that nobody has checked. It is kept and shown, and permits nothing.

pub mod revision;

pub use revision::{MetaKeyProblem, Revision, check_meta_key};

//! What every crate of contextweaver stands on: the error type, limits, sorting.

mod error;
pub mod limits;
pub mod order;
#[cfg(feature = "ts")]
mod ts;

pub use error::{Error, ErrorCode, Result};

//! What every crate of contextweaver stands on: the error type, limits and defaults, step budgets, sorting that is compiled once.
//!
//! Every failure is an [`Error`]: a stable code, a sentence, and the JSON pointer of the field at fault.
//!
//! ```
//! use contextweaver_base::{Error, ErrorCode, Result, limits};
//!
//! fn check(text: &str) -> Result<()> {
//!     if text.len() <= limits::MAX_STRING_BYTES {
//!         return Ok(());
//!     }
//!     Err(Error::new(ErrorCode::TooLarge, "the text is too long").at("/text").hint("store it as an artifact"))
//! }
//! let error = check(&" ".repeat(limits::MAX_STRING_BYTES + 1)).unwrap_err();
//! assert_eq!((error.code().as_str(), error.path()), ("TOO_LARGE", "/text"));
//! ```

mod error;
pub mod limits;
pub mod order;
mod steps;
#[cfg(feature = "ts")]
mod ts;

pub use error::{Error, ErrorCode, Result};
pub use steps::StepBudget;

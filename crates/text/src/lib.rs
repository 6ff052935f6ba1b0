//! Text primitives: counting tokens, splitting, comparing, searching, masking. Everything here is linear in its input.
//!
//! | Task | Where |
//! |---|---|
//! | estimate tokens without a tokenizer | [`Estimator`] |
//! | mask credentials, tell how sensitive a text is | [`redact_secrets`], [`redact_value`], [`detect`] |
//! | search with a text or an expression, without backtracking | [`Pattern`] |
//! | split into terms, compare sets of words | [`terms`], [`tokenize`], [`similarity`] |
//! | make text of others safe to show | [`unicode::sanitize`], [`markdown`] |
//!
//! ```
//! use contextweaver_text::{Estimator, SECRET_MASK, redact_secrets};
//!
//! let log = "connecting with password=hunter22";
//! let shown = redact_secrets(log, SECRET_MASK);
//! assert_eq!(shown, "connecting with password=[REDACTED-SECRET]");
//! assert!(Estimator::V3.fits(&shown, 20));
//! ```

pub mod classify;
pub mod data;
pub mod families;
pub mod glob;
pub mod hash;
pub mod lines;
pub mod markdown;
pub mod numbered;
pub mod openings;
pub mod pattern;
pub mod python;
pub mod quote;
pub mod redact;
pub mod similarity;
pub mod terms;
pub mod time;
pub mod tokenize;
pub mod tokens;
pub mod unicode;

pub use classify::{ClassifierRules, DetectedLevel, detect};
pub use pattern::{Dialect, Pattern};
pub use redact::{Keep, SECRET_MASK, contains_secret, redact_secrets, redact_value};
pub use tokens::Estimator;

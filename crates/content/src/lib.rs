//! What a stored text is, and how to show part of it: its shape, a digest of it, slices of it.
//!
//! Everything here is a pure function of text, linear in it, and what it returns is never larger than the text.
//!
//! | Function | Answers |
//! |---|---|
//! | [`fn@sniff`] | what a text is, whatever its media type says |
//! | [`digest()`] | what a reader wants to know of it first, within a number of tokens |
//! | [`reshape()`] | the same in fewer tokens, with nothing lost |
//! | [`fn@abridge`] | its start, its end and what names the most between, within a number of tokens |
//! | [`project`] | the members of JSON that an allow-list names |
//! | [`views()`] | selectors that show all of it page by page |
//! | [`slice()`] | the part that a selector names |
//! | [`extract`] | facts and summaries by rules |
//!
//! ```
//! use contextweaver_content::{Selector, Shape, digest, slice, sniff};
//! use contextweaver_text::tokens::Estimator;
//! use serde_json::json;
//!
//! let log: String = (0..1000).map(|n| format!("12:00:{:02} GET /orders/{n} 200\n", n % 60)).collect();
//! let log = log + "12:17:00 GET /orders/1000 500 database is locked\n";
//! assert_eq!(sniff("text/plain", &log), Shape::Log);
//!
//! let short = digest(&log, "text/plain", 200, &Estimator::V3);
//! assert!(short.text.contains("database is locked"));
//!
//! let selector = Selector::from_value(json!({ "type": "search", "text": "locked", "context": 0 }), "")?;
//! let found = slice(&log, "text/plain", &selector, None, &Estimator::V3)?;
//! assert_eq!(found.text, "1000:12:17:00 GET /orders/1000 500 database is locked");
//! # Ok::<(), contextweaver_base::Error>(())
//! ```

mod abridge;
mod code;
mod digest;
pub mod extract;
mod narrow;
mod projection;
mod reshape;
mod signals;
mod slice;
mod sniff;
mod table;
pub mod tree;
mod views;

pub use abridge::{Abridgment, abridge};
pub use digest::{Digest, Focus, digest, digest_sniffed};
pub use projection::{KeepPath, PathSegment, project};
pub use reshape::{Reshaped, reshape, reshape_sniffed};
pub use slice::{
    MatchingRows, SELECTORS, Selector, SliceIndex, TextSlice, drilldown_tool, json_rows, recall_tool, slice,
    slice_indexed,
};
pub use sniff::{Shape, SniffedText, essence, sniff};
pub use views::{views, views_sniffed};

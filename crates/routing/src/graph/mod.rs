//! A bounded graph over a catalog, for browsing.
//!
//! [`ChoiceGraph`] is the record that contextweaver 0.18 writes too, [`build()`] makes one over a catalog, and a
//! [`BrowseIndex`] shows it page by page.

mod browse;
mod build;
mod json;
mod keys;
mod nodes;
mod options;
mod split;
mod stats;

// What the recorded cases run alone. They are no part of the API.
#[doc(hidden)]
pub mod choice_graph;
#[doc(hidden)]
pub mod cluster;
#[doc(hidden)]
pub mod labels;
#[doc(hidden)]
pub mod manifest;
#[doc(hidden)]
pub mod path;
#[doc(hidden)]
pub mod words;

pub use browse::{BrowseChild, BrowseIndex, BrowsePage, PageOptions};
pub use build::{build, outline};
pub use choice_graph::ChoiceGraph;
pub use options::{BuildOptions, GroupingStrategy};
pub use stats::GraphStats;

//! A bounded graph over a catalog, for browsing.
//!
//! [`ChoiceGraph`] is the record that contextweaver 0.18 writes too, [`build::TreeBuilder`] makes one over a catalog, [`path`]
//! has the grammar of browse paths, and [`browse`] answers them page by page.

pub mod browse;
pub mod build;
pub mod choice_graph;
pub mod cluster;
mod cycle;
mod form;
mod keys;
pub mod labels;
pub mod manifest;
pub mod path;
mod split;
mod stats;
pub mod words;

pub use browse::{BrowseChild, BrowseIndex, BrowsePage, PageOptions};
pub use build::{BuildOptions, GroupingStrategy, build, outline};
pub use choice_graph::ChoiceGraph;
pub use stats::GraphStats;

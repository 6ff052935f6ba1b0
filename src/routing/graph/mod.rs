//! A bounded graph over a catalog, for browsing.
//!
//! [`ChoiceGraph`] is the record the reference writes too, [`build::TreeBuilder`] makes one over a catalog, [`path`]
//! has the grammar of browse paths, and [`browse`] answers them page by page.

pub mod choice_graph;
pub mod cycle;
pub mod form;
pub mod labels;
pub mod manifest;
pub mod stats;

pub use choice_graph::ChoiceGraph;

//! What a router may be told to decide otherwise.

use crate::graph::{self, BuildOptions, ChoiceGraph};
use contextweaver_base::Result;
use contextweaver_model::SelectableItem;

/// Builds the graph over tools; the last argument is the hash of their catalog.
pub type BuildGraph = fn(&[&SelectableItem], BuildOptions, &str) -> Result<ChoiceGraph>;
/// Builds what routes need of a graph, which is neither labels nor the hash of the catalog.
pub type OutlineGraph = fn(&[&SelectableItem], BuildOptions) -> Result<ChoiceGraph>;

/// What a router decides beside its search.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "they are independent decisions, each a setting by itself")]
pub struct RouteRules {
    /// Function that builds the graph of a catalog.
    pub build_graph: BuildGraph,
    /// Builds it faster for routes of the exact navigator; without it, the whole graph is built for these, too.
    pub outline_graph: Option<OutlineGraph>,
    /// Whether branches that were cut off the beam come back when too little was found.
    pub is_lossless: bool,
    /// Whether called tools of a history are known by every name that a model may have called them by.
    pub resolves_called_names: bool,
    /// Whether a repeat also costs a tool whose score is below zero.
    pub repeats_cost_below_zero: bool,
    /// Whether every tool of the short list has a path, and history is told of these alone.
    pub tells_of_short_list: bool,
    /// Whether queries and ids are escaped in the Markdown about the impact of a change, and what is left out is counted.
    pub escapes_markdown: bool,
}

impl Default for RouteRules {
    fn default() -> Self {
        Self {
            build_graph: graph::build,
            outline_graph: Some(graph::outline),
            is_lossless: true,
            resolves_called_names: true,
            repeats_cost_below_zero: true,
            tells_of_short_list: true,
            escapes_markdown: true,
        }
    }
}

//! Options of building a graph.

use super::choice_graph::MAX_CHILDREN;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use serde_json::Value;

/// Largest number of children that can be asked for.
const MOST_CHILDREN: u64 = 1 << 20;

contextweaver_model::string_enum! {
    /// How tools are grouped into nodes.
    GroupingStrategy, "strategy" {
        /// By namespace where at least half of the tools have one, else by likeness.
        Auto = "auto",
        /// By namespace, and where it ends by name.
        Namespace = "namespace",
        /// By the terms of name and description they share.
        Cluster = "cluster",
        /// By name, in stretches of the alphabet.
        Alphabetical = "alphabetical",
    }
}

/// Options of [`build`](super::build()).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildOptions {
    /// How tools are grouped.
    pub strategy: GroupingStrategy,
    /// Most children of a node, at least 2.
    pub max_children: usize,
    /// Tools wanted in a group that is split by name or likeness.
    pub target_group_size: usize,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            strategy: GroupingStrategy::Auto,
            max_children: MAX_CHILDREN as usize,
            target_group_size: MAX_CHILDREN as usize,
        }
    }
}

impl BuildOptions {
    /// Reads options; unknown fields are refused.
    ///
    /// # Errors
    ///
    /// Fails with the code of the first field that cannot be read, and its path.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let known = ["strategy", "max_children", "target_group_size"];
        let mut fields = Fields::open_closed(value, path, &known)?;
        let strategy = fields.parsed_or("strategy", GroupingStrategy::Auto, GroupingStrategy::parse)?;
        let max_children = fields.uint_or("max_children", MAX_CHILDREN, MOST_CHILDREN)?;
        let target_group_size = fields.uint_or("target_group_size", max_children, MOST_CHILDREN)? as usize;
        Ok(Self { strategy, max_children: max_children as usize, target_group_size })
    }

    pub(super) fn check(&self, items: usize) -> Result<()> {
        let least = if items > 1 { 2 } else { 1 };
        for (name, value, least) in
            [("max_children", self.max_children, least), ("target_group_size", self.target_group_size, 1)]
        {
            if value < least {
                let message = format!("{name} must be at least {least}, it is {value}");
                return Err(Error::new(ErrorCode::OutOfRange, message).at(format!("/{name}")));
            }
        }
        Ok(())
    }
}

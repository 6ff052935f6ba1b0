//! The shape of a graph in numbers.

use contextweaver_model::json::numbers::{average, round};
use serde::Serialize;

use super::choice_graph::ChoiceGraph;
use super::nodes::{self, NodeRecord};

/// The shape of a graph in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GraphStats {
    /// Number of items.
    pub total_items: u64,
    /// Navigation nodes: those that are no items.
    pub total_nodes: u64,
    /// Edges from the root to the farthest node.
    pub max_depth: u64,
    /// Children of a navigation node on average, with two decimals.
    pub avg_branching_factor: f64,
    /// Most children of a navigation node.
    pub max_branching_factor: u64,
    /// Navigation nodes without children.
    pub leaf_node_count: u64,
    /// What stands before the first dot of the items' ids, sorted.
    pub namespaces: Vec<String>,
}

impl ChoiceGraph {
    /// Measures the graph.
    pub fn stats(&self) -> GraphStats {
        let navigation: Vec<&NodeRecord> =
            self.entries().iter().filter(|entry| entry.is_node && !entry.is_item).collect();
        let edges: usize = navigation.iter().map(|entry| entry.children.len()).sum();
        let mut namespaces: Vec<String> = self
            .sorted()
            .filter(|entry| entry.is_item)
            .filter_map(|entry| entry.id.split_once('.').map(|(first, _)| first.to_owned()))
            .collect();
        contextweaver_base::order::sort_distinct(&mut namespaces);
        GraphStats {
            total_items: self.entries().iter().filter(|entry| entry.is_item).count() as u64,
            total_nodes: navigation.len() as u64,
            max_depth: self.max_depth(),
            avg_branching_factor: ratio(edges, navigation.len()),
            max_branching_factor: navigation.iter().map(|entry| entry.children.len() as u64).max().unwrap_or(0),
            leaf_node_count: navigation.iter().filter(|entry| entry.children.is_empty()).count() as u64,
            namespaces,
        }
    }

    /// Counts the edges from the root to the farthest node.
    pub fn max_depth(&self) -> u64 {
        let depths = self.place(&self.root_id).map(|root| nodes::depths(self.entries(), root)).unwrap_or_default();
        depths.into_iter().filter(|depth| *depth != nodes::UNREACHED).max().map_or(0, u64::from)
    }
}

/// Divides and rounds to two decimals.
fn ratio(sum: usize, count: usize) -> f64 {
    round(average(sum as f64, count as u64), 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_round_as_decimals_do() {
        // 9/8 and 11/8 are exact; 223/200 = 1.115 lies below, 401/200 = 2.005 lies below, 201/200 = 1.005 below.
        for (sum, count, expected) in
            [(9, 8, 1.12), (11, 8, 1.38), (223, 200, 1.11), (401, 200, 2.0), (201, 200, 1.0), (2, 3, 0.67), (0, 0, 0.0)]
        {
            assert!((ratio(sum, count) - expected).abs() < 1e-12, "{sum}/{count}: {}", ratio(sum, count));
        }
    }
}

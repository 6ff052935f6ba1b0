//! Walks over the graph. All of them look at an edge at most once from each end.

use super::{DecisionEdge, DecisionGraph, EdgeType};
use contextweaver_base::order::{SortedMap, sort, sort_by};

/// Nodes that one walk returns; a hub may have thousands.
pub const MAX_NODES: usize = 1000;

contextweaver_model::string_enum! {
    /// Which edges of a decision are followed.
    #[derive(Default)]
    EdgeDirection, "direction" {
        /// Edges that start or end there.
        #[default]
        Both = "both",
        /// Edges that start there.
        Outgoing = "outgoing",
        /// Edges that end there.
        Incoming = "incoming",
    }
}

/// The part of the graph around a decision.
#[derive(Debug, Default)]
pub struct Subgraph<'a> {
    /// The centre, then one ring after the other, each sorted by id.
    pub nodes: Vec<&'a str>,
    /// The edges in the order they were met; each joins two of the nodes.
    pub edges: Vec<&'a DecisionEdge>,
    /// Whether there is more than is returned.
    pub is_cut: bool,
}

/// An edge at a decision, and the other end.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Neighbour<'a> {
    /// Id of the decision at the other end.
    pub id: &'a str,
    /// The edge that leads there.
    pub edge: &'a DecisionEdge,
}

impl DecisionGraph {
    /// Returns the edges at a decision that are of one of the types and lead in the direction, with their other ends.
    fn follow<'a>(&'a self, id: &str, kinds: &[EdgeType], direction: EdgeDirection) -> Vec<(u32, Neighbour<'a>)> {
        let mut out = Vec::new();
        for number in self.numbers(id) {
            let Some(edge) = self.edge(*number) else { continue };
            let starts = edge.source == id;
            let fits = match direction {
                EdgeDirection::Both => true,
                EdgeDirection::Outgoing => starts,
                EdgeDirection::Incoming => !starts,
            };
            if fits && (kinds.is_empty() || kinds.contains(&edge.kind)) {
                out.push((*number, Neighbour { id: if starts { &edge.target } else { &edge.source }, edge }));
            }
        }
        out
    }

    /// Walks from a decision over so many edges at most; no types means all.
    pub fn reach<'a>(
        &'a self,
        center: &'a str,
        depth: u64,
        kinds: &[EdgeType],
        direction: EdgeDirection,
    ) -> Subgraph<'a> {
        let mut reached = Subgraph { nodes: vec![center], ..Subgraph::default() };
        let mut seen: SortedMap<&str, ()> = SortedMap::new();
        seen.insert(center, ());
        let mut met: SortedMap<u32, ()> = SortedMap::new();
        let mut ring = vec![center];
        for _ in 0..depth {
            let mut next = Vec::new();
            for id in ring {
                for (number, neighbour) in self.follow(id, kinds, direction) {
                    if !seen.contains_key(neighbour.id) {
                        if seen.len() == MAX_NODES {
                            reached.is_cut = true;
                            continue;
                        }
                        seen.insert(neighbour.id, ());
                        next.push(neighbour.id);
                    }
                    if met.insert(number, ()).is_none() {
                        reached.edges.push(neighbour.edge);
                    }
                }
            }
            let first = reached.nodes.len();
            reached.nodes.extend(&next);
            sort(&mut reached.nodes[first..]);
            ring = next;
        }
        reached
    }

    /// Returns the edges at a decision with their other ends, the heaviest first, then by the other end's id.
    pub fn neighbours(
        &self,
        id: &str,
        kind: Option<EdgeType>,
        direction: EdgeDirection,
        limit: usize,
    ) -> Vec<Neighbour<'_>> {
        let mut found: Vec<Neighbour> =
            self.follow(id, kind.as_slice(), direction).into_iter().map(|(_, neighbour)| neighbour).collect();
        sort_by(&mut found, |a, b| b.edge.weight.total_cmp(&a.edge.weight).then_with(|| a.id.cmp(b.id)));
        found.truncate(limit);
        found
    }

    /// Tells whether one can go from one decision to another over edges of a type.
    pub fn leads_to(&self, from: &str, to: &str, kind: EdgeType) -> bool {
        let mut seen: SortedMap<&str, ()> = SortedMap::new();
        let mut open: Vec<&str> = vec![from];
        while let Some(id) = open.pop() {
            if id == to {
                return true;
            }
            for (_, neighbour) in self.follow(id, &[kind], EdgeDirection::Outgoing) {
                if seen.insert(neighbour.id, ()).is_none() {
                    open.push(neighbour.id);
                }
            }
        }
        false
    }
}

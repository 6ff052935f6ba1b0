//! The nodes of a graph, and walks over them: cycles, depths, an order of parents before children.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use contextweaver_model::json::JsonMap;

/// A node, an item, or both: what is known of one id.
#[derive(Debug, Clone, Default)]
pub(super) struct NodeRecord {
    pub id: String,
    /// An item may be registered before there is a node for it.
    pub is_node: bool,
    pub is_item: bool,
    pub label: String,
    pub hint: String,
    pub stats: JsonMap,
    /// In the order in which they came; the flag says whether the child was an item then.
    pub children: Vec<(u32, bool)>,
    /// The children in the order of their ids.
    pub successors: Vec<u32>,
    pub parents: Vec<u32>,
}

/// Depth of nodes that no path from the root reaches.
pub const UNREACHED: u32 = u32::MAX;

/// Returns the cycle an edge would close, from its source round to its source: the shortest, over sorted successors.
pub(super) fn closed_by(entries: &[NodeRecord], from: u32, to: u32) -> Option<Vec<u32>> {
    if from == to {
        return Some(vec![from, from]);
    }
    if entries[to as usize].successors.is_empty() {
        return None;
    }
    let mut before = vec![UNREACHED; entries.len()];
    before[to as usize] = to;
    let mut queue = vec![to];
    let mut next = 0;
    while let Some(place) = queue.get(next).copied() {
        next += 1;
        for child in &entries[place as usize].successors {
            if before[*child as usize] == UNREACHED {
                before[*child as usize] = place;
                queue.push(*child);
            }
        }
        if before[from as usize] != UNREACHED {
            let mut path = vec![from];
            while path.last() != Some(&to) {
                path.push(before[path[path.len() - 1] as usize]);
            }
            path.push(from);
            path.reverse();
            return Some(path);
        }
    }
    None
}

/// Returns how many of the edges, taken in their order, close no cycle.
pub(super) fn free_edges(nodes: usize, edges: &[(u32, u32)]) -> usize {
    if is_acyclic(nodes, edges) {
        return edges.len();
    }
    // A list of edges that has a cycle has one in every longer list, so the first that closes one is found by halving.
    let (mut free, mut cyclic) = (0, edges.len());
    while cyclic - free > 1 {
        let middle = usize::midpoint(free, cyclic);
        *(if is_acyclic(nodes, &edges[..middle]) { &mut free } else { &mut cyclic }) = middle;
    }
    free
}

fn is_acyclic(nodes: usize, edges: &[(u32, u32)]) -> bool {
    // The targets of each node, one after the other in one list.
    let mut starts = vec![0_usize; nodes + 1];
    let mut waiting = vec![0_u32; nodes];
    for (from, to) in edges {
        starts[*from as usize + 1] += 1;
        waiting[*to as usize] += 1;
    }
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut ends = starts.clone();
    let mut targets = vec![0_u32; edges.len()];
    for (from, to) in edges {
        targets[ends[*from as usize]] = *to;
        ends[*from as usize] += 1;
    }
    let mut ready: Vec<usize> = (0..nodes).filter(|node| waiting[*node] == 0).collect();
    let mut done = 0;
    while let Some(node) = ready.pop() {
        done += 1;
        for target in &targets[starts[node]..starts[node + 1]] {
            waiting[*target as usize] -= 1;
            if waiting[*target as usize] == 0 {
                ready.push(*target as usize);
            }
        }
    }
    done == nodes
}

/// Returns the places parents first, of those that are ready the one of lowest rank; `sorted` lists them by rank.
pub(super) fn topological(entries: &[NodeRecord], ranks: &[u32], sorted: &[usize]) -> Vec<usize> {
    let mut waiting: Vec<usize> = entries.iter().map(|entry| entry.parents.len()).collect();
    let roots = sorted.iter().filter(|place| waiting[**place] == 0);
    let mut ready: BinaryHeap<Reverse<u32>> = roots.map(|place| Reverse(ranks[*place])).collect();
    let mut order = Vec::with_capacity(entries.len());
    while let Some(Reverse(rank)) = ready.pop() {
        let place = sorted[rank as usize];
        order.push(place);
        for child in &entries[place].successors {
            waiting[*child as usize] -= 1;
            if waiting[*child as usize] == 0 {
                ready.push(Reverse(ranks[*child as usize]));
            }
        }
    }
    order
}

/// Returns the number of edges from a place to every other, [`UNREACHED`] where there is no way.
pub(super) fn depths(entries: &[NodeRecord], root: u32) -> Vec<u32> {
    let mut depths = vec![UNREACHED; entries.len()];
    depths[root as usize] = 0;
    let mut queue = vec![root];
    let mut next = 0;
    while let Some(place) = queue.get(next).copied() {
        next += 1;
        for child in &entries[place as usize].successors {
            if depths[*child as usize] == UNREACHED {
                depths[*child as usize] = depths[place as usize] + 1;
                queue.push(*child);
            }
        }
    }
    depths
}

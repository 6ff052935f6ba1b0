//! The graph: navigation nodes, items as leaves, edges without a cycle.

use super::nodes::{self, NodeRecord};
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::JsonMap;
use contextweaver_text::quote::quote;

/// Children of one node, unless the caller says otherwise.
pub const MAX_CHILDREN: u64 = 20;
/// Id of the root, unless the graph says otherwise.
pub const ROOT: &str = "root";

/// Navigation nodes over a catalog's items. Edges never close a cycle.
#[derive(Debug, Clone)]
pub struct ChoiceGraph {
    /// Id of the root.
    pub root_id: String,
    /// Most children of one node, as the builder was told.
    pub max_children: u64,
    /// Who built the graph, how and of which catalog.
    pub build_meta: JsonMap,
    /// Returns the number of places; they are numbered from 0.
    places: SortedMap<String, usize>,
    entries: Vec<NodeRecord>,
}

impl Default for ChoiceGraph {
    fn default() -> Self {
        Self::new(MAX_CHILDREN)
    }
}

impl ChoiceGraph {
    /// Makes an empty graph.
    pub fn new(max_children: u64) -> Self {
        Self {
            root_id: ROOT.to_owned(),
            max_children,
            build_meta: JsonMap::new(),
            places: SortedMap::new(),
            entries: Vec::new(),
        }
    }

    /// Adds a node, or overwrites the label and the hint of one with those that are not empty.
    pub fn add_node(&mut self, id: &str, label: &str, hint: &str) {
        let place = self.ensure_node(id);
        let entry = &mut self.entries[place];
        for (field, text) in [(&mut entry.label, label), (&mut entry.hint, hint)] {
            if !text.is_empty() {
                text.clone_into(field);
            }
        }
    }

    /// Marks an id as an item, whether or not there is a node for it.
    pub fn add_item(&mut self, id: &str) {
        let place = self.ensure(id);
        self.entries[place].is_item = true;
    }

    /// Adds an edge, and its ends where they are missing.
    ///
    /// # Errors
    ///
    /// Fails with `GRAPH_INVALID` and the detail `cycle` when the edge would close one; its ends stay.
    pub fn add_edge(&mut self, source: &str, target: &str) -> Result<()> {
        let (from, to) = (self.ensure_node(source), self.ensure_node(target));
        if let Some(cycle) = nodes::closed_by(&self.entries, from as u32, to as u32) {
            return Err(self.cycle_error(&cycle));
        }
        let found = self.entries[from].successors.binary_search_by(|place| self.id(*place).cmp(target));
        if let Err(at) = found {
            let is_item = self.entries[to].is_item;
            self.entries[from].successors.insert(at, to as u32);
            self.entries[from].children.push((to as u32, is_item));
            self.entries[to].parents.push(from as u32);
        }
        Ok(())
    }

    /// Adds many edges to a graph that has none, in time linear in them.
    ///
    /// Fails where adding them one by one would have failed first. Children are in the order of their ids.
    pub(super) fn add_edges(&mut self, edges: &[(u32, u32)]) -> Result<()> {
        let count = nodes::free_edges(self.entries.len(), edges);
        for (from, to) in &edges[..count] {
            self.entries[*from as usize].successors.push(*to);
        }
        let mut ranks = vec![0; self.entries.len()];
        for (rank, place) in self.places.values().enumerate() {
            ranks[*place] = rank;
        }
        for place in 0..self.entries.len() {
            let mut successors = std::mem::take(&mut self.entries[place].successors);
            sort_by(&mut successors, |a, b| ranks[*a as usize].cmp(&ranks[*b as usize]));
            successors.dedup();
            for child in &successors {
                let is_item = self.entries[*child as usize].is_item;
                self.entries[place].children.push((*child, is_item));
                self.entries[*child as usize].parents.push(place as u32);
            }
            self.entries[place].successors = successors;
        }
        match edges.get(count).and_then(|(from, to)| nodes::closed_by(&self.entries, *from, *to)) {
            None => Ok(()),
            Some(cycle) => Err(self.cycle_error(&cycle)),
        }
    }

    fn cycle_error(&self, cycle: &[u32]) -> Error {
        let ids: Vec<&str> = cycle.iter().map(|place| self.id(*place)).collect();
        let ends = [ids[0], ids.get(1).copied().unwrap_or(ids[0])];
        let message = format!("the edge from {} to {} closes a cycle", quote(ends[0]), quote(ends[1]));
        Error::new(ErrorCode::GraphInvalid, message).detail("cycle", ids)
    }

    /// Returns the place of an id, which is known afterwards.
    pub(super) fn ensure(&mut self, id: &str) -> usize {
        if let Some(place) = self.places.get(id) {
            return *place;
        }
        let place = self.entries.len();
        self.entries.push(NodeRecord { id: id.to_owned(), ..NodeRecord::default() });
        self.places.insert(id.to_owned(), place);
        place
    }

    /// Returns the place of an id, which is that of a node afterwards.
    pub(super) fn ensure_node(&mut self, id: &str) -> usize {
        let place = self.ensure(id);
        self.entries[place].is_node = true;
        place
    }

    pub(super) fn entry(&self, place: u32) -> &NodeRecord {
        &self.entries[place as usize]
    }

    pub(super) fn entry_mut(&mut self, place: usize) -> &mut NodeRecord {
        &mut self.entries[place]
    }

    pub(super) fn entries(&self) -> &[NodeRecord] {
        &self.entries
    }

    /// Returns what is known of the ids, in their order.
    pub(super) fn sorted(&self) -> impl Iterator<Item = &NodeRecord> {
        self.places.values().map(|place| &self.entries[*place])
    }

    fn node(&self, id: &str) -> Option<&NodeRecord> {
        self.places.get(id).map(|place| &self.entries[*place]).filter(|entry| entry.is_node)
    }

    /// Returns the place of an id, by which the graph is walked faster than by ids.
    pub fn place(&self, id: &str) -> Option<u32> {
        self.places.get(id).map(|place| *place as u32)
    }

    /// Returns how many places there are.
    pub fn places(&self) -> usize {
        self.entries.len()
    }

    /// Returns the id at a place.
    pub fn id(&self, place: u32) -> &str {
        &self.entry(place).id
    }

    /// Returns the places of the children of a place, in the order of their ids.
    pub fn children_at(&self, place: u32) -> &[u32] {
        &self.entry(place).successors
    }

    /// Returns the places of the parents of a place.
    pub fn parents_at(&self, place: u32) -> &[u32] {
        &self.entry(place).parents
    }

    /// Tells whether an item is at a place.
    pub fn is_item_at(&self, place: u32) -> bool {
        self.entry(place).is_item
    }

    /// Tells whether an id is that of an item.
    pub fn is_item(&self, id: &str) -> bool {
        self.place(id).is_some_and(|place| self.is_item_at(place))
    }

    /// Tells whether there is a node of this id.
    pub fn has_node(&self, id: &str) -> bool {
        self.node(id).is_some()
    }

    /// Returns the label and the hint of a node.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn label(&self, id: &str) -> Result<(&str, &str)> {
        let entry = self.found(id)?;
        Ok((&entry.label, &entry.hint))
    }

    pub(super) fn found(&self, id: &str) -> Result<&NodeRecord> {
        self.node(id).ok_or_else(|| Error::new(ErrorCode::NotFound, format!("the graph has no node {}", quote(id))))
    }

    /// Returns the ids of the children of a node, sorted.
    pub fn successors(&self, id: &str) -> Vec<&str> {
        let places = self.node(id).map(|entry| entry.successors.as_slice()).unwrap_or_default();
        places.iter().map(|place| self.id(*place)).collect()
    }

    /// Returns the ids of the parents of a node, sorted.
    pub fn predecessors(&self, id: &str) -> Vec<&str> {
        let places = self.node(id).map(|entry| entry.parents.as_slice()).unwrap_or_default();
        let mut ids: Vec<&str> = places.iter().map(|place| self.id(*place)).collect();
        contextweaver_base::order::sort(&mut ids);
        ids
    }

    /// Returns the ids of the nodes without a parent, sorted.
    pub fn roots(&self) -> Vec<&str> {
        let roots = self.sorted().filter(|entry| entry.is_node && entry.parents.is_empty());
        roots.map(|entry| entry.id.as_str()).collect()
    }

    /// Returns the ids of all nodes, those of items among them, sorted.
    pub fn nodes(&self) -> Vec<&str> {
        self.sorted().filter(|entry| entry.is_node).map(|entry| entry.id.as_str()).collect()
    }

    /// Returns the ids of the items, sorted.
    pub fn items(&self) -> Vec<&str> {
        self.sorted().filter(|entry| entry.is_item).map(|entry| entry.id.as_str()).collect()
    }

    /// Returns the ids of the nodes, parents before children and else in their order.
    pub fn topological_order(&self) -> Vec<&str> {
        let mut ranks = vec![0; self.entries.len()];
        let sorted: Vec<usize> = self.places.values().copied().collect();
        for (rank, place) in sorted.iter().enumerate() {
            ranks[*place] = rank as u32;
        }
        let order = nodes::topological(&self.entries, &ranks, &sorted);
        order.into_iter().map(|place| &self.entries[place]).filter(|e| e.is_node).map(|e| e.id.as_str()).collect()
    }

    /// Checks that the root exists and that every item can be reached from it.
    ///
    /// # Errors
    ///
    /// Fails with `GRAPH_INVALID` and the detail `missing_root` or `unreachable` (at most twenty ids).
    pub fn validate(&self) -> Result<()> {
        let Some(root) = self.place(&self.root_id).filter(|place| self.entry(*place).is_node) else {
            let message = format!("the graph has no root {}", quote(&self.root_id));
            return Err(Error::new(ErrorCode::GraphInvalid, message).detail("missing_root", self.root_id.clone()));
        };
        let depths = nodes::depths(&self.entries, root);
        let is_lost = |entry: &&NodeRecord| {
            entry.is_item && self.places.get(&entry.id).is_some_and(|place| depths[*place] == nodes::UNREACHED)
        };
        let lost: Vec<&str> = self.sorted().filter(is_lost).map(|entry| entry.id.as_str()).collect();
        if lost.is_empty() {
            return Ok(());
        }
        let message = format!("{} items cannot be reached from the root, the first is {}", lost.len(), quote(lost[0]));
        Err(Error::new(ErrorCode::GraphInvalid, message).detail("unreachable", lost[..lost.len().min(20)].to_vec()))
    }
}

impl PartialEq for ChoiceGraph {
    fn eq(&self, other: &Self) -> bool {
        serde_json::json!(self) == serde_json::json!(other)
    }
}

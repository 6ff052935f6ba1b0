//! The graph as JSON.

use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::choice_graph::{ChoiceGraph, MAX_CHILDREN, ROOT};
use super::nodes::NodeRecord;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, as_string, pointer, to_sorted_ascii, wrong_type};

/// Largest number of children a graph may name for a node.
const MOST_CHILDREN: u64 = 1 << 20;

/// A node within its graph.
struct NodeJson<'a>(&'a ChoiceGraph, &'a NodeRecord);

/// The children of a node with their types.
struct ChildTypesJson<'a>(&'a ChoiceGraph, &'a NodeRecord);

impl Serialize for ChildTypesJson<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let kinds = ["node", "item"];
        s.collect_map(self.1.children.iter().map(|(child, is_item)| (self.0.id(*child), kinds[usize::from(*is_item)])))
    }
}

impl Serialize for NodeJson<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let Self(graph, entry) = self;
        let children: Vec<&str> = entry.children.iter().map(|(child, _)| graph.id(*child)).collect();
        let mut form = s.serialize_struct("ChoiceNode", 6)?;
        form.serialize_field("node_id", &entry.id)?;
        form.serialize_field("label", &entry.label)?;
        form.serialize_field("routing_hint", &entry.hint)?;
        form.serialize_field("children", &children)?;
        form.serialize_field("child_types", &ChildTypesJson(graph, entry))?;
        form.serialize_field("stats", &entry.stats)?;
        form.end()
    }
}

/// The nodes of a graph, or its edges.
struct NodesJson<'a>(&'a ChoiceGraph, bool);

impl Serialize for NodesJson<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let Self(graph, edges) = self;
        let nodes = graph.sorted().filter(|entry| entry.is_node);
        if *edges {
            return s.collect_map(nodes.map(|entry| (&entry.id, graph.successors(&entry.id))));
        }
        s.collect_map(nodes.map(|entry| (&entry.id, NodeJson(graph, entry))))
    }
}

impl Serialize for ChoiceGraph {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut form = s.serialize_struct("ChoiceGraph", 6)?;
        form.serialize_field("root_id", &self.root_id)?;
        form.serialize_field("nodes", &NodesJson(self, false))?;
        form.serialize_field("items", &self.items())?;
        form.serialize_field("edges", &NodesJson(self, true))?;
        form.serialize_field("max_children", &self.max_children)?;
        form.serialize_field("build_meta", &self.build_meta)?;
        form.end()
    }
}

impl ChoiceGraph {
    /// Reads a graph and builds it anew from its edges; unknown fields are ignored.
    ///
    /// Call [`Self::validate`] on what comes from a store.
    ///
    /// # Errors
    ///
    /// Fails with `GRAPH_INVALID` and the detail `cycle` when an edge closes one.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut graph = Self::new(fields.uint_or("max_children", MAX_CHILDREN, MOST_CHILDREN)?);
        graph.root_id = fields.string_or("root_id", ROOT)?;
        graph.build_meta = fields.object("build_meta")?;
        let at = fields.at("nodes");
        for (id, node) in fields.object("nodes")? {
            graph.read_node(&id, node, &pointer(&at, &id))?;
        }
        for id in fields.strings("items")? {
            graph.add_item(&id);
        }
        let at = fields.at("edges");
        let mut edges = Vec::new();
        for (source, targets) in fields.object("edges")? {
            let at = pointer(&at, &source);
            let Value::Array(targets) = targets else { return Err(wrong_type(&at, "an array", &targets)) };
            // A source without targets is no node of its own.
            for (index, target) in targets.into_iter().enumerate() {
                let target = as_string(target, &format!("{at}/{index}"))?;
                let (from, to) = (graph.ensure_node(&source), graph.ensure_node(&target));
                edges.push((from as u32, to as u32));
            }
        }
        graph.add_edges(&edges).map_err(|error| error.at(at))?;
        Ok(graph)
    }

    /// Reads a graph from a store and checks that it is one.
    ///
    /// # Errors
    ///
    /// Fails as [`Self::from_value`] does, and with `GRAPH_INVALID` for a graph with unreachable or missing nodes.
    pub fn load(value: Value, path: &str) -> Result<Self> {
        let graph = Self::from_value(value, path)?;
        graph.validate().map_err(|error| error.at(path))?;
        Ok(graph)
    }

    fn read_node(&mut self, key: &str, value: Value, path: &str) -> Result<()> {
        let mut fields = Fields::open(value, path)?;
        let id = fields.string("node_id")?;
        if id != key {
            let message = "a node must have the id it is listed under";
            return Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at("node_id")));
        }
        let (label, hint) = (fields.string_or("label", "")?, fields.string_or("routing_hint", "")?);
        let stats = fields.object("stats")?;
        let place = self.ensure_node(key);
        let entry = self.entry_mut(place);
        (entry.label, entry.hint, entry.stats) = (label, hint, stats);
        Ok(())
    }

    /// Returns one node as JSON.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn node_value(&self, id: &str) -> Result<Value> {
        Ok(json!(NodeJson(self, self.found(id)?)))
    }

    /// Writes the graph as a file of contextweaver 0.18: keys sorted, two spaces a level, a line feed at the end.
    pub fn to_text(&self) -> String {
        to_sorted_ascii(&json!(self), Some(2)) + "\n"
    }
}

impl<'de> Deserialize<'de> for ChoiceGraph {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        Self::from_value(Value::deserialize(deserializer)?, "").map_err(serde::de::Error::custom)
    }
}

//! A balanced tree over a catalog.
//!
//! The tools are sorted by namespace and name, and every node stands for a stretch of that list. A stretch is split by
//! the next segment of its namespaces, by several segments at a time where they are too many, and evenly where the
//! namespaces end or the tree would become too deep. A tree over n tools is at most two levels deeper than the lowest
//! possible one.
//!
//! Ids of navigation nodes are browse paths, `/billing/invoices`; where a tool has that very id the node's ends in
//! `~2`. A tool can thus never stand for a node.

use super::choice_graph::ChoiceGraph;
use super::keys::{SiblingKeys, key_bytes, least_depth};
use super::manifest::GraphManifest;
use super::options::BuildOptions;
use super::split::{Splitter, ToolGroup};
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_text::quote::quote;

/// A node whose children are still to be found.
struct OpenNode {
    part: ToolGroup,
    path: String,
    place: u32,
    /// Levels there may be below.
    depth: u32,
}

/// Builds a tree over tools in any order; `catalog_hash` goes into its manifest.
///
/// # Errors
///
/// Fails with `NO_CANDIDATES` without tools, `DUPLICATE_ID` when two have one id, and `OUT_OF_RANGE` when an option is
/// zero or one child a node is too few.
///
/// # Examples
///
/// ```
/// # use contextweaver_routing::Catalog;
/// # use serde_json::json;
/// # let catalog = Catalog::from_value(json!({ "items": [
/// #     { "id": "files.read", "kind": "tool", "name": "read_file", "description": "Read a file from the disk." },
/// #     { "id": "mail.send", "kind": "tool", "name": "send_mail", "description": "Send an email to a person." },
/// # ] }), "")?;
///
/// use contextweaver_routing::graph::{BuildOptions, build};
///
/// let items: Vec<_> = catalog.items().collect();
/// let graph = build(&items, BuildOptions::default(), &catalog.fingerprint())?;
/// assert_eq!(graph.stats().total_items, 2);
/// assert!(graph.is_item("mail.send"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn build(items: &[&SelectableItem], options: BuildOptions, catalog_hash: &str) -> Result<ChoiceGraph> {
    let mut graph = grow(items, options, true)?;
    let manifest = GraphManifest {
        catalog_hash,
        items: items.len(),
        strategy: options.strategy.as_str(),
        max_depth: graph.max_depth(),
        max_children: options.max_children as u64,
        tree_builder: "balanced-1",
        labeler: "words-1",
    };
    graph.build_meta = manifest.build_meta();
    graph.validate()?;
    Ok(graph)
}

/// Builds the same tree without the labels and the manifest: to say where tools are, it is enough, and their texts need
/// not be read.
///
/// # Errors
///
/// Fails as [`build`] does.
pub fn outline(items: &[&SelectableItem], options: BuildOptions) -> Result<ChoiceGraph> {
    grow(items, options, false)
}

fn grow(items: &[&SelectableItem], options: BuildOptions, has_labels: bool) -> Result<ChoiceGraph> {
    options.check(items.len())?;
    if items.is_empty() {
        return Err(Error::new(ErrorCode::NoCandidates, "there is no tool to build a tree of"));
    }
    let mut sorted = items.to_vec();
    sort_by(&mut sorted, |a, b| a.id.cmp(&b.id));
    if let Some(pair) = sorted.windows(2).find(|pair| pair[0].id == pair[1].id) {
        return Err(Error::new(ErrorCode::DuplicateId, format!("two tools have the id {}", quote(&pair[0].id))));
    }
    let mut graph = ChoiceGraph::new(options.max_children as u64);
    for item in &sorted {
        graph.add_item(&item.id);
    }
    let bytes = key_bytes(items.len(), options.max_children);
    let depth = least_depth(items.len(), options.max_children) + 2;
    let mut splitter = Splitter::new(sorted, options, bytes, has_labels);
    graph.root_id = free_id(&graph, "/");
    let root = graph.root_id.clone();
    graph.add_node(&root, "All tools", "All available tools");
    let place = graph.ensure_node(&root) as u32;
    let mut open = vec![OpenNode { part: splitter.whole(), path: String::new(), place, depth }];
    let mut edges = Vec::new();
    while let Some(OpenNode { part, path, place, depth }) = open.pop() {
        let mut keys = SiblingKeys::default();
        for child in splitter.split(&part, depth) {
            if let Some(item) = splitter.only_item(&child) {
                edges.push((place, graph.ensure_node(&item.id) as u32));
                continue;
            }
            let path = format!("{path}/{}", keys.take(child.key.clone(), bytes));
            let id = free_id(&graph, &path);
            if has_labels {
                let (label, hint) = splitter.label(&child);
                graph.add_node(&id, &label, &hint);
            }
            let below = graph.ensure_node(&id) as u32;
            edges.push((place, below));
            open.push(OpenNode { part: child, path, place: below, depth: depth - 1 });
        }
    }
    graph.add_edges(&edges)?;
    Ok(graph)
}

/// Returns the id of the node at a path, another one than any tool has.
fn free_id(graph: &ChoiceGraph, path: &str) -> String {
    let mut id = path.to_owned();
    let mut number = 2;
    while graph.is_item(&id) {
        id = format!("{path}~{number}");
        number += 1;
    }
    id
}

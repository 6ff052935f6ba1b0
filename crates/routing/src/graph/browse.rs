//! Looking at a catalog level by level, page by page.
//!
//! A path leads to a node of the tree, or to a namespace wherever the tree has put its tools; an id leads to a tool or
//! a node. Every page names the paths and ids that lead on, so that everything can be reached.

use serde::Serialize;

use super::ChoiceGraph;
use super::keys::{SiblingKeys, key_bytes, slug};
use super::path;
use contextweaver_base::Result;
use contextweaver_base::order::sort_by;
use contextweaver_model::SelectableItem;
use contextweaver_model::json::Fields;
use contextweaver_text::redact::mask_secrets;

/// Children on a page, unless the caller says otherwise.
pub const PAGE_SIZE: u64 = 50;
/// Most children on a page.
pub const MAX_PAGE_SIZE: u64 = 200;
/// Levels of namespaces that have a page of their own.
const MAX_LEVELS: usize = 32;

/// Part of the children that a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageOptions {
    /// Number of children that are skipped.
    pub offset: u64,
    /// Most children, up to 200.
    pub limit: u64,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self { offset: 0, limit: PAGE_SIZE }
    }
}

impl PageOptions {
    /// Takes the options out of an object that may have others.
    ///
    /// # Errors
    ///
    /// Fails with `OUT_OF_RANGE`, with the path of the field.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        let limit = fields.uint_or("limit", PAGE_SIZE, MAX_PAGE_SIZE)?;
        // A page without children would never lead on.
        Ok(Self { offset: fields.uint_or("offset", 0, 1 << 53)?, limit: limit.max(1) })
    }
}

/// A node or a tool on a page.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct BrowseChild {
    /// `node` or `item`.
    #[cfg_attr(feature = "ts", ts(type = "\"node\" | \"item\""))]
    pub kind: &'static str,
    /// Path of the page of a node; absent for a tool.
    pub path: Option<String>,
    /// Id of the node or of the tool; a namespace of which the tree has no node has none.
    pub id: Option<String>,
    /// Name for people.
    pub label: String,
    /// Tools below, 1 for a tool.
    pub items: u64,
}

/// Some of the children of a node, or a single tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct BrowsePage {
    /// Path of this page.
    pub path: String,
    /// Name for people.
    pub label: String,
    /// One sentence about the tools below.
    pub hint: String,
    /// The children from `offset` on.
    pub children: Vec<BrowseChild>,
    /// Children in all.
    pub total: u64,
    /// `offset` of the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub next: Option<u64>,
}

/// A namespace with those below it.
#[derive(Debug, Clone, Default)]
struct NamespaceNode {
    name: String,
    key: String,
    parent: usize,
    below: Vec<usize>,
    /// Places of the tools that are in the namespace itself.
    tools: Vec<u32>,
    items: u64,
}

/// What browsing a graph needs to know beside it. Made once for a graph and its catalog.
#[derive(Debug, Clone, Default)]
pub struct BrowseIndex {
    /// Names of the tools by place.
    names: Vec<String>,
    /// Tools below each place.
    counts: Vec<u64>,
    /// Namespaces; the first is the one without a name.
    spaces: Vec<NamespaceNode>,
}

impl BrowseIndex {
    /// Reads a graph and its tools; those that are not in the graph are left out.
    pub fn new(graph: &ChoiceGraph, items: &[&SelectableItem]) -> Self {
        let mut index = Self {
            names: vec![String::new(); graph.places()],
            counts: vec![0; graph.places()],
            spaces: vec![NamespaceNode::default()],
        };
        let mut tools: Vec<(Vec<&str>, u32)> = Vec::new();
        for item in items {
            let Some(place) = graph.place(&item.id).filter(|place| graph.is_item_at(*place)) else { continue };
            index.names[place as usize].clone_from(item.title.as_ref().unwrap_or(&item.name));
            let segments = item.namespace.split('.').filter(|segment| !segment.is_empty());
            tools.push((segments.take(MAX_LEVELS).collect(), place));
        }
        sort_by(&mut tools, |a, b| a.0.cmp(&b.0).then_with(|| graph.id(a.1).cmp(graph.id(b.1))));
        index.read_spaces(graph, &tools, key_bytes(graph.items().len(), graph.max_children as usize));
        index.count(graph);
        index
    }

    fn read_spaces(&mut self, graph: &ChoiceGraph, tools: &[(Vec<&str>, u32)], bytes: usize) {
        let mut way: Vec<(usize, &str, SiblingKeys)> = vec![(0, "", SiblingKeys::default())];
        for (segments, place) in tools {
            let shared = way[1..].iter().zip(segments).take_while(|((_, known, _), segment)| known == *segment).count();
            way.truncate(shared + 1);
            for segment in &segments[shared..] {
                let space = self.spaces.len();
                let Some((parent, _, keys)) = way.last_mut() else { break };
                let base = self.space_path(*parent) + "/";
                // Namespaces that differ in case only have one slug, and the node there may be that of another one.
                let is_foreign = |key: &str| {
                    node_at(graph, &format!("{base}{key}")).is_some_and(|node| !is_below(graph, *place, node))
                };
                let mut wanted = slug(segment, bytes);
                let mut number = 2;
                while is_foreign(&wanted) {
                    wanted = format!("{}-{number}", slug(segment, bytes.saturating_sub(4)));
                    number += 1;
                }
                let mut key = keys.take(wanted.clone(), bytes);
                while is_foreign(&key) {
                    key = keys.take(wanted.clone(), bytes);
                }
                let above = &self.spaces[*parent].name;
                let name = if above.is_empty() { (*segment).to_owned() } else { format!("{above}.{segment}") };
                self.spaces[*parent].below.push(space);
                self.spaces.push(NamespaceNode { name, key, parent: *parent, ..NamespaceNode::default() });
                way.push((space, segment, SiblingKeys::default()));
            }
            for (space, _, _) in &way {
                self.spaces[*space].items += 1;
            }
            if let Some((space, _, _)) = way.last() {
                self.spaces[*space].tools.push(*place);
            }
        }
    }

    /// Counts the tools below every place, children before parents.
    fn count(&mut self, graph: &ChoiceGraph) {
        let all = graph.items().len() as u64;
        for id in graph.topological_order().into_iter().rev() {
            let Some(place) = graph.place(id) else { continue };
            let below: u64 = graph.children_at(place).iter().map(|child| self.counts[*child as usize]).sum();
            // Below several parents a tool would count more than once.
            self.counts[place as usize] = (below + u64::from(graph.is_item_at(place))).min(all);
        }
    }

    /// Returns a page of what is at a path: a node of the tree, a namespace, or a tool the path names.
    ///
    /// # Errors
    ///
    /// Fails with `INVALID_INPUT` when it is no path, and `NOT_FOUND` when nothing is there.
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
    /// use contextweaver_routing::graph::{BrowseIndex, BuildOptions, PageOptions, build};
    ///
    /// let items: Vec<_> = catalog.items().collect();
    /// let graph = build(&items, BuildOptions::default(), "")?;
    /// let browse = BrowseIndex::new(&graph, &items);
    /// let page = browse.browse(&graph, "/", PageOptions::default())?;
    /// assert_eq!(page.path, "/");
    /// assert_eq!(page.children.iter().map(|child| child.items).sum::<u64>(), 2);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn browse(&self, graph: &ChoiceGraph, path: &str, page: PageOptions) -> Result<BrowsePage> {
        let mut segments = path::parse(path)?;
        if segments.last() == Some(&"*") {
            segments.pop();
        }
        let at = format!("/{}", segments.join("/"));
        if let Some(place) = node_at(graph, &at) {
            return Ok(self.node_page(graph, place, &at, page));
        }
        if let Some(space) = self.space_at(&segments) {
            return Ok(self.space_page(graph, space, &at, page));
        }
        let place = path::find(graph, &segments).ok_or_else(|| path::not_found(path))?;
        Ok(self.node_page(graph, place, &at, page))
    }

    /// Returns the page of a node, or of a tool with nothing but the tool.
    ///
    /// # Errors
    ///
    /// Fails with `NOT_FOUND`.
    pub fn browse_id(&self, graph: &ChoiceGraph, id: &str, page: PageOptions) -> Result<BrowsePage> {
        let place = graph.place(id).ok_or_else(|| path::not_found(id))?;
        let shown = if graph.is_item_at(place) { graph.parents_at(place).first().copied() } else { Some(place) };
        let at = shown.map_or_else(|| "/".to_owned(), |place| path_of(graph, place));
        Ok(self.node_page(graph, place, &at, page))
    }

    fn node_page(&self, graph: &ChoiceGraph, place: u32, path: &str, page: PageOptions) -> BrowsePage {
        let (label, hint) = graph.label(graph.id(place)).unwrap_or_default();
        let mut children = graph.children_at(place).to_vec();
        if children.is_empty() && graph.is_item_at(place) {
            let name = &self.names[place as usize];
            return cut(path, name, "", &[place], page, |place| self.child(graph, *place));
        }
        // Groups first, then tools.
        sort_by(&mut children, |a, b| graph.is_item_at(*a).cmp(&graph.is_item_at(*b)));
        cut(path, label, hint, &children, page, |place| self.child(graph, *place))
    }

    fn child(&self, graph: &ChoiceGraph, place: u32) -> BrowseChild {
        let id = graph.id(place);
        let items = self.counts[place as usize];
        if graph.is_item_at(place) {
            let label = mask_secrets(&self.names[place as usize]).into_owned();
            return BrowseChild { kind: "item", path: None, id: Some(id.to_owned()), label, items };
        }
        let label = graph.label(id).map(|(label, _)| mask_secrets(label).into_owned()).unwrap_or_default();
        BrowseChild { kind: "node", path: Some(path_of(graph, place)), id: Some(id.to_owned()), label, items }
    }

    fn space_page(&self, graph: &ChoiceGraph, space: usize, path: &str, page: PageOptions) -> BrowsePage {
        let NamespaceNode { name, below, tools, .. } = &self.spaces[space];
        let below = below.iter().map(|space| (true, *space as u32));
        let children: Vec<(bool, u32)> = below.chain(tools.iter().map(|place| (false, *place))).collect();
        let hint = format!("Tools of the namespace {name}");
        cut(path, name, &hint, &children, page, |(is_space, index)| {
            if !is_space {
                return self.child(graph, *index);
            }
            let NamespaceNode { name, items, .. } = &self.spaces[*index as usize];
            let path = Some(self.space_path(*index as usize));
            BrowseChild { kind: "node", path, id: None, label: mask_secrets(name).into_owned(), items: *items }
        })
    }

    fn space_at(&self, segments: &[&str]) -> Option<usize> {
        let mut space = 0;
        for segment in segments {
            let below = &self.spaces[space].below;
            space = *below.iter().find(|space| self.spaces[**space].key == *segment)?;
        }
        (space > 0).then_some(space)
    }

    fn space_path(&self, mut space: usize) -> String {
        let mut keys = Vec::new();
        while space > 0 {
            keys.push(self.spaces[space].key.as_str());
            space = self.spaces[space].parent;
        }
        keys.push("");
        keys.reverse();
        keys.join("/")
    }

    /// Returns the paths of all namespaces with their names, for listing what there is.
    pub fn namespaces(&self) -> Vec<(String, &str)> {
        (1..self.spaces.len()).map(|space| (self.space_path(space), self.spaces[space].name.as_str())).collect()
    }
}

/// Tells whether a place is at or below a node of a tree.
fn is_below(graph: &ChoiceGraph, mut place: u32, node: u32) -> bool {
    while place != node {
        let Some(parent) = graph.parents_at(place).first() else { return false };
        place = *parent;
    }
    true
}

/// Returns the place of the node a builder put at a path.
fn node_at(graph: &ChoiceGraph, path: &str) -> Option<u32> {
    if path == "/" {
        return graph.place(&graph.root_id);
    }
    let mut id = path.to_owned();
    let mut number = 2;
    while graph.is_item(&id) {
        id = format!("{path}~{number}");
        number += 1;
    }
    graph.place(&id)
}

/// Returns the path of a node.
fn path_of(graph: &ChoiceGraph, place: u32) -> String {
    let id = graph.id(place);
    if id == graph.root_id {
        return "/".to_owned();
    }
    let id = id.strip_prefix(graph.root_id.as_str()).filter(|rest| rest.starts_with('/')).unwrap_or(id);
    id.split('~').next().unwrap_or(id).to_owned()
}

/// Makes the page of some children.
fn cut<T>(
    path: &str,
    label: &str,
    hint: &str,
    all: &[T],
    page: PageOptions,
    child: impl Fn(&T) -> BrowseChild,
) -> BrowsePage {
    let start = (page.offset.min(all.len() as u64)) as usize;
    let end = start.saturating_add(page.limit as usize).min(all.len());
    BrowsePage {
        path: path.to_owned(),
        label: mask_secrets(label).into_owned(),
        hint: mask_secrets(hint).into_owned(),
        children: all[start..end].iter().map(child).collect(),
        total: all.len() as u64,
        next: (end < all.len()).then_some(end as u64),
    }
}

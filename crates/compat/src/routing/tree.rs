//! The tree of 0.18 over a catalog, with its defects: tools of two large namespaces may vanish, and depth grows with
//! the number of tools. [`contextweaver_routing::graph::build()`] makes a better one.

use contextweaver_base::order::{SortedMap, sort, sort_by};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::SelectableItem;
use contextweaver_routing::graph::ChoiceGraph;
use contextweaver_routing::graph::choice_graph::MAX_CHILDREN;
use contextweaver_routing::graph::cluster::cluster_words;
use contextweaver_routing::graph::labels::{LABEL_WORDS, NAMESPACE_SHARE, label_group};
use contextweaver_routing::graph::manifest::GraphManifest;
use contextweaver_routing::graph::words::Vocabulary;

/// Bytes of all ids of navigation nodes; they grow with the cube of the number of tools.
const MAX_ID_BYTES: usize = 64 << 20;

/// How the tree is to be built.
#[derive(Debug, Clone, Copy)]
pub struct TreeOptions {
    /// Most children of a node.
    pub max_children: usize,
    /// Tools wanted in a cluster.
    pub target_group_size: usize,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self { max_children: MAX_CHILDREN as usize, target_group_size: MAX_CHILDREN as usize }
    }
}

/// Places of tools by the key of their group.
type NamedGroups = SortedMap<String, Vec<usize>>;

/// Tools in the order of their ids, with their words.
struct TreeBuilder<'a> {
    items: Vec<&'a SelectableItem>,
    words: Vec<Vec<u32>>,
    options: TreeOptions,
}

/// Builds the tree; `catalog_hash` goes into its manifest.
///
/// # Errors
/// `OUT_OF_RANGE` when an option is zero, or one child a node is too few for several tools; `NO_CANDIDATES` without tools;
/// `GRAPH_INVALID` when the id of a tool is that of a generated node and that closes a cycle; `TOO_LARGE` when the ids of
/// the nodes exceed 64 MiB.
pub fn build(items: &[&SelectableItem], options: TreeOptions, catalog_hash: &str) -> Result<ChoiceGraph> {
    let least = if items.len() > 1 { 2 } else { 1 };
    for (name, value, least) in
        [("max_children", options.max_children, least), ("target_group_size", options.target_group_size, 1)]
    {
        if value < least {
            let message = format!("{name} must be at least {least}");
            return Err(Error::new(ErrorCode::OutOfRange, message).at(format!("/{name}")));
        }
    }
    if items.is_empty() {
        return Err(Error::new(ErrorCode::NoCandidates, "there is no tool to build a tree of"));
    }
    let mut sorted: Vec<&SelectableItem> = items.to_vec();
    sort_by(&mut sorted, |a, b| a.id.cmp(&b.id));
    let mut numbers = Vocabulary::default();
    let words = sorted.iter().map(|item| numbers.of(item)).collect();
    let builder = TreeBuilder { items: sorted, words, options };
    let mut graph = builder.grow()?;
    let manifest = GraphManifest {
        catalog_hash,
        items: items.len(),
        strategy: "auto",
        max_depth: graph.max_depth(),
        max_children: options.max_children as u64,
        tree_builder: "1.0",
        labeler: "keyword-1.0",
    };
    graph.build_meta = manifest.build_meta();
    Ok(graph)
}

impl TreeBuilder<'_> {
    fn grow(&self) -> Result<ChoiceGraph> {
        let mut graph = ChoiceGraph::new(self.options.max_children as u64);
        let root = graph.root_id.clone();
        graph.add_node(&root, "root", "All available tools");
        for item in &self.items {
            graph.add_item(&item.id);
        }
        let mut open = vec![(root, (0..self.items.len()).collect::<Vec<usize>>())];
        let mut id_bytes = 0;
        while let Some((parent, mut places)) = open.pop() {
            // Merged groups come one after the other.
            sort(&mut places);
            if places.len() <= self.options.max_children {
                for place in places {
                    graph.add_edge(&parent, &self.items[place].id)?;
                }
                continue;
            }
            let mut nodes = Vec::new();
            for (key, group) in self.merge_last(self.split(&places)) {
                let id = format!("{parent}/{key}");
                id_bytes += id.len();
                if id_bytes > MAX_ID_BYTES {
                    let message = "the tree of these tools is too large";
                    return Err(Error::new(ErrorCode::TooLarge, message).hint("use the default builder"));
                }
                let tools = group.iter().map(|place| self.items[*place]);
                let (label, hint) = label_group(tools, LABEL_WORDS, NAMESPACE_SHARE);
                graph.add_node(&id, &label, &hint);
                graph.add_edge(&parent, &id)?;
                nodes.push((id, group));
            }
            open.extend(nodes.into_iter().rev());
        }
        Ok(graph)
    }

    fn split(&self, places: &[usize]) -> NamedGroups {
        let groups = self.by_namespace(places).or_else(|| self.by_likeness(places));
        groups.unwrap_or_else(|| self.by_name(places))
    }

    /// Merges the last two groups until there are few enough.
    fn merge_last(&self, groups: NamedGroups) -> Vec<(String, Vec<usize>)> {
        let mut groups: Vec<(String, Vec<usize>)> = groups.into_entries().collect();
        while groups.len() > self.options.max_children {
            let Some((last_key, last)) = groups.pop() else { break };
            let Some((mut key, mut group)) = groups.pop() else { break };
            key.push('+');
            key.push_str(&last_key);
            group.extend(last);
            // The merged key may stand elsewhere, even be taken.
            let at = groups.partition_point(|(known, _)| *known < key);
            groups.insert(at, (key, group));
        }
        groups
    }

    fn by_namespace(&self, places: &[usize]) -> Option<NamedGroups> {
        let named = places.iter().filter(|place| !self.items[**place].namespace.is_empty()).count();
        if named * 2 < places.len() {
            return None;
        }
        let first = |place: &usize| match self.items[*place].namespace.split('.').next() {
            Some(first) if !self.items[*place].namespace.is_empty() => first.to_owned(),
            _ => "_other".to_owned(),
        };
        let groups = grouped(places, first);
        if groups.len() < 2 {
            return None;
        }
        let mut result = NamedGroups::new();
        for (key, group) in groups.into_entries() {
            if group.len() <= self.options.max_children {
                result.insert(key, group);
            } else {
                // Keys of names lack the prefix, so that those of one namespace replace those of another.
                result.extend(self.by_next_segment(&group, &key).into_entries());
            }
        }
        (result.len() <= self.options.max_children).then_some(result)
    }

    fn by_next_segment(&self, places: &[usize], prefix: &str) -> NamedGroups {
        let next = |place: &usize| {
            let rest = self.items[*place].namespace.strip_prefix(prefix).unwrap_or_default();
            let segment = rest.trim_start_matches('.').split('.').next().filter(|segment| !segment.is_empty());
            format!("{prefix}.{}", segment.unwrap_or("_leaf"))
        };
        let groups = grouped(places, next);
        if groups.len() < 2 { self.by_name(places) } else { groups }
    }

    fn by_likeness(&self, places: &[usize]) -> Option<NamedGroups> {
        let TreeOptions { max_children, target_group_size } = self.options;
        let count = places.len().div_ceil(target_group_size).max(2).min(max_children);
        let words: Vec<&[u32]> = places.iter().map(|place| self.words[*place].as_slice()).collect();
        let mut groups = NamedGroups::new();
        for cluster in cluster_words(&words, count) {
            let cluster: Vec<usize> = cluster.into_iter().map(|index| places[index]).collect();
            for chunk in even_chunks(&cluster, max_children) {
                groups.insert(format!("cluster_{:03}", groups.len()), chunk.to_vec());
            }
        }
        (groups.len() >= 2).then_some(groups)
    }

    fn by_name(&self, places: &[usize]) -> NamedGroups {
        let mut sorted = places.to_vec();
        sort_by(&mut sorted, |a, b| self.lower_name(*a).cmp(&self.lower_name(*b)));
        let mut groups = NamedGroups::new();
        for chunk in even_chunks(&sorted, self.options.max_children) {
            let [first, last] = [chunk.first(), chunk.last()].map(|place| self.initial(place.copied().unwrap_or(0)));
            let base = if first == last { first } else { format!("{first}-{last}") };
            let mut key = base.clone();
            let mut count = 0;
            while groups.contains_key(&key) {
                count += 1;
                key = format!("{base}_{count}");
            }
            groups.insert(key, chunk.to_vec());
        }
        groups
    }

    fn lower_name(&self, place: usize) -> String {
        self.items[place].name.to_lowercase()
    }

    fn initial(&self, place: usize) -> String {
        self.items[place].name.chars().next().map_or_else(|| "?".to_owned(), |ch| ch.to_uppercase().collect())
    }
}

/// Puts places into groups by key.
fn grouped(places: &[usize], key: impl Fn(&usize) -> String) -> NamedGroups {
    let mut groups = NamedGroups::new();
    for place in places {
        groups.get_or_insert(&key(place), Vec::new()).push(*place);
    }
    groups
}

/// Cuts a list into as few parts of at most `most` as can be, the longer ones first.
fn even_chunks<T>(list: &[T], most: usize) -> impl Iterator<Item = &[T]> {
    let count = list.len().div_ceil(most.max(1)).max(1);
    let (size, longer) = (list.len() / count, list.len() % count);
    (0..count).map(move |index| {
        let start = index * size + index.min(longer);
        &list[start..start + size + usize::from(index < longer)]
    })
}

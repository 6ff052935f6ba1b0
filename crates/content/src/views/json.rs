//! Views of JSON: objects about errors, members of the outermost object, pages along the structure.

use serde_json::json;
use std::fmt::Write as _;

use super::{MAX_ERRORS, MAX_PAGES, PAGE, PageSpan, ViewList, cost, label, pack, window};
use crate::signals::Signal;
use crate::slice::{has_columns, one_line, push_index, push_key, squeeze};
use crate::tree::{JsonKind, JsonNode};
use contextweaver_model::ViewSpec;

/// Members of the outermost object that get a view.
const MAX_KEYS: usize = 10;
/// Most bytes of a leaf that is searched for errors.
const LEAF_BYTES: usize = 1000;

pub(super) fn views(list: &mut ViewList, root: JsonNode) {
    let mut page = PAGE;
    let mut pages = JsonPager { list: ViewList { artifact: list.artifact, specs: Vec::new() }, page };
    pages.value(root, &mut String::new());
    while pages.list.specs.len() > MAX_PAGES {
        page = (page * 2).max(root.raw().len() as u64 / MAX_PAGES as u64);
        pages = JsonPager { list: ViewList { artifact: list.artifact, specs: Vec::new() }, page };
        pages.value(root, &mut String::new());
    }
    let mut pages: Vec<ViewSpec> = pages.list.specs;
    if pages.len() > 1 {
        let mut errors = ErrorViews { list, found: 0, covered: 0 };
        errors.value(root, &mut String::new(), None);
    }
    list.add_written(pages.len(), true, has_columns(root));
    if pages.len() > 1 {
        for (key, value) in root.members().filter(|(_, value)| value.is_container()).take(MAX_KEYS) {
            let quarters = bounded_cost(value, PAGE).unwrap_or(value.raw().len() as u64);
            let name = format!("JSON key {} (~{} tokens)", one_line(&key), quarters / 4);
            if !list.specs.iter().any(|known| known.view_id.ends_with(&format!(":key:{key}"))) {
                list.add(&format!("key:{key}"), name, json!({ "type": "json_keys", "keys": [key] }));
            }
        }
    }
    list.specs.append(&mut pages);
}

/// Returns what a value costs as it is shown, in quarter tokens; `None` for one that is larger than any page, which is known
/// without looking at all of it.
fn bounded_cost(node: JsonNode, page: u64) -> Option<u64> {
    // Even mostly indentation, so many bytes are more than a page.
    if node.raw().len() as u64 > page.saturating_mul(8) {
        return None;
    }
    Some(cost(&squeeze(node.raw())) + 2)
}

struct JsonPager<'a> {
    list: ViewList<'a>,
    page: u64,
}

impl JsonPager<'_> {
    fn add(&mut self, path: &str, range: Option<(usize, usize)>, label: String) {
        let path = if path.is_empty() { "$" } else { path };
        let (id, selector) = match range {
            None => (format!("json:{path}"), json!({ "type": "json_path", "path": path })),
            Some((start, end)) => (
                format!("json:{path}:{start}-{end}"),
                json!({ "type": "json_path", "path": path, "start": start, "end": end }),
            ),
        };
        self.list.add(&id, label, selector);
    }

    /// Covers a value with pages; leaves `path` as it was.
    fn value(&mut self, node: JsonNode, path: &mut String) {
        if self.list.specs.len() > MAX_PAGES {
            return;
        }
        let name = if path.is_empty() { "All".to_owned() } else { format!("All of {}", one_line(path)) };
        match bounded_cost(node, self.page) {
            Some(quarters) if quarters <= self.page => {
                self.add(path, None, format!("{name} (~{} tokens)", quarters / 4));
            }
            _ if node.kind() == JsonKind::String => self.string(node, path),
            _ if node.is_container() => self.children(node, path),
            _ => self.add(path, None, name),
        }
    }

    fn children(&mut self, node: JsonNode, path: &mut String) {
        let keyed = node.kind() == JsonKind::Object;
        // A value larger than a page gets a span of its own: it costs more than a page by itself.
        let costs: Vec<u32> = node
            .entries()
            .map(|(key, value)| {
                let key = key.map_or(0, |key| cost(key.raw()) + 2);
                bounded_cost(value, self.page).map_or(self.page + 1, |cost| cost + key) as u32
            })
            .collect();
        let mut entries = node.entries();
        for PageSpan { start, end, quarters } in pack(&costs, self.page) {
            let keys: Vec<_> = entries.by_ref().take(end - start).collect();
            if self.list.specs.len() > MAX_PAGES {
                return;
            }
            let (key, value) = keys[0];
            if quarters > self.page {
                let mark = path.len();
                match key {
                    Some(key) => push_key(path, &key.text()),
                    None => push_index(path, start),
                }
                // Of a repeated key a path finds the last value only.
                if key.is_none_or(|key| node.get(&key.text()).is_some_and(|last| last.start() == value.start())) {
                    self.value(value, path);
                    path.truncate(mark);
                    continue;
                }
                path.truncate(mark);
            }
            let mut name = label(if keyed { "Keys" } else { "Items" }, start, end, node.len(), quarters);
            if !path.is_empty() {
                name = format!("{}: {name}", one_line(path));
            }
            let names: Vec<String> =
                keys.iter().take(5).filter_map(|(key, _)| Some(one_line(&key.as_ref()?.text()))).collect();
            if !names.is_empty() {
                let _ = write!(name, ": {}{}", names.join(", "), if keys.len() > 5 { "…" } else { "" });
            }
            self.add(path, Some((start, end)), name);
        }
    }

    /// Pages of a string, by characters.
    fn string(&mut self, node: JsonNode, path: &mut String) {
        let text = node.text();
        let total = text.chars().count();
        let (mut rest, mut start) = (&*text, 0);
        while !rest.is_empty() && self.list.specs.len() <= MAX_PAGES {
            // Escapes make the shown text longer than the text.
            let (part, tail) = rest.split_at(window(rest, self.page * 7 / 8));
            let end = start + part.chars().count();
            let name = format!("{}: {}", one_line(path), label("Characters", start, end, total, cost(part)));
            self.add(&format!("{path}[{start}:{end}]"), None, name);
            (rest, start) = (tail, end);
        }
    }
}

struct ErrorViews<'a, 'l> {
    list: &'a mut ViewList<'l>,
    found: usize,
    /// Byte up to which the text is shown already.
    covered: usize,
}

impl ErrorViews<'_, '_> {
    /// Looks for leaves that report errors; `shown` is the largest object about them that fits a page.
    fn value<'n>(&mut self, node: JsonNode<'n>, path: &mut String, shown: Option<(JsonNode<'n>, usize)>) {
        let fits = |node| bounded_cost(node, PAGE).filter(|cost| *cost <= PAGE);
        for (index, (key, value)) in node.entries().enumerate() {
            if self.found == MAX_ERRORS {
                return;
            }
            if value.start() < self.covered {
                continue;
            }
            let mark = path.len();
            match key {
                Some(key) => push_key(path, &key.text()),
                None => push_index(path, index),
            }
            if value.is_container() {
                let small = shown.is_none() && value.kind() == JsonKind::Object && fits(value).is_some();
                // Most objects report nothing. Searching their whole text once shows that sooner than going through the leaves.
                if !small || Signal::of(value.raw()).error {
                    self.value(value, path, shown.or(small.then_some((value, path.len()))));
                }
            } else if value.raw().len() <= LEAF_BYTES && Self::reports(key, value) {
                let (about, end) = shown.unwrap_or((value, path.len()));
                let quarters = fits(about).unwrap_or(0);
                let at = path[..end].to_owned();
                let name = format!("Error in {} (~{} tokens)", one_line(&at), quarters / 4);
                self.list.add(&format!("error:{at}"), name, json!({ "type": "json_path", "path": at }));
                self.covered = about.start() + about.raw().len();
                self.found += 1;
            }
            path.truncate(mark);
        }
    }

    fn reports(key: Option<JsonNode>, value: JsonNode) -> bool {
        let line = key.map_or_else(|| value.raw().to_owned(), |key| format!("{}: {}", key.raw(), value.raw()));
        Signal::of(&line).error
    }
}

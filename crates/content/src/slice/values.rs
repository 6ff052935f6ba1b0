//! Values of a JSON text by keys and by path.

use super::TextSlice;
use super::found::{NodeList, Span, part_of, span_of};
use super::json::{JsonPath, PathMatch, push_quoted};
use super::pager::{PageFrame, PageUnit, Pager, UnitBody};
use super::selector::Selector;
use crate::tree::{JsonKind, JsonNode, JsonTree};
use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::unicode::prefix;

fn parsed<'t>(text: &'t str, selector: &Selector) -> Result<JsonTree<'t>> {
    JsonTree::parse(text).ok_or_else(|| {
        Error::new(ErrorCode::DecodeFailed, "the artifact is not JSON, or nests too deeply").at(selector.path.as_str())
    })
}

/// Runs `{"type": "json_keys"}`.
pub(super) fn json_keys(pager: &mut Pager, keys: &[String]) -> Result<TextSlice> {
    let (text, selector) = (pager.text, pager.selector);
    let question = selector.question(&["type", "keys"]);
    let list = if let Some(known) = pager.index.nodes.known(&question) {
        known
    } else {
        let tree = parsed(text, selector)?;
        if tree.root().kind() != JsonKind::Object {
            let message = "the artifact is not a JSON object";
            return Err(Error::new(ErrorCode::DecodeFailed, message).at(selector.path.as_str()));
        }
        let wanted = WordSet::new(keys.to_vec());
        let members = tree.root().entries().filter_map(|(key, value)| Some((key?, value)));
        let members = members.filter(|(key, _)| wanted.contains(&key.text()));
        let nodes = members.map(|(key, value)| span_of(text, key.through(value))).collect();
        pager.index.read += tree.size() as u64;
        pager.index.nodes.keep(question, NodeList { unit: "keys", nodes, parts: Vec::new() })
    };
    let span = selector.span(list.nodes.len());
    let page = pager.fill(span.clone(), &PageFrame::OBJECT, &mut |at| {
        let (key, value) = member(text, list.nodes[at]);
        let mut lead = String::new();
        push_quoted(&mut lead, &JsonTree::parse(key).map_or(key.into(), |key| key.root().text().into_owned()));
        PageUnit { lead: lead + ": ", body: UnitBody::Json(value.into()) }
    });
    Ok(selector.answer(list.unit, list.nodes.len(), &span, page))
}

/// Runs `{"type": "json_path"}`.
pub(super) fn json_path(pager: &mut Pager, path: &JsonPath) -> Result<TextSlice> {
    let (text, selector) = (pager.text, pager.selector);
    let question = selector.question(&["type", "path"]);
    let list = if let Some(known) = pager.index.nodes.known(&question) {
        known
    } else {
        let tree = parsed(text, selector)?;
        let found = followed(text, &tree, path).ok_or_else(|| {
            Error::new(ErrorCode::NotFound, "the path leads to nothing")
                .at(format!("{}/path", selector.path))
                .hint("the selector `outline` lists what there is")
        })?;
        pager.index.read += tree.size() as u64;
        pager.index.nodes.keep(question, found)
    };
    let frame = match list.unit {
        "values" => &PageFrame::LINES,
        "keys" => &PageFrame::OBJECT,
        _ => &PageFrame::ARRAY,
    };
    let span = selector.span(list.nodes.len());
    let page = pager.fill(span.clone(), frame, &mut |at| {
        let node = list.nodes[at];
        if list.unit == "keys" {
            let (key, value) = member(text, node);
            return PageUnit { lead: format!("{key}: "), body: UnitBody::Json(value.into()) };
        }
        let raw = part_of(text, node);
        match list.parts.get(at).copied().flatten() {
            None => PageUnit::json(raw),
            Some((from, to)) => {
                let tree = JsonTree::parse(raw);
                let text = tree.as_ref().map_or(raw.into(), |tree| tree.root().text());
                let skipped = prefix(&text, from as usize).len();
                let part = prefix(&text[skipped..], (to - from) as usize).to_owned();
                PageUnit { lead: String::new(), body: UnitBody::Quoted(part) }
            }
        }
    });
    Ok(selector.answer(list.unit, list.nodes.len(), &span, page))
}

/// Returns what a path leads to: the elements of a single array, the members of a single object, else the values found.
/// `None` where a path to a single value leads to nothing; one with a wildcard then finds an empty list.
fn followed(text: &str, tree: &JsonTree, path: &JsonPath) -> Option<NodeList> {
    let (hits, plural) = path.follow(tree.root());
    let all = |nodes: &mut dyn Iterator<Item = JsonNode>| nodes.map(|node| span_of(text, node.raw())).collect();
    let (unit, nodes) = match hits.first() {
        None if !plural => return None,
        Some(PathMatch { node, chars: None }) if !plural && node.kind() == JsonKind::Object => {
            let members = node.entries().filter_map(|(key, value)| Some(span_of(text, key?.through(value))));
            ("keys", members.collect())
        }
        Some(PathMatch { node, chars: None }) if !plural && node.is_container() => ("items", all(&mut node.items())),
        _ => (if plural { "items" } else { "values" }, all(&mut hits.iter().map(|hit| hit.node))),
    };
    let has_parts = hits.iter().any(|hit| hit.chars.is_some());
    let parts = hits.iter().filter(|_| has_parts).map(|hit| hit.chars.map(|(from, to)| (from as u32, to as u32)));
    Some(NodeList { unit, nodes, parts: parts.collect() })
}

/// Splits a member into its key and its value, both as they are written.
fn member(text: &str, at: Span) -> (&str, &str) {
    let text = part_of(text, at);
    let mut end = 1;
    // The text was parsed, so the key ends with the first quotation mark that is not escaped.
    while let Some(found) = text.as_bytes()[end..].iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        end += found + 1;
        if text.as_bytes()[end - 1] == b'"' {
            break;
        }
        end += 1;
    }
    let (key, rest) = text.split_at(end.min(text.len()));
    let space = [' ', '\n', '\r', '\t'];
    (key, rest.trim_start_matches(space).trim_start_matches(':').trim_start_matches(space))
}

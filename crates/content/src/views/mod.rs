//! Views: ready selectors that come with a stored result and together show all of it, a page at a time.

mod json;

use std::collections::HashSet;

use serde_json::{Value, json};

use super::signals::Signal;
use super::slice::kind_of_line;
use super::sniff::{Shape, SniffedText};
use super::table::Table;
use contextweaver_model::json::JsonMap;
use contextweaver_model::{ArtifactRef, ViewSpec};
use contextweaver_text::lines::lines;
use contextweaver_text::tokens::Estimator;

/// Size of a page, in quarter tokens of `heuristic/v2`: 200 tokens, so that most pages fit 250 tokens of any estimator.
const PAGE: u64 = 800;
/// Pages of one artifact; of a larger one the pages are larger, and are read in parts.
const MAX_PAGES: usize = 56;
/// Entries of an outline or columns in a view; the selector without `end` gives all.
const MAX_ENTRIES: usize = 12;
/// Places of errors that get a view, and units shown on either side.
const MAX_ERRORS: usize = 5;
const ABOUT_ERROR: usize = 6;

/// Makes the views of an artifact: where errors are, what it consists of, and pages that cover everything.
///
/// View ids are `<handle>:<kind>[:<range>]`. Labels name ranges of units, the last one included, and estimated tokens.
///
/// ```
/// use contextweaver_content::{Shape, views};
/// use contextweaver_model::ArtifactRef;
/// use serde_json::json;
///
/// let text = "one line of a long text\n".repeat(300);
/// let artifact = json!({ "handle": "a", "media_type": "text/plain", "size_bytes": text.len() });
/// let views = views(&ArtifactRef::from_value(artifact, "")?, &text, Shape::Text);
/// assert_eq!(views[0].view_id, "a:outline");
/// assert!(views[1].view_id.starts_with("a:lines:0-"));
/// assert!(views.last().unwrap().view_id.ends_with("-300"), "the pages cover all lines");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn views(artifact: &ArtifactRef, text: &str, shape: Shape) -> Vec<ViewSpec> {
    views_sniffed(artifact, &SniffedText::of_shape(text, shape))
}

/// Makes views as [`views()`] does, of a text whose shape is known.
pub fn views_sniffed(artifact: &ArtifactRef, source: &SniffedText) -> Vec<ViewSpec> {
    let mut list = ViewList { artifact, specs: Vec::new() };
    let text = source.text;
    if text.is_empty() {
        return list.specs;
    }
    match (source.shape, &source.tree) {
        (Shape::Json, Some(tree)) => json::views(&mut list, tree.root()),
        (Shape::Table(separator), _) => {
            let table = Table::parse(text, separator);
            let header = table.records().first().map_or(0, |header| cost(header)).min(PAGE / 2);
            let all = || -> UnitIter { Box::new(table.records().iter().copied()) };
            of_units(&mut list, &UnitSource { kind: "rows", name: "Rows", header, about: 3, text, all: &all });
        }
        (Shape::Ndjson, _) => {
            let all = || -> UnitIter { Box::new(lines(text).filter(|line| !line.trim().is_empty())) };
            of_units(&mut list, &UnitSource { kind: "rows", name: "Records", header: 0, about: 3, text, all: &all });
        }
        _ => {
            let all = || -> UnitIter { Box::new(lines(text)) };
            of_units(
                &mut list,
                &UnitSource { kind: "lines", name: "Lines", header: 0, about: ABOUT_ERROR, text, all: &all },
            );
        }
    }
    list.specs
}

struct ViewList<'a> {
    artifact: &'a ArtifactRef,
    specs: Vec<ViewSpec>,
}

impl ViewList<'_> {
    fn add(&mut self, id: &str, label: String, selector: Value) {
        let selector = if let Value::Object(map) = selector { map } else { JsonMap::new() };
        let view_id = format!("{}:{id}", self.artifact.handle);
        self.specs.push(ViewSpec { view_id, label, selector, artifact_ref: Some(self.artifact.clone()) });
    }

    /// Adds views of what is written about the text, if it is more than a page.
    fn add_written(&mut self, pages: usize, outline: bool, columns: bool) {
        let kinds = [
            ("outline", "Outline", outline),
            ("columns", "Column list", columns),
            ("stats", "Column statistics", columns),
        ];
        if pages > 1 {
            for (kind, label, _) in kinds.iter().filter(|(_, _, wanted)| *wanted) {
                self.add(kind, (*label).to_owned(), json!({ "type": kind, "end": MAX_ENTRIES }));
            }
        }
    }
}

fn cost(text: &str) -> u64 {
    Estimator::V2.quarters(text)
}

/// Writes a range for people: the last one included.
fn label(name: &str, start: usize, end: usize, total: usize, quarters: u64) -> String {
    let range = if end == start + 1 { start.to_string() } else { format!("{start}-{}", end - 1) };
    format!("{name} {range} of {total} (~{} tokens)", quarters / 4)
}

/// Consecutive units of one page, and what they cost.
struct PageSpan {
    start: usize,
    end: usize,
    quarters: u64,
}

/// Packs units into as few pages as they fill one after the other; a unit larger than a page is one of its own.
fn pack(costs: &[u32], page: u64) -> Vec<PageSpan> {
    let mut groups: Vec<PageSpan> = Vec::new();
    for (index, cost) in costs.iter().enumerate() {
        let cost = u64::from(*cost);
        match groups.last_mut().filter(|group| group.quarters + cost <= page) {
            Some(group) => {
                group.end += 1;
                group.quarters += cost;
            }
            None => groups.push(PageSpan { start: index, end: index + 1, quarters: cost }),
        }
    }
    groups
}

type UnitIter<'a> = Box<dyn Iterator<Item = &'a str> + 'a>;

/// Lines or records.
struct UnitSource<'a> {
    /// `lines` or `rows`, as selectors call them.
    kind: &'static str,
    name: &'static str,
    /// What the header costs on every page.
    header: u64,
    about: usize,
    text: &'a str,
    all: &'a dyn Fn() -> UnitIter<'a>,
}

fn of_units(list: &mut ViewList, units: &UnitSource) {
    let costs: Vec<u32> = (units.all)().map(|unit| cost(unit) as u32 + 1).collect();
    let total: u64 = costs.iter().map(|cost| u64::from(*cost)).sum();
    let mut page = (PAGE - units.header).max(total / MAX_PAGES as u64);
    let mut pages = pages_of(list, units, &costs, page);
    while pages.len() > MAX_PAGES {
        page *= 2;
        pages = pages_of(list, units, &costs, page);
    }
    if pages.len() > 1 {
        errors(list, units, &costs);
    }
    let columns = units.kind == "rows";
    list.add_written(pages.len(), !columns, columns);
    list.specs.append(&mut pages);
}

fn pages_of(list: &ViewList, units: &UnitSource, costs: &[u32], page: u64) -> Vec<ViewSpec> {
    let mut pages = ViewList { artifact: list.artifact, specs: Vec::new() };
    let mut place = TextCursor { text: units.text, bytes: 0, chars: 0 };
    // The header is row 0 and stands on every page, so that the label counts from the first row after it.
    let titled = usize::from(units.header > 0);
    let total = costs.len() - titled;
    let mut all = (units.all)();
    for PageSpan { start, end, quarters } in pack(costs, page) {
        if pages.specs.len() > MAX_PAGES {
            break;
        }
        let first = all.next().unwrap_or("");
        if end - start > 1 {
            all.nth(end - start - 2);
        }
        if units.kind == "lines" && quarters > page {
            windows(&mut pages, &mut place, first, page);
            continue;
        }
        let from = if start == 0 && end > 1 { titled } else { start };
        let name = label(units.name, from, end, total, quarters + units.header);
        let id = format!("{}:{start}-{end}", units.kind);
        pages.add(&id, name, json!({ "type": units.kind, "start": start, "end": end }));
    }
    pages.specs
}

/// A place in a text, as bytes and as characters; it only goes forward.
struct TextCursor<'t> {
    text: &'t str,
    bytes: usize,
    chars: usize,
}

impl TextCursor<'_> {
    fn go_to(&mut self, part: &str) {
        let bytes = part.as_ptr() as usize - self.text.as_ptr() as usize;
        self.chars += self.text[self.bytes..bytes].chars().count();
        self.bytes = bytes;
    }
}

/// Pages of a line that is larger than a page.
fn windows(pages: &mut ViewList, place: &mut TextCursor, line: &str, page: u64) {
    let mut rest = line;
    while !rest.is_empty() && pages.specs.len() <= MAX_PAGES {
        let (part, tail) = rest.split_at(window(rest, page));
        place.go_to(part);
        let (start, count) = (place.chars, part.chars().count());
        let label = format!("Characters {start}-{} (~{} tokens)", start + count - 1, cost(part) / 4);
        let id = format!("chars:{start}-{}", start + count);
        pages.add(&id, label, json!({ "type": "head", "start": start, "chars": count }));
        rest = tail;
    }
}

/// Returns where a page of a long text ends: after a tag or a sentence, else a word, if there is one in its second half.
fn window(text: &str, page: u64) -> usize {
    let end = first_page(text, page);
    if end == text.len() {
        return end;
    }
    let bytes = text.as_bytes();
    let (mut space, mut comma) = (0, 0);
    for at in (end / 2 + 1..=end).rev() {
        match bytes[at - 1] {
            b'\n' | b'>' | b'}' | b']' => return at,
            b' ' if at > 1 && matches!(bytes[at - 2], b'.' | b';') => return at,
            b' ' => space = space.max(at),
            b',' => comma = comma.max(at),
            _ => {}
        }
    }
    [space, comma].into_iter().find(|at| *at > 0).unwrap_or(end)
}

/// Returns how many bytes of a text a page holds.
fn first_page(text: &str, page: u64) -> usize {
    let full = text.len().min(page as usize);
    // Of ASCII, each byte costs a quarter token.
    if text.as_bytes()[..text.len().min(full + 1)].is_ascii() {
        return full;
    }
    let mut used = 0;
    let mut buffer = [0; 4];
    let over = text.char_indices().find(|(_, ch)| {
        used += cost(ch.encode_utf8(&mut buffer));
        used > page
    });
    over.map_or(text.len(), |(end, _)| end)
}

/// Views about the first errors of each kind, as much about them as a page holds.
fn errors(list: &mut ViewList, units: &UnitSource, costs: &[u32]) {
    let mut seen = HashSet::new();
    let (mut found, mut covered) = (0, 0);
    for (at, unit) in (units.all)().enumerate() {
        if found == MAX_ERRORS {
            break;
        }
        let large = u64::from(costs[at]) > PAGE;
        if at < covered || large || !Signal::of(unit).error || !seen.insert(kind_of_line(unit)) {
            continue;
        }
        let (mut start, mut end) = (at.saturating_sub(units.about), (at + units.about + 1).min(costs.len()));
        let mut quarters = units.header + costs[start..end].iter().map(|cost| u64::from(*cost)).sum::<u64>();
        while quarters > PAGE && end > start + 1 {
            let before = at - start >= end - 1 - at;
            quarters -= u64::from(if before { costs[start] } else { costs[end - 1] });
            (start, end) = if before { (start + 1, end) } else { (start, end - 1) };
        }
        let name = format!("Error at {at}: {}", units.name.to_lowercase());
        let name = label(&name, start, end, costs.len(), quarters);
        list.add(&format!("error:{at}"), name, json!({ "type": units.kind, "start": start, "end": end }));
        covered = end;
        found += 1;
    }
}

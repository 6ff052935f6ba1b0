//! Finding text: hits with their line numbers, or with their paths in JSON.

use std::fmt::Write as _;
use std::ops::Range;

use super::TextSlice;
use super::found::{LineMatch, LinkStep, MatchedPart, PathLink, SearchHits, Span, ValueMatch, part_of, span_of};
use super::index::SliceIndex;
use super::json::{push_index, push_shown_key, shown_key, squeeze};
use super::pager::{PageFrame, PageUnit, Pager};
use crate::sniff::Shape;
use crate::tree::{JsonNode, JsonTree};
use contextweaver_base::{Result, StepBudget, limits};
use contextweaver_text::pattern::{Matcher, Pattern};
use contextweaver_text::unicode::floor_char_boundary;

/// A line longer than this is shown in windows about its hits; so many bytes on either side.
const LONG_LINE: usize = 600;
const WINDOW: usize = 160;
/// A JSON value of at most so many bytes is shown whole when something in it matches.
const SMALL_VALUE: usize = 400;
/// Bytes of a context line.
const CONTEXT_LINE: usize = 240;

/// Runs `{"type": "search"}`: with context in lines, or with the smallest JSON values that match.
pub(super) fn search(
    pager: &mut Pager,
    shape: Shape,
    (pattern, context, max_hits): (&Pattern, usize, usize),
) -> Result<TextSlice> {
    let (text, selector) = (pager.text, pager.selector);
    let question = selector.question(&["type", "text", "pattern", "regex", "ignore_case"]);
    let hits = if let Some(known) = pager.index.hits.known(&question) {
        known
    } else {
        let found = found(text, shape, pattern, pager.index).map_err(|error| {
            error.at(format!("{}/pattern", selector.path)).hint("search for a shorter or literal text")
        })?;
        pager.index.hits.keep(question, found)
    };
    let total = match &*hits {
        SearchHits::Lines(hits) => hits.len(),
        SearchHits::Values(hits, _) => hits.len(),
    };
    let first = usize::try_from(selector.range.start).unwrap_or(0).min(total);
    let end = selector.range.end.and_then(|end| usize::try_from(end).ok()).unwrap_or(usize::MAX);
    let last = end.min(first.saturating_add(max_hits)).min(total).max(first);
    let page = match &*hits {
        SearchHits::Lines(hits) => {
            let lines = pager.index.lines(text);
            let shown = ShownLines { text, lines: &lines, hits: &hits[first..last], context };
            pager.fill(first..last, &PageFrame::LINES, &mut |at| PageUnit::text(shown.hit(at - first)))
        }
        SearchHits::Values(hits, links) => {
            pager.fill(first..last, &PageFrame::LINES, &mut |at| PageUnit::text(shown_value(text, &hits[at], links)))
        }
    };
    Ok(selector.answer("hits", total, &(first..end.min(total).max(first)), page))
}

/// Looks for all hits.
fn found(text: &str, shape: Shape, pattern: &Pattern, index: &mut SliceIndex) -> Result<SearchHits> {
    let mut finder = MatchFinder {
        text,
        matcher: pattern.matcher(),
        budget: StepBudget::new("the search", limits::MAX_SEARCH_STEPS),
        values: Vec::new(),
        links: Vec::new(),
    };
    if let Some(tree) = if shape == Shape::Json { JsonTree::parse(text) } else { None } {
        index.read += tree.size() as u64;
        finder.value(tree.root(), None, 0)?;
        return Ok(SearchHits::Values(finder.values, finder.links));
    }
    let mut places = Vec::new();
    for (number, at) in index.lines(text).iter().enumerate() {
        index.read += 1;
        let (line, number) = (part_of(text, *at), number as u32);
        if line.len() > LONG_LINE {
            finder.windows(line, &mut |_, window| places.push(LineMatch { line: number, window: Some(window) }))?;
        } else if finder.is_match(line)? {
            places.push(LineMatch { line: number, window: None });
        }
    }
    Ok(SearchHits::Lines(places))
}

struct MatchFinder<'p> {
    text: &'p str,
    matcher: Matcher<'p>,
    /// Of the whole search.
    budget: StepBudget,
    values: Vec<ValueMatch>,
    links: Vec<PathLink>,
}

impl MatchFinder<'_> {
    fn is_match(&mut self, text: &str) -> Result<bool> {
        self.matcher.is_match(text, &mut self.budget)
    }

    /// Goes through the hits of a long text, those of one window counting as one.
    fn windows(&mut self, text: &str, push: &mut dyn FnMut(&mut Self, Span)) -> Result<()> {
        let mut from = 0;
        while let Some((start, end)) = self.matcher.find(text, from, &mut self.budget)? {
            let left = floor_char_boundary(text, start.saturating_sub(WINDOW).max(from));
            let right = floor_char_boundary(text, end + WINDOW);
            push(self, (left as u32, right as u32));
            if right >= text.len() {
                break;
            }
            from = right.max(from + 1);
        }
        Ok(())
    }

    /// Notes a step of a path; returns what steps and hits below it name it by.
    fn link(&mut self, above: u32, step: Option<LinkStep>) -> u32 {
        let Some(step) = step else { return above };
        self.links.push(PathLink { above, step });
        self.links.len() as u32
    }

    /// Looks into a value that a step leads to from those above.
    fn value(&mut self, node: JsonNode, step: Option<(LinkStep, Option<JsonNode>)>, above: u32) -> Result<()> {
        let raw = node.raw();
        let (step, key) = step.map_or((None, None), |(step, key)| (Some(step), key));
        if raw.len() <= SMALL_VALUE {
            let text = squeeze(raw);
            let keyed = key.map(|key| format!("{}: {text}", key.raw()));
            if self.is_match(keyed.as_deref().unwrap_or(&text))? {
                let path = self.link(above, step);
                self.values.push(ValueMatch { path, shown: MatchedPart::Value(span_of(self.text, raw)) });
            }
            return Ok(());
        }
        let path = self.link(above, step);
        if let Some(key) = key
            && self.is_match(key.raw())?
        {
            self.values.push(ValueMatch { path, shown: MatchedPart::Under(node.kind(), node.len() as u32) });
        }
        if !node.is_container() {
            let start = node.start() as u32;
            return self.windows(raw, &mut |finder, (left, right)| {
                finder.values.push(ValueMatch { path, shown: MatchedPart::Window((start + left, start + right)) });
            });
        }
        for (index, (key, value)) in node.entries().enumerate() {
            let step = key.map_or(LinkStep::Index(index as u32), |key| LinkStep::Key(span_of(self.text, key.raw())));
            self.value(value, Some((step, key)), path)?;
        }
        Ok(())
    }
}

/// Writes a hit in JSON: the path to it, and what matches.
fn shown_value(text: &str, hit: &ValueMatch, links: &[PathLink]) -> String {
    let mut steps = Vec::new();
    let mut above = hit.path as usize;
    while let Some(link) = above.checked_sub(1).and_then(|place| links.get(place)) {
        steps.push(link.step);
        above = link.above as usize;
    }
    let mut out = String::new();
    for step in steps.into_iter().rev() {
        match step {
            LinkStep::Key(at) => push_shown_key(&mut out, &shown_key(part_of(text, at))),
            LinkStep::Index(index) => push_index(&mut out, index as usize),
        }
    }
    out += if out.is_empty() { "" } else { ": " };
    match hit.shown {
        MatchedPart::Value(at) => out += &squeeze(part_of(text, at)),
        MatchedPart::Under(kind, len) => drop(write!(out, "{} of {len}", kind.name())),
        MatchedPart::Window(at) => drop(write!(out, "…{}…", part_of(text, at))),
    }
    out
}

/// Hits in lines, to be shown with the lines about them, numbered as `lines` counts; no line appears with two hits.
struct ShownLines<'a> {
    text: &'a str,
    lines: &'a [Span],
    hits: &'a [LineMatch],
    context: usize,
}

impl ShownLines<'_> {
    /// Returns the lines about a hit that come before those about the next.
    fn end(&self, index: usize) -> usize {
        let hit = &self.hits[index];
        let line = hit.line as usize;
        let about = if hit.window.is_some() { 0 } else { self.context };
        let after = self.hits.get(index + 1).map_or(self.lines.len(), |next| (next.line as usize).max(line + 1));
        (line + about + 1).min(after)
    }

    /// Returns the lines about a hit.
    fn range(&self, index: usize) -> Range<usize> {
        let hit = &self.hits[index];
        let line = hit.line as usize;
        let about = if hit.window.is_some() { 0 } else { self.context };
        let before = index.checked_sub(1).map_or(0, |before| self.end(before));
        line.saturating_sub(about).max(before.min(line))..self.end(index)
    }

    fn hit(&self, index: usize) -> String {
        let (hit, range) = (&self.hits[index], self.range(index));
        let mut out = String::new();
        if self.context > 0 && index > 0 && range.start > self.end(index - 1) {
            out.push_str("--\n");
        }
        for number in range.clone() {
            let line = part_of(self.text, self.lines[number]);
            if number > range.start {
                out.push('\n');
            }
            match hit.window {
                _ if hit.line as usize != number => {
                    let end = floor_char_boundary(line, CONTEXT_LINE);
                    let _ = write!(out, "{number}-{}{}", &line[..end], if end < line.len() { "…" } else { "" });
                }
                None => drop(write!(out, "{number}:{line}")),
                Some(window) => drop(write!(out, "{number}:…{}…", part_of(line, window))),
            }
        }
        out
    }
}

//! Finding text: hits with their line numbers, or with their paths in JSON.

use super::TextSlice;
use super::json::{push_index, push_key, squeeze};
use super::pager::{PageBudget, PageFrame, PageUnit, fill};
use super::selector::Selector;
use crate::sniff::Shape;
use crate::tree::{JsonNode, JsonTree};
use contextweaver_base::{Error, Result, StepBudget, limits};
use contextweaver_text::lines::lines;
use contextweaver_text::pattern::{Matcher, Pattern};
use std::fmt::Write as _;

/// A line longer than this is shown in windows about its hits; so many bytes on either side.
const LONG_LINE: usize = 600;
const WINDOW: usize = 160;
/// A JSON value of at most so many bytes is shown whole when something in it matches.
const SMALL_VALUE: usize = 400;
/// Bytes of a context line.
const CONTEXT_LINE: usize = 240;

/// Runs `{"type": "search"}`: with context in lines, or with the smallest JSON values that match.
pub(super) fn search(
    text: &str,
    shape: Shape,
    selector: &Selector,
    (pattern, context, max_hits): (&Pattern, usize, usize),
    budget: PageBudget,
) -> Result<TextSlice> {
    let first = usize::try_from(selector.range.start).unwrap_or(0);
    let end = selector.range.end.and_then(|end| usize::try_from(end).ok()).unwrap_or(usize::MAX);
    let last = end.min(first.saturating_add(max_hits)).max(first);
    let mut finder = MatchFinder {
        matcher: pattern.matcher(),
        budget: StepBudget::new("the search", limits::MAX_SEARCH_STEPS),
        keep: first..last,
        total: 0,
        places: Vec::new(),
        values: Vec::new(),
    };
    let refused =
        |error: Error| error.at(format!("{}/pattern", selector.path)).hint("search for a shorter or literal text");
    let tree = if shape == Shape::Json { JsonTree::parse(text) } else { None };
    let shown = if let Some(tree) = tree {
        finder.value(tree.root(), None, &mut Vec::new()).map_err(refused)?;
        finder.values
    } else {
        for (number, line) in lines(text).enumerate() {
            finder.line(number, line).map_err(refused)?;
        }
        with_context(text, &finder.places, context)
    };
    let total = finder.total;
    let (first, all) = (first.min(total), end.min(total));
    let page = fill(&mut shown.into_iter().map(PageUnit::text), &PageFrame::LINES, selector.range.offset, budget);
    Ok(selector.answer("hits", total, &(first..all.max(first)), page))
}

/// A hit in a line: all of the line, or some bytes of it.
struct LineMatch {
    line: usize,
    window: Option<(usize, usize)>,
}

struct MatchFinder<'p> {
    matcher: Matcher<'p>,
    /// Of the whole search.
    budget: StepBudget,
    /// Which hits are wanted; the others are counted only.
    keep: std::ops::Range<usize>,
    total: usize,
    places: Vec<LineMatch>,
    values: Vec<String>,
}

/// A step on the way to a JSON value.
enum TreeStep<'a> {
    Key(JsonNode<'a>),
    Index(usize),
}

impl MatchFinder<'_> {
    /// Counts a hit; tells whether it is wanted.
    fn count(&mut self) -> bool {
        self.total += 1;
        self.keep.contains(&(self.total - 1))
    }

    fn is_match(&mut self, text: &str) -> Result<bool> {
        self.matcher.is_match(text, &mut self.budget)
    }

    fn line(&mut self, number: usize, line: &str) -> Result<()> {
        if line.len() > LONG_LINE {
            return self.windows(line, &mut |finder, window| {
                finder.places.push(LineMatch { line: number, window: Some(window) });
            });
        }
        if self.is_match(line)? && self.count() {
            self.places.push(LineMatch { line: number, window: None });
        }
        Ok(())
    }

    /// Goes through the hits of a long text, those of one window counting as one.
    fn windows(&mut self, text: &str, push: &mut dyn FnMut(&mut Self, (usize, usize))) -> Result<()> {
        let mut from = 0;
        while let Some((start, end)) = self.matcher.find(text, from, &mut self.budget)? {
            let left = border(text, start.saturating_sub(WINDOW).max(from));
            let right = border(text, (end + WINDOW).min(text.len()));
            if self.count() {
                push(self, (left, right));
            }
            if right >= text.len() {
                break;
            }
            from = right.max(from + 1);
        }
        Ok(())
    }

    fn value<'a>(&mut self, node: JsonNode<'a>, key: Option<JsonNode<'a>>, path: &mut Vec<TreeStep<'a>>) -> Result<()> {
        let raw = node.raw();
        if raw.len() <= SMALL_VALUE {
            let text = squeeze(raw);
            let keyed = key.map(|key| format!("{}: {text}", key.raw()));
            if self.is_match(keyed.as_deref().unwrap_or(&text))? && self.count() {
                self.values.push(placed(path, &text));
            }
            return Ok(());
        }
        if let Some(key) = key
            && self.is_match(key.raw())?
            && self.count()
        {
            self.values.push(placed(path, &format!("{} of {}", node.kind().name(), node.len())));
        }
        if !node.is_container() {
            let at = placed(path, "");
            return self.windows(raw, &mut |finder, (left, right)| {
                finder.values.push(format!("{at}…{}…", &raw[left..right]));
            });
        }
        for (index, (key, value)) in node.entries().enumerate() {
            path.push(key.map_or(TreeStep::Index(index), TreeStep::Key));
            self.value(value, key, path)?;
            path.pop();
        }
        Ok(())
    }
}

/// The nearest start of a character at or before a byte.
fn border(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn placed(path: &[TreeStep], text: &str) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            TreeStep::Key(key) => push_key(&mut out, &key.text()),
            TreeStep::Index(index) => push_index(&mut out, *index),
        }
    }
    out += if out.is_empty() { "" } else { ": " };
    out + text
}

/// Writes each hit with the lines about it, numbered as `lines` counts; no line appears with two hits.
fn with_context(text: &str, places: &[LineMatch], context: usize) -> Vec<String> {
    let mut ranges: Vec<(usize, usize)> = Vec::with_capacity(places.len());
    for (index, place) in places.iter().enumerate() {
        let about = if place.window.is_some() { 0 } else { context };
        let before = ranges.last().map_or(0, |(_, end)| *end);
        let after = places.get(index + 1).map_or(usize::MAX, |next| next.line.max(place.line + 1));
        ranges
            .push((place.line.saturating_sub(about).max(before.min(place.line)), (place.line + about + 1).min(after)));
    }
    let mut shown = vec![String::new(); places.len()];
    let mut first = 0;
    for (number, line) in lines(text).enumerate() {
        while ranges.get(first).is_some_and(|(_, end)| *end <= number) {
            first += 1;
        }
        // Several windows may be of one line.
        for index in first..places.len() {
            if ranges[index].0 > number {
                break;
            }
            let (place, out) = (&places[index], &mut shown[index]);
            if !out.is_empty() {
                out.push('\n');
            } else if context > 0 && index > 0 && ranges[index].0 > ranges[index - 1].1 {
                out.push_str("--\n");
            }
            match place.window {
                _ if place.line != number => {
                    let end = border(line, line.len().min(CONTEXT_LINE));
                    let _ = write!(out, "{number}-{}{}", &line[..end], if end < line.len() { "…" } else { "" });
                }
                None => drop(write!(out, "{number}:{line}")),
                Some((left, right)) => drop(write!(out, "{number}:…{}…", &line[left..right])),
            }
        }
        if first == places.len() {
            break;
        }
    }
    shown
}

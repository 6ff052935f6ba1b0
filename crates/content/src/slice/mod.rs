//! Parts of a text: what a drilldown answers, under a limit of tokens, with a way to go on.

mod index;
mod json;
mod outline;
mod pager;
mod records;
mod search;
mod selector;

use std::borrow::Cow;
use std::ops::Range;

pub use self::index::SliceIndex;
use self::index::part_of;
use self::json::JsonPath;
pub(super) use self::json::{push_index, push_key, squeeze};
pub(super) use self::outline::kind_of_line;
use self::pager::{Page, PageBudget, PageFrame, PageUnit, UnitBody, fill, skip_chars};
use self::records::TabularText;
pub(super) use self::records::{has_columns, one_line};
use self::selector::SelectorKind;
pub use self::selector::{SELECTORS, Selector};
use super::tree::{JsonKind, JsonTree};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::JsonMap;
use contextweaver_text::lines::slice_range;
use contextweaver_text::tokens::Estimator;
use contextweaver_text::unicode::prefix;

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSlice {
    /// What was asked for, or as much of it as fits.
    pub text: String,
    /// What `total`, `start` and `end` count: `chars`, `lines`, `rows`, `items`, `keys`, `values`, `hits`, `columns` or `entries`.
    pub unit: &'static str,
    /// Units there are; of rows with conditions, those that fulfil them.
    pub total: u64,
    /// First unit shown, from 0.
    pub start: u64,
    /// Unit after the last one shown whole.
    pub end: u64,
    /// Whether less is shown than was asked for.
    pub truncated: bool,
    /// The selector of the rest. Absent when all is shown, and when the limit leaves no room for a single character.
    pub next: Option<JsonMap>,
}

/// Reads a part of a text.
///
/// With `max_tokens` the part ends after the last unit that fits; a unit that is larger than that is shown in parts.
/// What is JSON stays JSON: fewer elements, and parts of a large element as strings.
///
/// # Errors
/// `UNSUPPORTED` for rows and columns of what has none, `NOT_FOUND` for a column or a path that does not exist,
/// `DECODE_FAILED` for paths and keys of what is no JSON, `TOO_LARGE` at `/pattern` for a search
/// that would take more than 33,554,432 steps.
///
/// # Examples
/// ```
/// use contextweaver_content::{Selector, slice};
/// use contextweaver_text::tokens::Estimator;
/// use serde_json::{Value, json};
///
/// let text = r#"{"rows": [{"id": 1, "note": "first"}, {"id": 2, "note": "second"}]}"#;
/// let selector = Selector::from_value(json!({ "type": "json_path", "path": "rows[*].note" }), "/selector")?;
/// let all = slice(text, "application/json", &selector, None, &Estimator::V3)?;
/// assert_eq!((all.text.as_str(), all.total), (r#"["first", "second"]"#, 2));
///
/// // Under a limit, `next` goes on where the slice stopped.
/// let some = slice(text, "application/json", &selector, Some(4), &Estimator::V3)?;
/// assert_eq!((some.text.as_str(), some.truncated), (r#"["first"]"#, true));
/// let next = Selector::from_value(Value::Object(some.next.unwrap()), "/selector")?;
/// assert_eq!(slice(text, "application/json", &next, Some(4), &Estimator::V3)?.text, r#"["second"]"#);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn slice(
    text: &str,
    media_type: &str,
    selector: &Selector,
    max_tokens: Option<u64>,
    estimator: &Estimator,
) -> Result<TextSlice> {
    slice_indexed(text, media_type, selector, max_tokens, estimator, &mut SliceIndex::default())
}

/// Reads a part of a text as [`slice`] does, with what earlier calls found out about it: following `next` over lines or
/// rows reads the text once.
///
/// # Errors
/// As [`slice`].
///
/// # Examples
/// ```
/// use contextweaver_content::{Selector, SliceIndex, slice_indexed};
/// use contextweaver_text::tokens::Estimator;
/// use serde_json::json;
///
/// let (text, mut index) = ("a,b\n1,2\n3,4\n", SliceIndex::default());
/// for (row, expected) in [(1, "a,b\n1,2"), (2, "a,b\n3,4")] {
///     let selector = Selector::from_value(json!({ "type": "rows", "start": row, "end": row + 1 }), "/selector")?;
///     let page = slice_indexed(text, "text/csv", &selector, None, &Estimator::V3, &mut index)?;
///     assert_eq!(page.text, expected);
/// }
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn slice_indexed(
    text: &str,
    media_type: &str,
    selector: &Selector,
    max_tokens: Option<u64>,
    estimator: &Estimator,
    index: &mut SliceIndex,
) -> Result<TextSlice> {
    let budget = PageBudget::new(estimator, max_tokens);
    let table = |index: &mut SliceIndex| TabularText::indexed(text, media_type, index);
    match &selector.kind {
        SelectorKind::Head { start, chars } => Ok(head(text, selector, (*start, *chars), budget)),
        SelectorKind::Tail { end, chars } => Ok(tail(text, selector, (*end, *chars), budget)),
        SelectorKind::Lines => Ok(of_lines(text, selector, budget, index)),
        SelectorKind::Rows { columns, conditions, header } => match table(index) {
            Some(records) => records.rows(selector, (columns, conditions, *header), budget, index),
            None if columns.is_empty() && conditions.is_empty() => Ok(of_lines(text, selector, budget, index)),
            None => Err(TabularText::absent(selector)),
        },
        SelectorKind::JsonKeys(keys) => json_keys(text, selector, keys, budget),
        SelectorKind::JsonPath(path) => json_path(text, selector, path, budget),
        SelectorKind::Search { pattern, context, max_hits } => {
            search::search(text, index.shape(media_type, text), selector, (pattern, *context, *max_hits), budget)
        }
        SelectorKind::Columns | SelectorKind::Stats(_) => {
            let records = table(index).ok_or_else(|| TabularText::absent(selector))?;
            let (open, entries) = records.describe(selector)?;
            Ok(written(text, selector, "columns", (open, entries), budget))
        }
        SelectorKind::Outline => {
            Ok(written(text, selector, "entries", outline::outline(text, index.shape(media_type, text)), budget))
        }
    }
}

fn head(text: &str, selector: &Selector, (start, chars): (usize, usize), budget: PageBudget) -> TextSlice {
    let wanted = prefix(skip_chars(text, start), chars);
    let shown = budget.prefix(wanted, budget.quarters);
    let (total, chars, count) = (text.chars().count(), wanted.chars().count(), shown.chars().count());
    let start = start.min(total);
    let next = || selector.with(&[("start", start + count), ("chars", chars - count)]);
    of_chars(shown, total, start..start + count, (count < chars).then_some(count > 0), next)
}

/// What matters in the tail is its end, so that is what a limit leaves.
fn tail(text: &str, selector: &Selector, (end, chars): (Option<usize>, usize), budget: PageBudget) -> TextSlice {
    let total = text.chars().count();
    let end = end.unwrap_or(total).min(total);
    let start = end.saturating_sub(chars);
    let wanted = prefix(skip_chars(text, start), end - start);
    let shown = budget.suffix(wanted);
    let count = shown.chars().count();
    let next = || selector.with(&[("end", end - count), ("chars", end - start - count)]);
    of_chars(shown, total, end - count..end, (end - count > start).then_some(count > 0), next)
}

/// `cut` tells that the text was cut, and whether anything is left of it.
fn of_chars(text: &str, total: usize, span: Range<usize>, cut: Option<bool>, next: impl Fn() -> JsonMap) -> TextSlice {
    TextSlice {
        text: text.to_owned(),
        unit: "chars",
        total: total as u64,
        start: span.start as u64,
        end: span.end as u64,
        truncated: cut.is_some(),
        next: (cut == Some(true)).then(next),
    }
}

impl Selector {
    /// Places the asked range on so many units.
    fn span(&self, total: usize) -> Range<usize> {
        slice_range(total, Some(self.range.start), self.range.end)
    }

    /// Makes the answer of a page that began with the first unit of a span.
    fn answer(&self, unit: &'static str, total: usize, span: &Range<usize>, page: Page) -> TextSlice {
        let end = span.start + page.taken;
        let truncated = end < span.end;
        let progress = page.taken > 0 || page.offset > self.range.offset;
        let mut changes = vec![("start", end)];
        if self.range.end.is_some() {
            changes.push(("end", span.end));
        }
        if page.offset > 0 {
            changes.push(("offset", page.offset));
        }
        TextSlice {
            text: page.text,
            unit,
            total: total as u64,
            start: span.start as u64,
            end: end as u64,
            truncated,
            next: (truncated && progress).then(|| self.with(&changes)),
        }
    }
}

fn of_lines(text: &str, selector: &Selector, budget: PageBudget, index: &mut SliceIndex) -> TextSlice {
    let all = index.lines(text);
    let span = selector.span(all.len());
    let mut units = all[span.clone()].iter().map(|line| PageUnit::text(part_of(text, *line)));
    let page = fill(&mut units, &PageFrame::LINES, selector.range.offset, budget);
    index.read += page.taken as u64 + 1;
    selector.answer("lines", all.len(), &span, page)
}

/// Pages text that was written about the source; it is never larger than the source.
fn written(
    text: &str,
    selector: &Selector,
    unit: &'static str,
    (open, entries): (String, Vec<String>),
    mut budget: PageBudget,
) -> TextSlice {
    budget.quarters = budget.quarters.min(budget.estimator.quarters(text));
    let total = entries.len();
    let span = selector.span(total);
    let frame = PageFrame { open: Cow::Owned(open), ..PageFrame::LINES };
    let mut units = entries.into_iter().skip(span.start).take(span.len()).map(PageUnit::text);
    let page = fill(&mut units, &frame, selector.range.offset, budget);
    selector.answer(unit, total, &span, page)
}

fn parsed<'t>(text: &'t str, selector: &Selector) -> Result<JsonTree<'t>> {
    JsonTree::parse(text).ok_or_else(|| {
        Error::new(ErrorCode::DecodeFailed, "the artifact is not JSON, or nests too deeply").at(selector.path.as_str())
    })
}

fn json_keys(text: &str, selector: &Selector, keys: &[String], budget: PageBudget) -> Result<TextSlice> {
    let tree = parsed(text, selector)?;
    if tree.root().kind() != JsonKind::Object {
        return Err(Error::new(ErrorCode::DecodeFailed, "the artifact is not a JSON object").at(selector.path.as_str()));
    }
    let wanted = contextweaver_base::order::WordSet::new(keys.to_vec());
    let picked = || tree.root().members().filter(|(key, _)| wanted.contains(key));
    let total = picked().count();
    let span = selector.span(total);
    let mut units = picked().skip(span.start).take(span.len()).map(|(key, value)| member(&key, value.raw()));
    let page = fill(&mut units, &PageFrame::OBJECT, selector.range.offset, budget);
    Ok(selector.answer("keys", total, &span, page))
}

fn member<'a>(key: &str, raw: &'a str) -> PageUnit<'a> {
    let mut lead = String::new();
    json::push_quoted(&mut lead, key);
    lead.push_str(": ");
    PageUnit { lead, body: UnitBody::Json(raw.into()) }
}

fn json_path(text: &str, selector: &Selector, path: &JsonPath, budget: PageBudget) -> Result<TextSlice> {
    let tree = parsed(text, selector)?;
    let (hits, plural) = path.follow(tree.root());
    let offset = selector.range.offset;
    let all = hits.iter().map(|hit| match hit.chars {
        None => PageUnit::json(hit.node.raw()),
        Some((start, end)) => {
            let text = hit.node.text();
            let part = prefix(skip_chars(&text, start), end - start).to_owned();
            PageUnit { lead: String::new(), body: UnitBody::Quoted(part) }
        }
    });
    let (unit, total) = match hits.first() {
        None if !plural => {
            return Err(Error::new(ErrorCode::NotFound, "the path leads to nothing")
                .at(format!("{}/path", selector.path))
                .hint("the selector `outline` lists what there is"));
        }
        Some(hit) if !plural && hit.chars.is_none() && hit.node.is_container() => {
            let keyed = hit.node.kind() == JsonKind::Object;
            (if keyed { "keys" } else { "items" }, hit.node.len())
        }
        _ => (if plural { "items" } else { "values" }, hits.len()),
    };
    let span = selector.span(total);
    let page = match unit {
        "values" => fill(&mut all.skip(span.start).take(span.len()), &PageFrame::LINES, offset, budget),
        _ if plural => fill(&mut all.skip(span.start).take(span.len()), &PageFrame::ARRAY, offset, budget),
        _ => {
            let mut children = hits[0].node.entries().skip(span.start).take(span.len()).map(|(key, value)| match key {
                Some(key) => PageUnit { lead: format!("{}: ", key.raw()), body: UnitBody::Json(value.raw().into()) },
                None => PageUnit::json(value.raw()),
            });
            fill(&mut children, if unit == "keys" { &PageFrame::OBJECT } else { &PageFrame::ARRAY }, offset, budget)
        }
    };
    Ok(selector.answer(unit, total, &span, page))
}

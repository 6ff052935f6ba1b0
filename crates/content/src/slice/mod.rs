//! Parts of a text: what a drilldown answers, under a limit of tokens, with a way to go on.

mod found;
mod index;
mod json;
mod outline;
mod pager;
mod records;
mod search;
mod selector;
mod tool;
mod values;

use std::borrow::Cow;
use std::ops::Range;

use serde::Serialize;

use self::found::{WrittenEntries, part_of};
pub use self::index::SliceIndex;
pub(super) use self::json::{push_index, push_key, squeeze};
pub(super) use self::outline::kind_of_line;
use self::pager::{Page, PageBudget, PageFrame, PageUnit, Pager};
use self::records::TabularText;
pub use self::records::json_rows;
pub(super) use self::records::{has_columns, one_line};
use self::selector::SelectorKind;
pub use self::selector::{SELECTORS, Selector};
pub use self::tool::{drilldown_tool, recall_tool};
use contextweaver_base::Result;
use contextweaver_model::json::JsonMap;
use contextweaver_text::lines::slice_range;
use contextweaver_text::tokens::Estimator;

/// Which of the rows that fulfil conditions are shown, counted from 0 among those.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MatchingRows {
    /// The first one shown.
    pub start: u64,
    /// The one after the last that is shown whole.
    pub end: u64,
    /// Rows there are, matching or not, without the header.
    pub rows: u64,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct TextSlice {
    /// What was asked for, or as much of it as fits.
    pub text: String,
    /// What `total`, `start` and `end` count: `chars`, `lines`, `rows`, `items`, `keys`, `values`, `hits`, `columns` or `entries`.
    pub unit: &'static str,
    /// Units there are; of rows with conditions, those that fulfil them.
    pub total: u64,
    /// First unit shown, from 0; of rows with conditions, the first one looked at.
    pub start: u64,
    /// Unit after the last one shown whole; of rows with conditions, after the last one looked at.
    pub end: u64,
    /// Of rows with conditions, which of those that fulfil them are shown.
    pub matches: Option<MatchingRows>,
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
/// `DECODE_FAILED` for paths and keys of what is no JSON, `TOO_LARGE` at `/pattern`, `/where` or `/columns` for a search, for
/// conditions or for columns that would take more than 33,554,432 steps.
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

/// Reads a part of a text as [`slice()`] does, with what earlier calls found out about it: following `next` over lines or
/// rows reads the text once.
///
/// # Errors
/// As [`slice()`].
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
    let shape = |index: &mut SliceIndex| index.shape(media_type, text);
    let table = |index: &mut SliceIndex| TabularText::indexed(text, media_type, index);
    let mut pager = Pager { text, selector, budget, index };
    match &selector.kind {
        SelectorKind::Head { start, chars } => Ok(head(&mut pager, *start, *chars)),
        SelectorKind::Tail { end, chars } => Ok(tail(&mut pager, *end, *chars)),
        SelectorKind::Lines => Ok(of_lines(&mut pager)),
        SelectorKind::Rows { columns, conditions, header } => match table(pager.index) {
            Some(records) => records.rows(&mut pager, (columns, conditions, *header)),
            None if columns.is_empty() && conditions.is_empty() => Ok(of_lines(&mut pager)),
            None => Err(TabularText::absent(selector)),
        },
        SelectorKind::JsonKeys(keys) => values::json_keys(&mut pager, keys),
        SelectorKind::JsonPath(path) => values::json_path(&mut pager, path),
        SelectorKind::Search { pattern, context, max_hits } => {
            let shape = shape(pager.index);
            search::search(&mut pager, shape, (pattern, *context, *max_hits))
        }
        SelectorKind::Columns | SelectorKind::Stats(_) => {
            let records = table(pager.index).ok_or_else(|| TabularText::absent(selector))?;
            written(&mut pager, "columns", &mut || records.describe(selector))
        }
        SelectorKind::Outline => {
            let shape = shape(pager.index);
            written(&mut pager, "entries", &mut || Ok(outline::outline(text, shape)))
        }
    }
}

fn head(pager: &mut Pager, start: usize, chars: usize) -> TextSlice {
    let (text, table) = (pager.text, pager.index.chars(pager.text));
    let total = table.chars;
    let start = start.min(total);
    let chars = chars.min(total - start);
    let wanted = &text[table.byte_of(text, start)..table.byte_of(text, start + chars)];
    let shown = pager.budget.prefix(wanted, pager.budget.quarters);
    let count = shown.chars().count();
    let next = || pager.selector.with(&[("start", start + count), ("chars", chars - count)]);
    of_chars(shown, total, start..start + count, (count < chars).then_some(count > 0), next)
}

/// Reads the last characters of a text. A token limit cuts the beginning, because the end of a tail matters most.
fn tail(pager: &mut Pager, end: Option<usize>, chars: usize) -> TextSlice {
    let (text, table) = (pager.text, pager.index.chars(pager.text));
    let total = table.chars;
    let end = end.unwrap_or(total).min(total);
    let start = end.saturating_sub(chars);
    let shown = pager.budget.suffix(&text[table.byte_of(text, start)..table.byte_of(text, end)]);
    let count = shown.chars().count();
    let next = || pager.selector.with(&[("end", end - count), ("chars", end - start - count)]);
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
        matches: None,
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
            matches: None,
            truncated,
            next: (truncated && progress).then(|| self.with(&changes)),
        }
    }
}

fn of_lines(pager: &mut Pager) -> TextSlice {
    let (text, all) = (pager.text, pager.index.lines(pager.text));
    let span = pager.selector.span(all.len());
    let page = pager.fill(span.clone(), &PageFrame::LINES, &mut |line| PageUnit::text(part_of(text, all[line])));
    pager.selector.answer("lines", all.len(), &span, page)
}

/// What is written about a text: a line about the whole, and the entries.
type Description = (String, Vec<String>);

/// Pages what was written about the source; it is never larger than the source.
fn written(
    pager: &mut Pager,
    unit: &'static str,
    describe: &mut dyn FnMut() -> Result<Description>,
) -> Result<TextSlice> {
    let estimator = pager.budget.estimator;
    let question = pager.selector.question(&["type", "columns"]) + estimator.name();
    let about = if let Some(known) = pager.index.entries.known(&question) {
        known
    } else {
        let ((open, entries), quarters) = (describe()?, estimator.quarters(pager.text));
        pager.index.read += pager.text.len() as u64;
        pager.index.entries.keep(question, WrittenEntries { open, entries, quarters })
    };
    pager.budget.quarters = pager.budget.quarters.min(about.quarters);
    let span = pager.selector.span(about.entries.len());
    let frame = PageFrame { open: Cow::Borrowed(&about.open), ..PageFrame::LINES };
    let page = pager.fill(span.clone(), &frame, &mut |entry| PageUnit::text(about.entries[entry].as_str()));
    Ok(pager.selector.answer(unit, about.entries.len(), &span, page))
}

//! What reading a text page by page would find out again for every page.

use std::sync::Arc;

use super::found::{CharTable, CutUnit, NodeList, RowIndex, RowPlan, SearchHits, Span, WrittenEntries, span_of};
use crate::sniff::{Shape, sniff};
use contextweaver_text::lines::lines;

/// What is known of one text, so that the next page of it is not looked for from the beginning. It is for the text it was
/// first used with, and for no other.
///
/// ```
/// use contextweaver_content::{Selector, SliceIndex, slice_indexed};
/// use contextweaver_text::tokens::Estimator;
/// use serde_json::{Value, json};
///
/// let text = (0..1000).map(|n| format!("line {n}\n")).collect::<String>();
/// let (mut index, mut next, mut pages) = (SliceIndex::default(), Some(json!({ "type": "lines" })), 0);
/// while let Some(selector) = next {
///     let selector = Selector::from_value(selector, "/selector")?;
///     let page = slice_indexed(&text, "text/plain", &selector, Some(100), &Estimator::V3, &mut index)?;
///     next = page.next.map(Value::Object);
///     pages += 1;
/// }
/// assert_eq!(pages, 30);
/// // The text was read about once, not once for every page.
/// assert!(index.units_read() < 3000);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct SliceIndex {
    shape: Option<Shape>,
    lines: Option<Arc<Vec<Span>>>,
    chars: Option<Arc<CharTable>>,
    pub(super) table: Option<RowIndex>,
    /// Which rows fulfil conditions.
    pub(super) kept: Memo<Vec<u32>>,
    pub(super) plan: Memo<RowPlan>,
    pub(super) nodes: Memo<NodeList>,
    pub(super) hits: Memo<SearchHits>,
    pub(super) entries: Memo<WrittenEntries>,
    /// The unit that the last page ended in.
    pub(super) cut: Memo<CutUnit>,
    pub(super) read: u64,
}

/// What was found, and the question that it answers; the last answer alone is kept.
#[derive(Debug)]
pub(super) struct Memo<T>(Option<(String, Arc<T>)>);

impl<T> Default for Memo<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Memo<T> {
    pub fn known(&self, question: &str) -> Option<Arc<T>> {
        self.0.as_ref().filter(|(known, _)| known == question).map(|(_, found)| Arc::clone(found))
    }

    pub fn keep(&mut self, question: String, found: T) -> Arc<T> {
        let found = Arc::new(found);
        self.0 = Some((question, Arc::clone(&found)));
        found
    }

    pub fn forget(&mut self) {
        self.0 = None;
    }
}

impl SliceIndex {
    /// Returns how much was looked at so far, for tests of how the work grows: lines, rows and values, and characters where
    /// those are counted.
    pub fn units_read(&self) -> u64 {
        self.read
    }

    pub(super) fn shape(&mut self, media_type: &str, text: &str) -> Shape {
        *self.shape.get_or_insert_with(|| sniff(media_type, text))
    }

    pub(super) fn lines(&mut self, text: &str) -> Arc<Vec<Span>> {
        if let Some(known) = &self.lines {
            return Arc::clone(known);
        }
        let found: Arc<Vec<Span>> = Arc::new(lines(text).map(|line| span_of(text, line)).collect());
        self.read += found.len() as u64;
        self.lines = Some(Arc::clone(&found));
        found
    }

    pub(super) fn chars(&mut self, text: &str) -> Arc<CharTable> {
        if let Some(known) = &self.chars {
            return Arc::clone(known);
        }
        let found = Arc::new(CharTable::of(text));
        self.read += found.chars as u64;
        self.chars = Some(Arc::clone(&found));
        found
    }
}

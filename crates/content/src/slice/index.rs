//! What reading a text page by page would find out again for every page.

use std::sync::Arc;

use crate::sniff::{Shape, sniff};
use contextweaver_text::lines::lines;

/// Bytes of a text, from and up to; a text has at most 4 GiB.
pub(super) type Span = (u32, u32);

/// Returns where a part of a text stands in it.
pub(super) fn span_of(text: &str, part: &str) -> Span {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    (start as u32, (start + part.len()) as u32)
}

/// Returns the part of a text at a place.
pub(super) fn part_of(text: &str, (start, end): Span) -> &str {
    &text[start as usize..end as usize]
}

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
    pub(super) table: Option<RowIndex>,
    /// Rows that fulfil the conditions asked for last, with those conditions as they were written.
    pub(super) kept: Option<(String, Arc<Vec<u32>>)>,
    pub(super) read: u64,
}

/// Where the rows of a text are.
#[derive(Debug, Clone)]
pub(super) struct RowIndex {
    /// The separator of a table.
    pub separator: Option<u8>,
    /// Whether the records are elements of a JSON array.
    pub array: bool,
    /// The header of a table is the first.
    pub rows: Arc<Vec<Span>>,
}

impl SliceIndex {
    /// Returns how many lines and rows were looked at so far, for tests of how the work grows.
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
}

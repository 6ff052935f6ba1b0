//! Structured content of an MCP result that its text says too, as servers send it for clients that know no other: both are
//! read, and a place is cited in one of them.

use std::ops::Range;

use serde_json::Value;

use super::sources::{ReadText, Texts};
use crate::compile::excerpt::split;
use crate::ingest::mcp;
use contextweaver_model::json;

/// How the handle of structured content ends.
const STRUCTURED: &str = ":structured_content";
/// Lines of a text at which the JSON is looked for.
const MAX_BEGINS: usize = 8;

impl Texts<'_> {
    /// Forgets places that stand in another text of the same result. A text that is the structured content, and nothing else,
    /// has rows too, and its handle is that of the result; beside other words, its JSON gives way to the structured content,
    /// unless more of the query stands in it: of structured content every letter beyond ASCII is escaped.
    pub(super) fn drop_twins(&mut self) {
        for structured in 0..self.read.len() {
            let told = self.best_in(structured).and_then(|score| Some((score, self.twin_of(structured)?)));
            let Some((score, (text, span))) = told else { continue };
            match span {
                Some(span) if self.best_in(text).is_none_or(|best| best <= score) => self.forget(text, &span),
                _ => self.places.retain(|place| place.text != structured),
            }
        }
    }

    fn best_in(&self, text: usize) -> Option<f64> {
        self.places.iter().filter(|place| place.text == text).map(|place| place.score).reduce(f64::max)
    }

    /// Returns the text of the result that says what structured content does, and where, if that is not all of it.
    fn twin_of(&self, structured: usize) -> Option<(usize, Option<Range<usize>>)> {
        let is_part = |read: &ReadText| {
            read.handle.as_deref().is_some_and(|handle| read.item.is_some_and(|item| mcp::owns(item, handle)))
        };
        let own = &self.read[structured];
        let item =
            own.item.filter(|_| is_part(own) && own.handle.as_deref().is_some_and(|at| at.ends_with(STRUCTURED)))?;
        let text =
            self.read.iter().position(|other| other.item.is_some_and(|of| of.id == item.id) && !is_part(other))?;
        let value = json::parse(&own.text).ok()?;
        let source = &self.read[text].text;
        let span = told_in(source, &value)?;
        let is_all = source[..span.start].trim().is_empty() && source[span.end..].trim().is_empty();
        Some((text, (!is_all).then_some(span)))
    }

    /// Forgets the places of a text that lie within some bytes of it.
    fn forget(&mut self, text: usize, span: &Range<usize>) {
        let ends = split(&self.read[text].text).into_iter().scan(0, |end, piece| {
            *end += piece.len();
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let begin = |piece: usize| piece.checked_sub(1).map_or(0, |before| ends[before]);
        self.places
            .retain(|place| place.text != text || ends[place.piece] <= span.start || begin(place.piece) >= span.end);
    }
}

/// Returns where a text says a value: as its JSON, behind which no bracket stands, or as the text itself.
fn told_in(text: &str, value: &Value) -> Option<Range<usize>> {
    if let Value::String(said) = value {
        return (text.trim() == said.trim()).then_some(0..text.len());
    }
    let end = text.rfind(['}', ']'])? + 1;
    let mut at = 0;
    for _ in 0..MAX_BEGINS {
        at += line_with_json(text.get(at..end)?)?;
        if json::parse(&text[at..end]).is_ok_and(|found| found == *value) {
            return Some(at..end);
        }
        at += 1;
    }
    None
}

/// Returns where the first line begins that may begin with a JSON object or array.
fn line_with_json(text: &str) -> Option<usize> {
    let begins_line = |at: &usize| {
        let before = text[..*at].trim_end_matches([' ', '\t']);
        before.is_empty() || before.ends_with('\n')
    };
    text.match_indices(['{', '[']).map(|(at, _)| at).find(begins_line)
}

//! Both sides of a decision, what it looks like and what it is for, taken from its words where nobody gives them.

mod general;

pub use general::general;

use crate::record::{Bridge, Decision};
use contextweaver_text::unicode::{is_space, trim};

/// Characters a side has at least, plus one.
const SHORT: usize = 10;
/// Reasons that say what a decision is for.
const TELLING: &[&str] = &["analysis", "constraint", "pattern"];

/// Takes the two sides from a decision; nothing when it says too little.
pub fn extract(decision: &Decision) -> Option<Bridge> {
    let structure = long(general(&decision.decision));
    let function = function_of(decision);
    let (structure, function) = match (structure, function) {
        (Some(structure), Some(function)) => (structure, function),
        (Some(only), None) | (None, Some(only)) => (only.clone(), only),
        (None, None) => return None,
    };
    Some(Bridge { structure, function, ..Bridge::default() })
}

/// Returns a text that is long enough to say something.
fn long(text: String) -> Option<String> {
    (text.chars().count() > SHORT).then_some(text)
}

fn function_of(decision: &Decision) -> Option<String> {
    if let Some(pattern) = decision.pattern.as_deref().map(trim).filter(|pattern| !pattern.is_empty()) {
        return Some(pattern.to_owned());
    }
    let telling = decision.reasons.iter().filter(|reason| TELLING.contains(&reason.kind.as_str()));
    let reason = telling.map(|reason| general(&reason.text)).find_map(long);
    reason.or_else(|| sentences(decision.context.as_deref().unwrap_or_default()).map(general).find_map(long))
}

/// Returns the sentences of a text; each ends with a full stop or an exclamation mark that white space follows.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let mut marks = text.char_indices().filter(|(_, ch)| matches!(ch, '.' | '!'));
        let end = marks.find(|(at, _)| text[at + 1..].chars().next().is_some_and(is_space)).map(|(at, _)| at);
        rest = end.map(|at| &text[at + 1..]);
        Some(&text[..end.unwrap_or(text.len())])
    })
}

#[cfg(test)]
mod tests;

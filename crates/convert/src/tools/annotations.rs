//! The effects of a tool in a definition as hints of MCP, and back.
//!
//! Hints are hints: nothing here or elsewhere permits or forbids anything because of one. A hint that is left out means
//! the worst case to a client, so what is not known is left out and never called safe.

use serde_json::Value;

use super::definition::ToolDefinition;
use crate::mcp::HINTS;
use contextweaver_model::Warning;
use contextweaver_model::json::{JsonMap, pointer};

/// Read-only, destructive, idempotent, open world; none for a hint that is left out.
type InferredHints = [Option<bool>; 4];

const YES: Option<bool> = Some(true);
const NO: Option<bool> = Some(false);

/// Infers the hints. Where a write of little consequence asks for confirmation, the seed says both; the warning wins.
fn inferred(category: Option<&str>, level: Option<&str>, confirm: bool) -> InferredHints {
    let is_high = level == Some("high");
    match (category, level) {
        (Some("read"), _) => [YES, NO, YES, YES],
        (Some("analysis"), _) => [YES, NO, YES, NO],
        (Some("write"), Some("high")) => [NO, YES, NO, YES],
        (Some("write"), _) if confirm => [NO, YES, None, YES],
        (Some("write"), level) => [NO, level.and(NO), None, YES],
        (Some("delete"), _) => [NO, YES, None, YES],
        (Some("side_effect"), _) if is_high || confirm => [NO, YES, NO, YES],
        (Some("side_effect"), level) => [NO, level.and(NO), NO, YES],
        _ => [None, if is_high || confirm { YES } else { None }, None, None],
    }
}

/// Returns the annotations of a definition: what it says itself, then what its category and the rest imply.
pub(super) fn annotations(definition: &ToolDefinition, path: &str, warnings: &mut Vec<Warning>) -> JsonMap {
    if !definition.infer {
        return definition.annotations.clone();
    }
    let table = inferred(definition.category, definition.level, definition.confirm);
    let mut hints = table;
    hints[2] = definition.idempotent.or(hints[2]);
    hints[3] = definition.open_world.or(hints[3]);
    let mut own = definition.annotations.clone();
    own.retain(|_, value| !value.is_null());
    for (key, hint) in HINTS.iter().zip(&mut hints) {
        match own.shift_remove(*key) {
            Some(Value::Bool(flag)) => *hint = Some(flag),
            Some(_) => {
                let at = pointer(&format!("{path}/annotations"), key);
                warnings.push(Warning::new("bad_annotation", "a hint is true or false; ignored", at));
            }
            None => {}
        }
    }
    let is_cautious = definition.confirm || definition.level == Some("high") || definition.category == Some("delete");
    let contradictions = [
        (0, table[0].is_some() && hints[0] != table[0], "the category says otherwise"),
        (1, hints[0] == YES && hints[1] == YES, "a tool that only reads destroys nothing"),
        (1, hints[0] != YES && is_cautious && hints[1] == NO, "the consequences say otherwise"),
    ];
    for (place, _, why) in contradictions.into_iter().filter(|(_, is, _)| *is) {
        let at = pointer(&format!("{path}/annotations"), HINTS[place]);
        warnings.push(Warning::new("annotation_contradiction", format!("{why}; kept as it is"), at));
    }
    let mut out = JsonMap::new();
    for (key, hint) in HINTS.iter().zip(hints) {
        if let Some(hint) = hint {
            out.insert((*key).to_owned(), hint.into());
        }
    }
    out.extend(own);
    out
}

/// Guesses category, level and confirmation from hints.
pub(super) fn guessed(annotations: Option<&JsonMap>) -> (&'static str, &'static str, bool) {
    let hint = |place: usize| annotations.and_then(|all| all.get(HINTS[place])).and_then(Value::as_bool);
    match (hint(0), hint(1), hint(3)) {
        (Some(true), _, Some(false)) => ("analysis", "low", false),
        (Some(true), _, _) => ("read", "low", false),
        (_, Some(false), _) => ("write", "medium", false),
        _ => ("write", "high", true),
    }
}

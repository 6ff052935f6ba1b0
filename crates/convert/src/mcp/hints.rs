//! Hints of a server about the effects of a tool. Nobody has checked them; they permit nothing.

use serde::Serialize;
use serde_json::Value;

use contextweaver_model::json::JsonMap;

/// The annotations that are hints.
pub const HINTS: &[&str] = &["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// The effects of a tool as the protocol reads its annotations: what is not declared has its default, which is the worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "the protocol has four hints")]
pub struct McpHints {
    /// Whether it changes nothing; never when it is also declared destructive.
    pub read_only_hint: bool,
    /// Whether it may destroy something.
    pub destructive_hint: bool,
    /// Whether doing it twice is the same as doing it once.
    pub idempotent_hint: bool,
    /// Whether it deals with the world outside, as a search of the web does.
    pub open_world_hint: bool,
}

impl McpHints {
    /// Reads the annotations of a tool, which are also the metadata of its item. Only true and false count.
    pub fn of(annotations: &JsonMap) -> Self {
        let declared = |place: usize| annotations.get(HINTS[place]).and_then(Value::as_bool);
        let read_only_hint = declared(0) == Some(true) && declared(1) != Some(true);
        Self {
            read_only_hint,
            destructive_hint: !read_only_hint && declared(1).unwrap_or(true),
            idempotent_hint: declared(2).unwrap_or(false),
            open_world_hint: declared(3).unwrap_or(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn defaults_are_those_of_the_protocol_and_destructive_wins() {
        for (annotations, expected) in [
            (json!({}), [false, true, false, true]),
            (json!({ "readOnlyHint": true }), [true, false, false, true]),
            (json!({ "readOnlyHint": true, "destructiveHint": true }), [false, true, false, true]),
            (json!({ "readOnlyHint": true, "destructiveHint": false }), [true, false, false, true]),
            (
                json!({ "destructiveHint": false, "idempotentHint": true, "openWorldHint": false }),
                [false, false, true, false],
            ),
            (
                json!({ "readOnlyHint": "true", "destructiveHint": 0, "openWorldHint": null }),
                [false, true, false, true],
            ),
        ] {
            let hints = json!(McpHints::of(annotations.as_object().unwrap()));
            let found: Vec<bool> = HINTS.iter().map(|key| hints[key].as_bool().unwrap()).collect();
            assert_eq!(found, expected, "{annotations}");
        }
    }
}

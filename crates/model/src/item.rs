//! The entries of the event log.

use serde::Serialize;
use serde_json::Value;

use super::envelope::{number_in_text, unless_empty};
use super::{ArtifactRef, ItemKind, JsonMap, Sensitivity};
use crate::json::python::is_truthy;
use crate::json::{Fields, Record, as_uint};
use contextweaver_base::Result;
use contextweaver_base::limits;

/// Metadata flag of an item in whose place another one stands.
pub const SUPERSEDED: &str = "superseded";

/// One entry of the event log.
///
/// ```
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let text = r#"{"id": "u1", "kind": "user_turn", "text": "Is it raining?", "metadata": {"tags": ["weather"]}}"#;
/// let item: ContextItem = serde_json::from_str(text)?;
/// assert_eq!(item.kind, ItemKind::UserTurn);
/// assert_eq!(item.tags().collect::<Vec<_>>(), ["weather"]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContextItem {
    /// Id, unique in the log.
    pub id: String,
    /// Kind, which decides phases and the place in the prompt.
    pub kind: ItemKind,
    /// Text for the model.
    pub text: String,
    /// Tokens of the text as the caller counted them; 0 means unknown, then it is estimated.
    #[record(with = token_estimate)]
    pub token_estimate: u64,
    /// How far the text may travel.
    #[record(default = Sensitivity::Public)]
    pub sensitivity: Sensitivity,
    /// Anything the caller wants kept; `tags`, `section`, `function_name`, `pinned` and `handoff_category` have a meaning.
    pub metadata: JsonMap,
    /// The item this one answers to: of a result, its call.
    pub parent_id: Option<String>,
    /// Where the full content is kept.
    #[record(with = unless_empty)]
    pub artifact_ref: Option<ArtifactRef>,
}

impl ContextItem {
    /// Makes a public item without metadata.
    pub fn new(id: impl Into<String>, kind: ItemKind, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            kind,
            text: text.into(),
            token_estimate: 0,
            sensitivity: Sensitivity::Public,
            metadata: JsonMap::new(),
            parent_id: None,
            artifact_ref: None,
        }
    }

    /// Tells whether another item stands in its place: it stays in the log, and in no prompt.
    pub fn is_superseded(&self) -> bool {
        self.metadata_flag(SUPERSEDED)
    }

    /// Returns a non-empty string of the metadata.
    pub fn metadata_str(&self, key: &str) -> Option<&str> {
        self.metadata.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// Tells whether a metadata flag is set to something truthy.
    pub fn metadata_flag(&self, key: &str) -> bool {
        // An empty list or object counts as set, as it does in JavaScript: these flags withhold.
        self.metadata.get(key).is_some_and(|value| is_truthy(value) || value.is_array() || value.is_object())
    }

    /// Returns the strings of `metadata.tags`.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.metadata.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }
}

/// Takes a count, which may be a number in text.
fn token_estimate(fields: &mut Fields, key: &'static str) -> Result<u64> {
    match fields.take(key).map(number_in_text) {
        None => Ok(0),
        Some(count) => as_uint(&count, &fields.at(key), limits::MAX_TOKEN_ESTIMATE),
    }
}

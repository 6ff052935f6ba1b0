//! What outlives a conversation: episodes, facts, entries of a memory source.

use serde::Serialize;
use serde_json::Value;

use super::{JsonMap, Sensitivity};
use crate::json::{Fields, Record};
use contextweaver_base::Result;

/// A past conversation in a sentence or two.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Episode {
    /// Names the episode; need not be unique.
    pub episode_id: String,
    /// Summary of what happened, shown in the prompt.
    pub summary: String,
    /// Labels of the caller.
    pub tags: Vec<String>,
    /// Data of the caller, returned as they are.
    pub metadata: JsonMap,
    /// How far the summary may travel.
    #[record(default = Sensitivity::Public)]
    pub sensitivity: Sensitivity,
}

/// A fact that is remembered: a key and a value.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Fact {
    /// Id, unique in the store.
    pub fact_id: String,
    /// Key that the value belongs to; several facts may have the same.
    pub key: String,
    /// The value, as text.
    pub value: String,
    /// Labels of the caller.
    pub tags: Vec<String>,
    /// Data of the caller, returned as they are.
    pub metadata: JsonMap,
    /// How far the value may travel.
    #[record(default = Sensitivity::Public)]
    pub sensitivity: Sensitivity,
}

impl Fact {
    /// Reads a fact whose id may be missing; the caller makes one from the key.
    ///
    /// # Errors
    /// Those of [`Fact::from_value`].
    pub fn with_optional_id(value: Value, path: &str) -> Result<(Option<String>, Self)> {
        let mut fields = Fields::open(value, path)?;
        let is_named = fields.peek("fact_id").is_some_and(|id| !id.is_null());
        fields.default_to("fact_id", "");
        let fact = Self::from_fields(&mut fields)?;
        Ok((is_named.then(|| fact.fact_id.clone()), fact))
    }
}

/// An entry of a caller's memory, to be selected per phase and query.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MemoryEntry {
    /// Id, unique among the entries.
    pub id: String,
    /// The remembered text.
    pub text: String,
    /// Source of the text, such as a session.
    #[record(default)]
    pub source: String,
    /// Time, in the caller's unit.
    #[record(default)]
    pub timestamp: f64,
    /// What it is about; each phase prefers certain scopes.
    #[record(default)]
    pub scope: String,
    /// How far the text may travel.
    #[record(default = Sensitivity::Public)]
    pub sensitivity: Sensitivity,
    /// How sure the caller is, 0 to 1.
    #[record(default = 1.0)]
    pub confidence: f64,
    /// When it stops being true, in the unit of `timestamp`.
    pub expires_at: Option<f64>,
    /// Free tags; they count for matching.
    pub tags: Vec<String>,
    /// Data of the caller, returned as they are.
    pub metadata: JsonMap,
}

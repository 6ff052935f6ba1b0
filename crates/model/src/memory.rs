//! What outlives a conversation: episodes, facts, entries of a memory source.

use serde::Serialize;
use serde_json::Value;

use super::{JsonMap, Sensitivity};
use crate::json::Fields;
use contextweaver_base::Result;

/// A past conversation in a sentence or two.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    pub sensitivity: Sensitivity,
}

impl Episode {
    /// Reads an episode; unknown fields are ignored.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            episode_id: fields.string("episode_id")?,
            summary: fields.string("summary")?,
            tags: fields.strings("tags")?,
            metadata: fields.object("metadata")?,
            sensitivity: fields.parsed_or("sensitivity", Sensitivity::Public, Sensitivity::parse)?,
        })
    }
}

/// A fact that is remembered: a key and a value.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    pub sensitivity: Sensitivity,
}

impl Fact {
    /// Reads a fact; unknown fields are ignored.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let fact_id = fields.string("fact_id")?;
        Self::read(fact_id, fields)
    }

    /// Reads a fact whose id may be missing; the caller makes one from the key.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn with_optional_id(value: Value, path: &str) -> Result<(Option<String>, Self)> {
        let mut fields = Fields::open(value, path)?;
        let id = fields.opt_string("fact_id")?;
        let fact = Self::read(id.clone().unwrap_or_default(), fields)?;
        Ok((id, fact))
    }

    fn read(fact_id: String, mut fields: Fields) -> Result<Self> {
        Ok(Self {
            fact_id,
            key: fields.string("key")?,
            value: fields.string("value")?,
            tags: fields.strings("tags")?,
            metadata: fields.object("metadata")?,
            sensitivity: fields.parsed_or("sensitivity", Sensitivity::Public, Sensitivity::parse)?,
        })
    }
}

/// An entry of a caller's memory, to be selected per phase and query.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MemoryEntry {
    /// Id, unique among the entries.
    pub id: String,
    /// The remembered text.
    pub text: String,
    /// Source of the text, such as a session.
    pub source: String,
    /// Time, in the caller's unit.
    pub timestamp: f64,
    /// What it is about; each phase prefers certain scopes.
    pub scope: String,
    /// How far the text may travel.
    pub sensitivity: Sensitivity,
    /// How sure the caller is, 0 to 1.
    pub confidence: f64,
    /// When it stops being true, in the unit of `timestamp`.
    pub expires_at: Option<f64>,
    /// Free tags; they count for matching.
    pub tags: Vec<String>,
    /// Data of the caller, returned as they are.
    pub metadata: JsonMap,
}

impl MemoryEntry {
    /// Reads an entry; unknown fields are ignored.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            id: fields.string("id")?,
            text: fields.string("text")?,
            source: fields.string_or("source", "")?,
            timestamp: fields.number_or("timestamp", 0.0, f64::MIN, f64::MAX)?,
            scope: fields.string_or("scope", "")?,
            sensitivity: fields.parsed_or("sensitivity", Sensitivity::Public, Sensitivity::parse)?,
            confidence: fields.number_or("confidence", 1.0, f64::MIN, f64::MAX)?,
            expires_at: fields.opt_number("expires_at", f64::MIN, f64::MAX)?,
            tags: fields.strings("tags")?,
            metadata: fields.object("metadata")?,
        })
    }
}

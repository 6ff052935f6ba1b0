//! What a tool result becomes: a summary with handles of the bytes it stands for.

use serde::Serialize;
use serde_json::{Value, json};

use super::{JsonMap, Status, Strategy};
use crate::json::python::is_truthy;
use crate::json::{Fields, as_uint};
use contextweaver_base::Result;

/// The handle of stored bytes, and what they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ArtifactRef {
    /// The name under which the bytes are found.
    pub handle: String,
    /// MIME type.
    pub media_type: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// A line for people.
    pub label: String,
    /// Lower-case hexadecimal SHA-256 of the bytes.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<_>", optional))]
    pub content_hash: String,
}

impl ArtifactRef {
    /// Reads an artifact; `size_bytes` may be a numeric string or have a fraction, as Python's `int` takes them.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let handle = fields.string("handle")?;
        let media_type = fields.string("media_type")?;
        let size = fields.require("size_bytes")?;
        Ok(Self {
            handle,
            media_type,
            size_bytes: as_count(size, &fields.at("size_bytes"))?,
            label: fields.string_or("label", "")?,
            content_hash: fields.string_or("content_hash", "")?,
        })
    }

    /// Takes an optional artifact from a field; an empty object counts as none.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn take(fields: &mut Fields, key: &'static str) -> Result<Option<Self>> {
        match fields.take(key) {
            None => Ok(None),
            Some(Value::Object(map)) if map.is_empty() => Ok(None),
            Some(value) => Self::from_value(value, &fields.at(key)).map(Some),
        }
    }
}

/// Reads a count as Python's `int` does: from a number in text, or by cutting off a fraction.
fn as_count(value: Value, path: &str) -> Result<u64> {
    match number_in_text(value) {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().map_or(-1.0, f64::trunc);
            as_uint(&json!(whole), path, u64::MAX)
        }
        other => as_uint(&other, path, u64::MAX),
    }
}

/// Turns a text that is a whole number into that number; anything else stays.
pub(super) fn number_in_text(value: Value) -> Value {
    let number = value.as_str().and_then(|text| text.trim().parse::<u64>().ok());
    number.map_or(value, Value::from)
}

/// A way to look into an artifact.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ViewSpec {
    /// Unique for the artifact.
    pub view_id: String,
    /// A line for people and models.
    pub label: String,
    /// What to pass to a drilldown.
    pub selector: JsonMap,
    /// The artifact it looks into.
    pub artifact_ref: Option<ArtifactRef>,
}

impl ViewSpec {
    /// Reads a view.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        Ok(Self {
            view_id: fields.string("view_id")?,
            label: fields.string("label")?,
            selector: fields.object("selector")?,
            artifact_ref: ArtifactRef::take(&mut fields, "artifact_ref")?,
        })
    }
}

/// What the firewall did to one result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FirewallStats {
    /// Whether the text was replaced.
    pub triggered: bool,
    /// How.
    pub strategy: Strategy,
    /// The gate in characters; 0 where the gate is in tokens.
    pub threshold_chars: u64,
    /// Characters before.
    pub original_chars: u64,
    /// Tokens before.
    pub original_tokens: u64,
    /// Characters after.
    pub summary_chars: u64,
    /// Tokens after.
    pub summary_tokens: u64,
    /// Handle of the kept bytes.
    pub artifact_ref: Option<String>,
    /// Whether a model wrote the summary.
    pub summarized_by_llm: bool,
    /// What the model-backed summarizer says of itself.
    #[cfg_attr(feature = "ts", ts(as = "Option<std::collections::BTreeMap<String, String>>"))]
    pub llm_provider: Option<JsonMap>,
}

impl FirewallStats {
    /// Returns the stats of nothing having happened.
    pub const fn noop() -> Self {
        Self {
            triggered: false,
            strategy: Strategy::Noop,
            threshold_chars: 0,
            original_chars: 0,
            original_tokens: 0,
            summary_chars: 0,
            summary_tokens: 0,
            artifact_ref: None,
            summarized_by_llm: false,
            llm_provider: None,
        }
    }

    /// Reads stats; counts and flags as Python's `int` and `bool` take them, and a `llm_provider` that is no object, or empty, counts as none.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let provider = match fields.take("llm_provider") {
            Some(Value::Object(map)) if !map.is_empty() => {
                Some(map.into_iter().map(|(k, v)| (k, text_of(v).into())).collect())
            }
            _ => None,
        };
        let flag = |value: Option<Value>| value.as_ref().is_some_and(is_truthy);
        let count = |fields: &mut Fields, key: &'static str| match fields.take(key) {
            None => Ok(0),
            Some(value) => as_count(value, &fields.at(key)),
        };
        Ok(Self {
            triggered: flag(fields.take("triggered")),
            strategy: fields.parsed_or("strategy", Strategy::Noop, Strategy::parse)?,
            threshold_chars: count(&mut fields, "threshold_chars")?,
            original_chars: count(&mut fields, "original_chars")?,
            original_tokens: count(&mut fields, "original_tokens")?,
            summary_chars: count(&mut fields, "summary_chars")?,
            summary_tokens: count(&mut fields, "summary_tokens")?,
            artifact_ref: fields.opt_string("artifact_ref")?,
            summarized_by_llm: flag(fields.take("summarized_by_llm")),
            llm_provider: provider,
        })
    }

    /// Returns the characters that the prompt was spared.
    pub const fn chars_saved(&self) -> u64 {
        self.original_chars.saturating_sub(self.summary_chars)
    }

    /// Returns the tokens that the prompt was spared.
    pub const fn tokens_saved(&self) -> u64 {
        self.original_tokens.saturating_sub(self.summary_tokens)
    }
}

fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// The roll-up of several firewall events.
pub type FirewallSummary = FirewallStats;

impl FirewallSummary {
    /// Sums events: sizes add, thresholds take the maximum, a common strategy stays, others become `mixed`.
    pub fn of(events: &[FirewallStats]) -> Self {
        let Some(first) = events.first() else { return Self::noop() };
        let sum = |of: fn(&FirewallStats) -> u64| events.iter().map(of).fold(0, u64::saturating_add);
        let same = events.iter().all(|event| event.strategy == first.strategy);
        Self {
            triggered: events.iter().any(|event| event.triggered),
            strategy: if same { first.strategy } else { Strategy::Mixed },
            threshold_chars: events.iter().map(|event| event.threshold_chars).max().unwrap_or(0),
            original_chars: sum(|e| e.original_chars),
            original_tokens: sum(|e| e.original_tokens),
            summary_chars: sum(|e| e.summary_chars),
            summary_tokens: sum(|e| e.summary_tokens),
            artifact_ref: events
                .iter()
                .find_map(|event| event.artifact_ref.clone().filter(|handle| !handle.is_empty())),
            summarized_by_llm: events.iter().any(|event| event.summarized_by_llm),
            llm_provider: None,
        }
    }
}

/// A tool result as the model sees it, with handles of what was left out.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ResultEnvelope {
    /// Outcome of the tool.
    pub status: Status,
    /// What stands in the prompt.
    pub summary: String,
    /// `key: value` lines found in the result.
    pub facts: Vec<String>,
    /// Stored bytes.
    pub artifacts: Vec<ArtifactRef>,
    /// Ways to look into them.
    pub views: Vec<ViewSpec>,
    /// Where the result comes from.
    pub provenance: JsonMap,
    /// What the firewall did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub firewall_stats: Option<FirewallStats>,
}

impl ResultEnvelope {
    /// Reads an envelope; status `success` is accepted for `ok`.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let status = match fields.string("status")?.as_str() {
            "success" => Status::Ok,
            text => Status::parse(text).map_err(|e| e.at(fields.at("status")))?,
        };
        let firewall_stats = match fields.take("firewall_stats") {
            Some(Value::Object(map)) if map.is_empty() => None,
            Some(value) => Some(FirewallStats::from_value(value, &fields.at("firewall_stats"))?),
            None => None,
        };
        Ok(Self {
            status,
            summary: fields.string("summary")?,
            facts: fields.strings("facts")?,
            artifacts: fields.records("artifacts", ArtifactRef::from_value)?,
            views: fields.records("views", ViewSpec::from_value)?,
            provenance: fields.object("provenance")?,
            firewall_stats,
        })
    }

    /// Makes the provenance of a result of the log.
    pub fn provenance_of(item_id: &str) -> JsonMap {
        let mut map = JsonMap::new();
        map.insert("source_item_id".into(), json!(item_id));
        map
    }
}

//! What a tool result becomes: a summary with handles of the bytes it stands for.

use serde::Serialize;
use serde_json::{Value, json};

use super::{JsonMap, Status, Strategy};
use crate::json::python::is_truthy;
use crate::json::{Field, Fields, Record, as_uint};
use contextweaver_base::Result;

/// A reference to stored bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ArtifactRef {
    /// The name under which the bytes are found.
    pub handle: String,
    /// MIME type.
    pub media_type: String,
    /// Size in bytes.
    #[record(with = size, required)]
    pub size_bytes: u64,
    /// A line for people, often empty.
    #[record(default)]
    pub label: String,
    /// Lower-case hexadecimal SHA-256 of the bytes.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<_>", optional))]
    #[record(default)]
    pub content_hash: String,
}

/// Takes a record if there is one; an empty object counts as none.
///
/// # Errors
/// Those of the record's reader.
pub fn unless_empty<T: Field>(fields: &mut Fields, key: &'static str) -> Result<Option<T>> {
    match fields.take(key) {
        None => Ok(None),
        Some(Value::Object(map)) if map.is_empty() => Ok(None),
        Some(value) => T::read(value, &fields.at(key)).map(Some),
    }
}

fn size(fields: &mut Fields, key: &'static str) -> Result<u64> {
    as_count(fields.require(key)?, &fields.at(key))
}

fn count(fields: &mut Fields, key: &'static str) -> Result<u64> {
    fields.take(key).map_or(Ok(0), |value| as_count(value, &fields.at(key)))
}

/// Takes a flag as Python's `bool` takes it.
#[expect(clippy::unnecessary_wraps, reason = "readers of fields can fail")]
fn flag(fields: &mut Fields, key: &'static str) -> Result<bool> {
    Ok(fields.take(key).as_ref().is_some_and(is_truthy))
}

/// Takes what a model says of itself, as texts; what is no object, or empty, counts as none.
#[expect(clippy::unnecessary_wraps, reason = "readers of fields can fail")]
fn provider(fields: &mut Fields, key: &'static str) -> Result<Option<JsonMap>> {
    Ok(match fields.take(key) {
        Some(Value::Object(map)) if !map.is_empty() => {
            Some(map.into_iter().map(|(k, v)| (k, text_of(v).into())).collect())
        }
        _ => None,
    })
}

/// Takes the outcome; `success` is accepted for `ok`.
fn status(fields: &mut Fields, key: &'static str) -> Result<Status> {
    fields.parsed(key, |text| if text == "success" { Ok(Status::Ok) } else { Status::parse(text) })
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

/// A way to look into an artifact; `selector` is what `drilldown` takes.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ViewSpec {
    /// Unique for the artifact.
    pub view_id: String,
    /// A line for people and models.
    pub label: String,
    /// In an envelope from elsewhere it may be anything.
    #[cfg_attr(feature = "ts", ts(type = "Selector"))]
    pub selector: JsonMap,
    /// The artifact it looks into.
    #[record(with = unless_empty)]
    pub artifact_ref: Option<ArtifactRef>,
}

/// What the firewall did to one result, or to all of a build. Its tokens are those of the records of 0.18, `heuristic/v2`
/// whatever the estimator of the manager: characters / 4, a wide one counts as four. What prompts and the lines below digests
/// count is what the estimator says.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FirewallStats {
    /// Whether the text was replaced.
    #[record(with = flag)]
    pub triggered: bool,
    /// How.
    #[record(default = Strategy::Noop)]
    pub strategy: Strategy,
    /// The gate in characters; 0 where the gate is in tokens.
    #[record(with = count)]
    pub threshold_chars: u64,
    /// Characters before.
    #[record(with = count)]
    pub original_chars: u64,
    /// Tokens before, by `heuristic/v2`.
    #[record(with = count)]
    pub original_tokens: u64,
    /// Characters after.
    #[record(with = count)]
    pub summary_chars: u64,
    /// Tokens after, by `heuristic/v2`.
    #[record(with = count)]
    pub summary_tokens: u64,
    /// Handle of the kept bytes.
    pub artifact_ref: Option<String>,
    /// Whether a model wrote the summary.
    #[record(with = flag)]
    pub summarized_by_llm: bool,
    /// What the model-backed summarizer says of itself.
    #[cfg_attr(feature = "ts", ts(as = "Option<std::collections::BTreeMap<String, String>>"))]
    #[record(with = provider)]
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

/// A tool result as the model sees it, with references to what was left out.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ResultEnvelope {
    /// Outcome of the tool.
    #[record(with = status, required)]
    pub status: Status,
    /// What stands in the prompt.
    pub summary: String,
    /// `key: value` lines found in the result.
    pub facts: Vec<String>,
    /// Stored bytes.
    pub artifacts: Vec<ArtifactRef>,
    /// Ways to look into the artifact, first what matters, then all of it page by page; of a large result only.
    pub views: Vec<ViewSpec>,
    /// Where the result comes from.
    pub provenance: JsonMap,
    /// What the firewall did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    #[record(with = unless_empty)]
    pub firewall_stats: Option<FirewallStats>,
}

impl ResultEnvelope {
    /// Makes the provenance of a result of the log.
    pub fn provenance_of(item_id: &str) -> JsonMap {
        let mut map = JsonMap::new();
        map.insert("source_item_id".into(), json!(item_id));
        map
    }
}

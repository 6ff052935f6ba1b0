//! The call of 0.18 that reduces a result outside of any conversation.

use serde_json::{Value, json};

use super::SECRETS;
use super::firewall::{CompatReduced, FirewallRules, reduce};
use crate::callbacks::{CallbackAnswers, Outcome};
use crate::firewall::handle_of;
use crate::options::{Plugin, RULE_BASED, STRUCTURED};
use crate::store::{ArtifactStore, content_hash};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, parse, to_sorted_ascii};
use contextweaver_model::{ContextItem, FirewallStats, ItemKind, JsonMap, Strategy};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{SECRET_MASK, redact_value};
use contextweaver_text::tokens::Estimator;

/// Key of the record that says what was done to an object.
const SIDECAR: &str = "_cw";
/// Characters by which a summary is cut until it fits.
const STEP_CHARS: usize = 64;

/// What is done to a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompatCompactStrategy {
    /// A projection where there are paths to keep and JSON to take them from, else a summary.
    Auto,
    /// A projection; there must be paths, and JSON.
    Structured,
    /// A summary, whatever paths there are.
    Text,
    /// The data stays as it is.
    Passthrough,
}

/// Options of [`compact_tool_result`].
#[derive(Debug, Clone, PartialEq)]
pub struct CompactOptions {
    /// Characters up to which nothing is done.
    pub threshold_chars: u64,
    /// Most tokens of a summary; 0 for any number.
    pub budget_tokens: u64,
    /// What is done above the threshold.
    pub strategy: CompatCompactStrategy,
    /// Paths of what a projection keeps.
    pub keep: Vec<String>,
    /// Whether functions backed by a model are refused.
    pub deterministic: bool,
    /// Whether data may have a key of the sidecar's name, which is then replaced.
    pub overwrite_sidecar: bool,
    /// Whether secrets are masked.
    pub redact_secrets: bool,
    /// Who summarises.
    pub summarizer: Option<Plugin>,
    /// Who finds facts.
    pub extractor: Option<Plugin>,
}

impl CompactOptions {
    /// Reads closed options.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `UNKNOWN_FIELD` and `OUT_OF_RANGE`, below `path`.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut plugin = |key: &'static str, built_in| -> Result<Option<Plugin>> {
            let value = fields.take(key);
            value.map(|value| Plugin::from_value(value, &fields.at(key), built_in)).transpose()
        };
        let (summarizer, extractor) = (plugin("summarizer", RULE_BASED)?, plugin("extractor", STRUCTURED)?);
        let strategy = match fields.string_or("strategy", "auto")?.as_str() {
            "auto" => CompatCompactStrategy::Auto,
            "structured" => CompatCompactStrategy::Structured,
            "passthrough" => CompatCompactStrategy::Passthrough,
            // 0.18 takes any other name for this.
            _ => CompatCompactStrategy::Text,
        };
        let max_chars = limits::MAX_STRING_BYTES as u64;
        let options = Self {
            threshold_chars: fields.uint_or("threshold_chars", limits::COMPAT_THRESHOLD_CHARS as u64, max_chars)?,
            budget_tokens: fields.uint_or("budget", limits::COMPACT_TOKENS, limits::MAX_BUDGET_TOKENS)?,
            strategy,
            keep: fields.strings("keep")?,
            deterministic: fields.bool_or("deterministic", true)?,
            overwrite_sidecar: fields.bool_or("overwrite_sidecar", false)?,
            redact_secrets: fields.bool_or("redact_secrets", false)?,
            summarizer,
            extractor,
        };
        fields.finish()?;
        Ok(options)
    }

    fn rules(&self) -> FirewallRules<'_> {
        FirewallRules {
            summarizer: self.summarizer.as_ref(),
            extractor: self.extractor.as_ref(),
            deterministic: self.deterministic,
            keep: if matches!(self.strategy, CompatCompactStrategy::Auto | CompatCompactStrategy::Structured) {
                &self.keep
            } else {
                &[]
            },
            threshold_chars: self.threshold_chars,
            redact_secrets: self.redact_secrets,
        }
    }
}

/// What became of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct Compacted {
    /// Whether it was reduced.
    pub firewalled: bool,
    /// What to show.
    pub payload: Value,
    /// The summary or the projection as text, if it was reduced.
    pub summary: Option<String>,
    /// Facts found in it.
    pub facts: Vec<String>,
    /// What was done, in numbers; with the handle of the kept bytes.
    pub stats: FirewallStats,
}

impl Compacted {
    /// Returns the record of 0.18.
    pub fn to_json(&self) -> Value {
        json!({
            "firewalled": self.firewalled,
            "payload": self.payload,
            "summary": self.summary,
            "facts": self.facts,
            "artifact_ref": self.stats.artifact_ref,
            "stats": self.stats,
        })
    }
}

/// Reduces a result above a number of characters; the whole of it is stored under a handle made of its hash.
///
/// # Errors
/// `INVALID_INPUT` for data with a key of the sidecar's name, and for a projection without paths or JSON; `DUPLICATE_ID`
/// when another text is stored under the handle; `QUOTA_EXCEEDED` at `/data`; `DETERMINISM` when a function backed by a
/// model would run although only deterministic ones may.
pub fn compact_tool_result(
    data: &Value,
    options: &CompactOptions,
    answers: &CallbackAnswers,
    artifacts: &mut ArtifactStore,
) -> Result<Outcome<Compacted>> {
    let invalid = |path: &str, message: &str| Err(Error::new(ErrorCode::InvalidInput, message).at(path));
    if data.get(SIDECAR).is_some() && !options.overwrite_sidecar {
        return invalid("/data/_cw", "the key is reserved");
    }
    if options.strategy == CompatCompactStrategy::Structured && options.keep.is_empty() {
        return invalid("/keep", "a projection needs paths to keep");
    }
    let (text, media_type) = match data {
        Value::String(text) => (text.clone(), "text/plain"),
        other => (to_sorted_ascii(other, None), "application/json"),
    };
    if options.strategy == CompatCompactStrategy::Structured && data.is_string() && parse(&text).is_err() {
        return invalid("/data", "a projection needs JSON");
    }
    if options.strategy == CompatCompactStrategy::Passthrough || text.chars().count() as u64 <= options.threshold_chars
    {
        return Ok(Outcome::Done(passed(data, &text, options)));
    }
    let id = format!("compact:{}", &content_hash(text.as_bytes())[..16]);
    let handle = handle_of(&id);
    if artifacts.get(&handle).is_ok_and(|stored| stored != text.as_bytes()) {
        return Err(Error::new(ErrorCode::DuplicateId, format!("another text is stored under {}", quote(&handle))));
    }
    let mut item = ContextItem::new(id, ItemKind::ToolResult, "");
    item.metadata.insert("media_type".into(), media_type.into());
    let reduced = reduce(item, &text, &options.rules(), answers)?;
    if answers.is_waiting() {
        return Ok(Outcome::Need(answers.take_needs()));
    }
    let reduced = reduced.store(text.as_bytes(), media_type, artifacts).map_err(|error| error.at("/data"))?;
    Ok(Outcome::Done(compacted(reduced, options)))
}

/// Masks secrets of values where the options ask for it.
fn clean(value: &Value, options: &CompactOptions) -> Value {
    if options.redact_secrets { redact_value(value, SECRETS, SECRET_MASK) } else { value.clone() }
}

/// Returns data as it is; objects say that nothing was done to them.
fn passed(data: &Value, text: &str, options: &CompactOptions) -> Compacted {
    let mut payload = clean(data, options);
    let shown = match &payload {
        Value::String(text) => text.clone(),
        other => to_sorted_ascii(other, None),
    };
    let mut stats = FirewallStats {
        strategy: Strategy::Passthrough,
        threshold_chars: options.threshold_chars,
        ..FirewallStats::noop()
    };
    (stats.original_chars, stats.original_tokens) = sizes(text);
    (stats.summary_chars, stats.summary_tokens) = sizes(&shown);
    if let Value::Object(map) = &mut payload {
        map.insert(SIDECAR.into(), sidecar(&stats));
    }
    Compacted { firewalled: false, payload, summary: None, facts: Vec::new(), stats }
}

fn sizes(text: &str) -> (u64, u64) {
    (text.chars().count() as u64, Estimator::V2.tokens(text))
}

fn compacted(reduced: CompatReduced, options: &CompactOptions) -> Compacted {
    let CompatReduced { envelope, projection, .. } = reduced;
    let mut stats = envelope.firewall_stats.unwrap_or_else(FirewallStats::noop);
    let mut summary = envelope.summary;
    let mut payload = JsonMap::new();
    match projection.map(|kept| clean(&kept, options)) {
        Some(Value::Object(map)) => payload = map,
        Some(other) => {
            payload.insert("_cw_data".into(), other);
        }
        None => {
            summary = cut(summary, options.budget_tokens);
            (stats.summary_chars, stats.summary_tokens) = sizes(&summary);
            payload.insert("_cw_summary".into(), summary.clone().into());
            payload.insert("_cw_artifact_ref".into(), stats.artifact_ref.clone().into());
        }
    }
    payload.insert(SIDECAR.into(), sidecar(&stats));
    let payload = Value::Object(payload);
    Compacted { firewalled: true, payload, summary: Some(summary), facts: envelope.facts, stats }
}

fn sidecar(stats: &FirewallStats) -> Value {
    json!({
        "firewalled": stats.triggered,
        "strategy": stats.strategy,
        "artifact_ref": stats.artifact_ref,
        "original_chars": stats.original_chars,
        "summary_chars": stats.summary_chars,
        "summarized_by_llm": stats.summarized_by_llm,
    })
}

/// Cuts a summary to a budget: to four characters a token, then in steps while it is too long.
fn cut(summary: String, budget: u64) -> String {
    if budget == 0 || Estimator::V2.tokens(&summary) <= budget {
        return summary;
    }
    let most = (budget as usize).saturating_mul(4);
    let chars = summary.chars().count().min(most);
    let (mut end, mut quarters) = (0, 0);
    for (index, (at, ch)) in summary.char_indices().take(chars).enumerate() {
        let next = at + ch.len_utf8();
        quarters += Estimator::V2.quarters(&summary[at..next]);
        if (chars - index - 1).is_multiple_of(STEP_CHARS) && quarters / 4 <= budget {
            end = next;
        }
    }
    format!("{}…", &summary[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_cut_in_steps() {
        let table = [
            ("abcd".repeat(10), 10, "abcd".repeat(10)),
            ("abcd".repeat(11), 10, "abcd".repeat(10) + "…"),
            ("値".repeat(400), 20, "値".repeat(16) + "…"),
            ("値".repeat(400), 10, "…".into()),
            ("値".repeat(400), 0, "値".repeat(400)),
        ];
        for (summary, budget, expected) in table {
            assert_eq!(cut(summary, budget), expected);
        }
        let long = "値".repeat(2_000_000);
        assert_eq!(cut(long, 1_000_000).chars().count(), 1_000_001);
    }

    #[test]
    fn what_is_stored_under_a_handle_stays() {
        let options = CompactOptions::from_value(json!({ "threshold_chars": 1 }), "").unwrap();
        let (answers, mut artifacts) = (CallbackAnswers::default(), ArtifactStore::new());
        let run = |artifacts: &mut ArtifactStore| compact_tool_result(&json!("text"), &options, &answers, artifacts);
        let Outcome::Done(done) = run(&mut artifacts).unwrap() else { panic!("nobody is asked") };
        let handle = done.stats.artifact_ref.unwrap();
        run(&mut artifacts).unwrap();
        assert_eq!(artifacts.list().count(), 1, "the same text again");
        artifacts.put(&handle, b"other", "text/plain", "").unwrap();
        assert_eq!(run(&mut artifacts).unwrap_err().code(), ErrorCode::DuplicateId);
        assert_eq!(artifacts.get(&handle).unwrap(), b"other");
    }
}

//! The result of a build.

use serde::Serialize;
use serde_json::Value;

use super::{BuildStats, Explanation, Phase, RenderedAs, ResultEnvelope, RunningStep};
use crate::json::Fields;
use contextweaver_base::Result;

/// One item of the prompt, in prompt order.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RenderedItem {
    /// Id of the item.
    pub id: String,
    /// The form in which the item is shown.
    pub rendered_as: RenderedAs,
    /// Tokens with heading and separator.
    pub tokens: u64,
    /// First byte of the section in the prompt (UTF-8).
    pub start: u64,
    /// Offset of the first byte after the section.
    pub end: u64,
    /// Characters of the item that the excerpt leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub omitted_chars: Option<u64>,
    /// Whether it is an excerpt of an item that left a running prompt, which stands behind what was there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<_>", optional))]
    pub recalled: bool,
}

/// A compiled prompt with its record.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContextPack {
    /// The prompt.
    pub prompt: String,
    /// Counts, token sums and dropped items.
    pub stats: BuildStats,
    /// The phase the prompt was made for.
    pub phase: Phase,
    /// Digests of results in the prompt.
    pub envelopes: Vec<ResultEnvelope>,
    /// The items of the prompt in prompt order; absent in packs of 0.18.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub items: Option<Vec<RenderedItem>>,
    /// Repairs and overflows, one sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<_>", optional))]
    pub warnings: Vec<String>,
    /// Why every candidate was kept or dropped, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub explanation: Option<Explanation>,
    /// The step of a running prompt; absent in one that was compiled for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub running: Option<RunningStep>,
}

impl ContextPack {
    /// Reads a pack as 0.18 writes it; unknown fields are ignored.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let prompt = fields.string("prompt")?;
        let stats = match fields.take("stats") {
            Some(value) => BuildStats::from_value(value, &fields.at("stats"))?,
            None => BuildStats::empty(""),
        };
        Ok(Self {
            prompt,
            stats,
            phase: fields.parsed_or("phase", Phase::Answer, Phase::parse)?,
            envelopes: fields.records("envelopes", ResultEnvelope::from_value)?,
            items: None,
            warnings: Vec::new(),
            explanation: None,
            running: None,
        })
    }
}

//! The result of a build.

use serde::Serialize;

use super::{BuildStats, Explanation, Phase, RenderedAs, ResultEnvelope, RunningStep};
use crate::json::Record;

/// One item of the prompt.
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
    /// Byte after the section.
    pub end: u64,
    /// Characters that an excerpt leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub omitted_chars: Option<u64>,
    /// Whether it is the digest of a large result, behind which there is more. A result whose text fits stands whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<_>", optional))]
    pub digest: bool,
    /// Whether it is an excerpt of an item that left a running prompt, which stands behind what was there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "ts", ts(as = "Option<_>", optional))]
    pub recalled: bool,
}

/// A compiled prompt with its record.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContextPack {
    /// The text for the model.
    pub prompt: String,
    /// Counts, token sums and dropped items.
    #[record(default = BuildStats::empty(""))]
    pub stats: BuildStats,
    /// The phase the prompt was made for.
    #[record(default)]
    pub phase: Phase,
    /// Digests of the results in the prompt, without their views: `artifacts.views` has those.
    pub envelopes: Vec<ResultEnvelope>,
    /// The items of the prompt in prompt order.
    #[record(skip)]
    pub items: Option<Vec<RenderedItem>>,
    /// What you should know; absent when there is nothing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "ts", ts(as = "Option<_>", optional))]
    #[record(skip)]
    pub warnings: Vec<String>,
    /// With `explain: true`.
    #[record(skip)]
    pub explanation: Option<Explanation>,
    /// The step of a running prompt; absent in one that was compiled for itself.
    #[record(skip)]
    pub running: Option<RunningStep>,
}

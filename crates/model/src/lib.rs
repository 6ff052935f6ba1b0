//! Plain records with the exact JSON of the wire: items, tools, envelopes, packs, policies. Nothing here computes.
//!
//! Every record is read by `from_value`, whose errors name the field, or by serde, which reads by `from_value`. [`json::Record`] derives it.
//!
//! ```
//! use contextweaver_model::{ContextItem, ItemKind, Phase, ContextPolicy};
//! use serde_json::json;
//!
//! let item = ContextItem::from_value(json!({ "id": "c1", "kind": "tool_call", "text": "{}" }), "/items/0")?;
//! assert!(ContextPolicy::default().allows(Phase::Answer, item.kind));
//!
//! let error = ContextItem::from_value(json!({ "id": "c1", "kind": "song", "text": "" }), "/items/0").unwrap_err();
//! assert_eq!((error.code().as_str(), error.path()), ("INVALID_INPUT", "/items/0/kind"));
//! # Ok::<(), contextweaver_base::Error>(())
//! ```

// The readers that are derived name this crate.
extern crate self as contextweaver_model;

mod budget;
mod enums;
mod envelope;
mod explanation;
mod item;
pub mod journal;
pub mod json;
mod memory;
mod pack;
mod policy;
mod profile;
mod running;
mod scoring;
mod stats;
mod tool;
mod warning;

pub use budget::ContextBudget;
pub use enums::{
    CutReason, DropReason, ItemKind, Mode, OverflowAction, Phase, RenderedAs, Sensitivity, SensitivityAction, Stage,
    Status, Strategy,
};
pub use envelope::{ArtifactRef, FirewallStats, FirewallSummary, ResultEnvelope, ViewSpec, unless_empty};
pub use explanation::{CandidateDetail, CandidateExplanation, Explanation, ScoreParts, TakenBy};
pub use item::{ContextItem, SUPERSEDED};
pub use memory::{Episode, Fact, MemoryEntry};
pub use pack::{ContextPack, RenderedItem};
pub use policy::ContextPolicy;
pub use profile::{ProfileConfig, RoutingConfig};
pub use running::{RunningCosts, RunningStep};
pub use scoring::{Bm25nWeights, ScoringConfig, ScoringMethod};
pub use stats::{BuildStats, DroppedItem, LedgerStats, RulesStats, TokenCalibration};
pub use tool::{HydrationResult, RESERVED_KEY, SelectableItem, TOOL_KINDS};
pub use warning::Warning;

pub use crate::json::JsonMap;
pub use contextweaver_record_derive::sparse;

//! Plain records with the exact JSON of the wire, and nothing that computes.

mod budget;
mod enums;
mod envelope;
mod explanation;
mod item;
pub mod json;
mod memory;
mod pack;
mod policy;
mod profile;
mod scoring;
mod stats;
mod tool;
mod warning;

pub use budget::ContextBudget;
pub use enums::{
    ItemKind, Mode, OverflowAction, Phase, RenderedAs, Sensitivity, SensitivityAction, Stage, Status, Strategy,
};
pub use envelope::{ArtifactRef, FirewallStats, FirewallSummary, ResultEnvelope, ViewSpec};
pub use explanation::{CandidateDetail, CandidateExplanation, Explanation, ScoreParts};
pub use item::ContextItem;
pub use memory::{Episode, Fact, MemoryEntry};
pub use pack::{ContextPack, PrefixReport, RenderedItem};
pub use policy::ContextPolicy;
pub use profile::{ProfileConfig, RoutingConfig};
pub use scoring::{Bm25nWeights, CompatWeights, ScoringConfig, ScoringMethod};
pub use stats::{BuildStats, DroppedItem};
pub use tool::{HydrationResult, RESERVED_KEY, SelectableItem, TOOL_KINDS};
pub use warning::Warning;

pub use crate::json::JsonMap;

//! Decision memory: what an agent decided and why, what came of it, and what that says about the next decision.
//!
//! A [`DecisionStore`] holds decisions with their reasons, outcomes and links. It has no clock, no files and no chance:
//! times and ids come with each call, in a [`CallerContext`], and with them the embeddings of a model of the host's, if
//! it has one. Agents use the store through tools ([`service::call_tool`]), over MCP ([`service::rpc::handle`]) or with
//! the methods here.
//!
//! ```
//! use contextweaver_decisions::{
//!     CallerContext, Decision, DecisionFilters, DecisionQuery, DecisionStore, DecisionStoreOptions, HostAnswers,
//!     BridgeSide, RetrievalMode,
//! };
//!
//! let mut store = DecisionStore::new(DecisionStoreOptions::default());
//!
//! // Log a decision. The host gives the id and the time.
//! let mut answers = HostAnswers::default();
//! answers.add_id("d1".to_owned());
//! let call = CallerContext { agent: "planner", trace: None, now: 1_773_576_000_000, answers: &answers };
//! let decision = Decision {
//!     decision: "Retry payments three times with backoff".to_owned(),
//!     category: "architecture".to_owned(),
//!     confidence: Some(0.8),
//!     stakes: Some("medium".to_owned()),
//!     ..Decision::default()
//! };
//! let logged = store.log(&call, decision, None)?;
//! assert!(logged.verdict.allowed);
//!
//! // Find it again by what it is about.
//! let filters = DecisionFilters::default();
//! let query = DecisionQuery {
//!     text: "payment retries",
//!     limit: 5,
//!     mode: RetrievalMode::Hybrid,
//!     side: BridgeSide::Both,
//!     filters: &filters,
//! };
//! let results = store.query(&answers, &query)?;
//! assert_eq!(results.hits[0].id, "d1");
//!
//! // Keep it: an equal store comes out of the exported one.
//! let snapshot = store.export().to_value();
//! let mut restored = DecisionStore::new(DecisionStoreOptions::default());
//! restored.restore(snapshot)?;
//! assert_eq!(restored.size(), 1);
//! # Ok::<(), contextweaver_base::Error>(())
//! ```

mod briefing;
pub mod calibration;
mod contradictions;
pub mod graph;
pub mod guardrails;
mod host;
mod log;
mod profile;
mod ready;
mod reason_stats;
pub mod record;
pub mod search;
pub mod service;
mod snapshot;
mod store;

// The stages that recorded cases and fuzzing run one by one. They are no part of the API.
#[doc(hidden)]
pub mod bridge;
#[doc(hidden)]
pub mod terms;
#[doc(hidden)]
pub mod timestamps;
#[doc(hidden)]
pub mod tools;
#[doc(hidden)]
pub mod tracker;
#[doc(hidden)]
pub mod yaml;

pub use contradictions::Contradiction;
pub use graph::{DecisionEdge, DecisionGraph, EdgeDirection, EdgeType};
pub use guardrails::{ActionToCheck, AddedGuardrails, CheckedAction, GuardrailFinding, GuardrailVerdict, OnRuleError};
pub use host::{CallerContext, HostAnswers, HostRequest};
pub use log::LoggedDecision;
pub use ready::{DueAction, DueFilter, ReadyQueue};
pub use reason_stats::{ReasonStats, reason_stats};
pub use record::{Bridge, Decision, DecisionLimits, DecisionReason, Deliberation};
pub use search::{
    BridgeSide, DecisionFilters, DecisionHit, DecisionQuery, RetrievalMode, SearchOptions, SearchResults,
};
pub use snapshot::{ImportConflict, ImportMode, ImportOptions, ImportReport, RejectedRecord, StoreSnapshot};
pub use store::{ChangeEvent, ChangeKind, DecisionStore, DecisionStoreOptions};

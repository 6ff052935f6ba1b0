//! Decision memory: what an agent decided and why, what came of it, and what that says about the next decision.
//!
//! One store in memory, no clock, no files and no chance: times and ids come with each call.

pub mod bridge;
pub mod briefing;
pub mod calibration;
pub mod contradictions;
pub mod graph;
pub mod guardrails;
pub mod host;
pub mod log;
pub mod profile;
pub mod ready;
pub mod reason_stats;
pub mod record;
pub mod search;
pub mod service;
pub mod snapshot;
pub mod store;
pub mod terms;
pub mod timestamps;
pub mod tools;
pub mod tracker;
pub mod yaml;

pub use host::{CallerContext, HostAnswers, HostRequest};
pub use record::Decision;
pub use store::{DecisionStore, DecisionStoreOptions};

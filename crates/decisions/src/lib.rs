//! Decision memory: what an agent decided and why, what came of it, and what that says about the next decision.
//!
//! One store in memory, no clock, no files and no chance: times and ids come with each call.

pub mod bridge;
pub mod briefing;
pub mod calibration;
pub mod call;
pub mod changes;
pub mod compaction;
pub mod contradictions;
pub mod draft;
pub mod figures;
pub mod finder;
pub mod graph;
pub mod guardrails;
pub mod options;
pub mod profile;
pub mod quality;
mod reading;
pub mod ready;
pub mod reason_stats;
pub mod record;
pub mod recording;
pub mod records;
pub mod service;
pub mod snapshot;
pub mod store;
pub mod times;
pub mod tools;
pub mod tracker;
pub mod words;
pub mod yaml;

pub use call::{CallerContext, HostAnswers, HostRequest};
pub use options::DecisionStoreOptions;
pub use record::Decision;
pub use store::DecisionStore;

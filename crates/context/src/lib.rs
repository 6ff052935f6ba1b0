//! The context compiler: an event log in, a prompt under a hard budget out, with a reason for everything left out.
//!
//! A build runs eight stages, a file and a function of the same name each: [`candidates`], [`closure`], [`sensitivity`],
//! [`firewall`], [`score`], [`dedup`], [`select`], [`render`]. `pipeline` runs them, unless the options name another
//! [`ManagerStrategy`]. What they leave is a structured prompt; [`render`] makes text or messages of it.

mod append;
mod build_state;
pub mod call_prompt;
pub mod callbacks;
mod candidates;
mod closure;
mod compact;
#[cfg(feature = "compat")]
pub mod compat;
mod dedup;
mod digest_note;
mod drilldown;
mod excerpt;
mod explain;
mod firewall;
mod frame;
pub mod handoff;
mod hydrate;
mod index;
mod ingest;
mod ingest_mcp;
mod manager;
pub mod memory;
mod messages;
mod options;
mod output;
mod pipeline;
mod prompt;
mod reduce;
mod render;
pub mod report;
mod request;
mod score;
mod select;
mod sensitivity;
mod snapshot;
mod source_message;
pub mod store;
mod stores;
mod strategy;
mod summaries;

pub use build_state::Event;
pub use call_prompt::SchemaOverrides;
pub use callbacks::{Need, Outcome};
pub use compact::{CompactRequest, CompactResult, CompactStrategy};
pub use drilldown::{DrilldownRequest, Slice, drilldown_tool};
pub use handoff::{HandoffCategory, HandoffEntry, HandoffPack};
pub use ingest::{Ingested, ToolResult};
pub use ingest_mcp::{McpBinary, McpResult};
pub use manager::{BuildOutput, ContextManager, ManagerStats};
pub use messages::{BuiltMessages, message_plan};
pub use options::{
    Classifier, Extractor, FirewallOptions, ManagerLimits, ManagerOptions, ManagerRules, Plugin, RULE_BASED,
    STRUCTURED, Summarizer, TextForm,
};
pub use request::BuildRequest;
pub use snapshot::{SNAPSHOT_VERSION, Snapshot};
pub use source_message::forget_source_message;
pub use strategy::ManagerStrategy;
pub use summaries::{SummaryRequest, SuppliedSummary};

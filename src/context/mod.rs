//! The context compiler: an event log in, a prompt under a hard budget out, with a reason for everything left out.
//!
//! A build runs eight stages, one file each: [`candidates`], [`closure`], [`sensitivity`], [`firewall`], [`score`],
//! [`dedup`], [`select`], [`render`]. `pipeline` runs them for the default mode, [`compat`] as the Python reference does.

mod append;
pub mod call_prompt;
pub mod callbacks;
pub mod candidates;
pub mod closure;
pub mod compat;
pub mod dedup;
mod draft;
mod excerpt;
mod explain;
pub mod firewall;
pub mod handoff;
mod header;
mod index;
mod ingest;
mod manager;
pub mod memory;
mod options;
mod output;
mod pipeline;
pub mod render;
pub mod report;
mod request;
pub mod score;
pub mod select;
pub mod sensitivity;
mod snapshot;

pub use draft::Event;
pub use ingest::{Ingested, ToolResult};
pub use manager::{BuildOutput, ContextManager, DrilldownRequest, ManagerStats, Slice};
pub use options::{Classifier, FirewallOptions, Limits, ManagerOptions, Plugin, RULE_BASED, STRUCTURED};
pub use request::BuildRequest;
pub use snapshot::{SNAPSHOT_VERSION, Snapshot};

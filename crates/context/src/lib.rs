//! The context compiler: an event log in, a prompt under a hard token budget out, with a reason for everything left out.
//!
//! A [`ContextManager`] holds the log of a conversation. Turns, calls and results go in as they happen: as items
//! ([`ingest`](ContextManager::ingest)), as the bytes a tool returned
//! ([`ingest_tool_result`](ContextManager::ingest_tool_result)), as a result of MCP
//! ([`ingest_mcp_result`](ContextManager::ingest_mcp_result)). Large results are stored as artifacts, and the log has a
//! digest of them. [`build`](ContextManager::build) compiles the prompt of a phase,
//! [`build_messages`](ContextManager::build_messages) the same as messages of a provider.
//!
//! ```
//! use contextweaver_context::{BuildRequest, ContextManager, DrilldownRequest, ManagerOptions, ToolResult};
//! use contextweaver_model::{ContextItem, ItemKind, Phase};
//! use serde_json::json;
//!
//! let mut manager = ContextManager::new(ManagerOptions::default());
//! manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "Why did the nightly job fail?"))?;
//! manager.ingest(ContextItem::new("c1", ItemKind::ToolCall, r#"{"job":"nightly"}"#))?;
//! let log: String = (0..3000).map(|n| format!("step {n} done in 12 ms\n")).collect();
//! let log = log + "ERROR step 3000: no space left on device\n";
//! manager.ingest_tool_result(&ToolResult::new("c1", "read_log"), log.as_bytes())?;
//!
//! let request = BuildRequest { budget_tokens: Some(1000), ..BuildRequest::new(Phase::Answer, "why did it fail") };
//! let pack = manager.build(&request)?.done().unwrap().pack;
//! assert!(pack.prompt.contains("no space left on device"));
//! assert!(pack.stats.prompt_tokens.is_some_and(|tokens| tokens <= 1000));
//!
//! // The model asks for more of the log than the digest has.
//! let selector = json!({ "type": "tail", "chars": 41 });
//! let slice = manager.drilldown(&DrilldownRequest::new("artifact:result:c1", selector))?.done().unwrap();
//! assert_eq!(slice.text, "ERROR step 3000: no space left on device\n");
//! # Ok::<(), contextweaver_base::Error>(())
//! ```
//!
//! # Functions of the caller
//!
//! The core calls nothing. Where the options name a function of the caller (an estimator, a classifier, a summarizer),
//! an operation returns [`Outcome::Need`] with questions; [`supply`](ContextManager::supply) takes the answers, and the
//! operation is called again. Without such functions every outcome is [`Outcome::Done`].
//!
//! # The stages of a build
//!
//! A build runs eight stages, a file of `compile` and a function of the same name each: `candidates`, `closure`, `sensitivity`,
//! `firewall`, `score`, `dedup`, `select`, `render`. `pipeline` runs them. What they leave is a structured prompt; `render`
//! makes text or messages of it.

mod calibration;
pub mod call_prompt;
pub mod callbacks;
mod compact;
mod compile;
mod digest_note;
mod drilldown;
mod event;
mod firewall;
mod forget;
pub mod handoff;
mod hydrate;
mod index;
mod ingest;
mod journal;
mod labels;
mod manager;
mod masking;
pub mod memory;
mod messages;
mod options;
mod recall;
mod reduce;
pub mod report;
mod request;
mod rules;
mod running;
mod sensitivity;
mod snapshot;
mod source_message;
pub mod store;
mod stores;
mod summaries;
mod sync;
mod withheld;

pub use calibration::ObservedUsage;
pub use call_prompt::SchemaOverrides;
pub use callbacks::{Need, Outcome};
pub use compact::{CompactRequest, CompactResult, CompactStrategy};
pub use drilldown::abridged::{AbridgeRequest, Abridged};
pub use drilldown::request::{DrilldownRequest, Slice};
pub use event::Event;
pub use forget::ForgottenItem;
pub use handoff::{HandoffCategory, HandoffEntry, HandoffPack};
pub use ingest::items::IngestedItems;
pub use ingest::mcp_result::{McpBinary, McpResult};
pub use ingest::tool_result::{Ingested, ToolResult};
pub use journal::{JournalBlob, JournalExport, JournalOptions, RestoredJournal};
pub use manager::{BuildOutput, ContextManager, ManagerStats};
pub use messages::{BuiltMessages, message_owners, open_calls};
pub use options::{
    Classifier, Extractor, FirewallOptions, ManagerLimits, ManagerOptions, Plugin, RULE_BASED, STRUCTURED, Summarizer,
};
pub use recall::request::{RecallAnswer, RecallRequest, RecalledExcerpt};
pub use request::BuildRequest;
pub use rules::edit::{NewRule, RuleCorrection};
pub use rules::find::StatementKind;
pub use rules::rule::{RuleState, StandingRule};
pub use running::{PROVIDERS, PriceModel, ProviderPrices};
pub use snapshot::{SNAPSHOT_VERSION, Snapshot};
pub use source_message::forget_source_message;
pub use summaries::{SummaryRequest, SuppliedSummary};
pub use sync::{Conversation, NotedMessage, SyncedMessages, message_plan};

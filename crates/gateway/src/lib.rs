//! A gateway in front of MCP servers, without transport, clock or randomness: what clients see of many servers, what
//! they may do, and how a call goes.

pub mod cache;
pub mod failure;
mod front;
mod index;
mod instructions;
mod options;
mod overrides;
pub mod policy;
pub mod preset;
mod primitives;
pub mod rate;
pub mod repair;
pub mod retry;
mod runtime;
pub mod schema_health;
mod search;
mod servers;
mod stats;
pub mod visibility;

pub use cache::{CachePolicy, ResultCache, cache_key};
pub use contextweaver_text::glob::{self, Glob};
pub use failure::{FailureKind, GatewayError, GatewayErrorCode, UpstreamFailure, classify, upstream_detail};
pub use front::{FrontMode, ToolList};
pub use options::{GatewayMode, GatewayOptions, OnFinding, OwnNames, ServerOptions, ToolPins};
pub use overrides::{ToolOverride, ToolOverrides};
pub use policy::{PolicyAction, PolicyRuling, PolicySubject, ToolPolicy};
pub use preset::{Preset, PresetParts};
pub use primitives::{FoundPrompt, FoundResource};
pub use rate::{CallLimits, RateLimits, RateRuling, RateState};
pub use repair::{ArgumentRepair, RepairedArguments, repair_arguments, repair_json_texts};
pub use retry::RetryPolicy;
pub use runtime::{
    AcceptedTools, CallCounts, CallInfo, CallKind, CallRequest, CallStep, ClientTraits, FailedCall, FinishedCall,
    FinishedReply, FinishedTask, ForwardedCall, Gateway, ListedServer, MeasuredResult, NextStep, PinState, RoutedTools,
    RpcError, UnmatchedRule,
};
pub use schema_health::{SchemaFinding, item_findings, schema_findings};
pub use servers::{
    AppUse, DriftedTool, ListChanges, ListingReport, MendedEntry, OverriddenTool, OverrideProblem, QuarantineReason,
    QuarantinedTool, ServerStatus, SkippedEntry,
};
pub use stats::{GatewayStats, LargeResult, RefusalStats, ServerStats, ToolStats};
pub use visibility::VisibilityProfile;

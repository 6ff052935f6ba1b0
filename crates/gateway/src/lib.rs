//! A gateway in front of MCP servers, without transport, clock or randomness: what clients see of many servers, what
//! they may do, and how a call goes.

pub mod failure;
mod front;
pub mod glob;
mod options;
pub mod policy;
mod runtime;
mod servers;

pub use failure::{FailureKind, GatewayError, GatewayErrorCode, UpstreamFailure, classify, upstream_detail};
pub use front::{FrontMode, ToolList};
pub use glob::Glob;
pub use options::{GatewayMode, GatewayOptions, OnFinding, OwnNames, ServerOptions, ToolPins};
pub use policy::{PolicyAction, PolicyRuling, PolicySubject, ToolPolicy};
pub use runtime::{
    AcceptedTools, CallRequest, CallStep, FailedCall, FinishedCall, FinishedReply, ForwardedCall, Gateway,
    ListedServer, MeasuredResult, PinState, RpcError,
};
pub use servers::{
    DriftedTool, ListChanges, ListingReport, QuarantineReason, QuarantinedTool, ServerStatus, SkippedEntry,
};

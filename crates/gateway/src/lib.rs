//! A gateway in front of MCP servers, without transport, clock or randomness: what clients see of many servers, what
//! they may do, and how a call goes.

pub mod cache;
pub mod failure;
pub mod glob;
pub mod policy;
pub mod preset;
pub mod rate;
pub mod retry;

pub use cache::{CachePolicy, ResultCache, cache_key};
pub use failure::{FailureKind, GatewayError, GatewayErrorCode, UpstreamFailure, classify, upstream_detail};
pub use glob::Glob;
pub use policy::{PolicyAction, PolicyRuling, PolicySubject, ToolPolicy};
pub use preset::{Preset, PresetParts};
pub use rate::{CallLimits, RateLimits, RateRuling, RateState};
pub use retry::RetryPolicy;

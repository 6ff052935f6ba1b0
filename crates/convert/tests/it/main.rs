//! Messages of model providers, both ways.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod anthropic_gemini;
mod carried;
mod conversations;
mod media;
mod mended;
mod mistakes;
mod properties;
mod provider_logs;
mod provider_rules;
mod refused;
mod repairs;
mod resource_links;
mod schema_suite;
mod torn;

//! The promises of the context compiler, over random logs and over what went wrong before.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod calibration;
mod eviction;
mod fills;
mod growth;
mod handovers;
mod hydration;
mod ingest_messages;
mod journal;
mod ledger;
mod messages;
mod policy;
mod properties;
mod recall;
mod results;
mod rule_book;
mod rules;
mod running;
mod running_cases;
mod shown;
mod small_budgets;
mod support;
mod sync;
mod weaknesses;

// The rules of providers, as the converters are held to.
#[path = "../../../convert/tests/it/provider_logs/mod.rs"]
#[allow(dead_code, reason = "the rules alone are used")]
mod provider_logs;
#[path = "../../../convert/tests/it/provider_rules.rs"]
mod provider_rules;

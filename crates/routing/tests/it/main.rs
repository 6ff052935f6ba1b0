//! Catalogs, their index, graph and cards.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

mod cards;
mod catalog;
mod follow_ups;
mod graph;
mod growth;
mod index;
mod mcp_catalogs;
mod provider_schemas;
mod quality;
mod refusals;

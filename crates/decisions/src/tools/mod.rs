//! The tools, one file each: `run(store, call, arguments)` returns the structured content.

pub mod check_action;
pub mod get_decision;
pub mod get_graph;
pub mod get_neighbors;
pub mod get_reason_stats;
pub mod get_session_context;
pub mod get_stats;
pub mod link_decisions;
pub mod log_decision;
pub mod pre_action;
pub mod query_decisions;
pub mod ready;
pub mod record_thought;
pub mod review_outcome;
mod selection;
pub mod update_decision;

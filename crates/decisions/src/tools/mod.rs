//! The tools of the service. Each takes the store, who calls, and checked arguments; it returns the structured content.

mod actions;
mod decisions;
mod graph;
mod query;
mod session_context;
mod statistics;

pub use actions::{check_action, pre_action, pre_action_logs, pre_action_texts};
pub use decisions::{get_decision, log_decision, record_thought, review_outcome, update_decision};
pub use graph::{get_graph, get_neighbors, link_decisions};
pub use query::{query_decisions, query_texts};
pub use session_context::{get_session_context, session_context_texts};
pub use statistics::{get_reason_stats, get_stats, ready};

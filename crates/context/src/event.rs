//! What the caller's hooks are told.

/// Reason given to the firewall hook.
pub const FIREWALL_REASON: &str = "tool_result intercepted";

/// Something that happened, for the caller's hooks.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "hook", rename_all = "snake_case")]
pub enum Event {
    /// A result was replaced by its summary.
    FirewallTriggered {
        /// Id of its item.
        item_id: String,
        /// Always the same words, as 0.18 says them.
        reason: &'static str,
    },
    /// Items were dropped for one reason.
    ItemsExcluded {
        /// Their ids, in the order they were dropped.
        item_ids: Vec<String>,
        /// The drop reason: `sensitivity`, `dedup`, `kind_limit`, `budget`, `near_repeat`, …
        reason: String,
    },
    /// More was wanted than the budget allows.
    BudgetExceeded {
        /// Tokens that the prompt would have had.
        requested: u64,
        /// Tokens that the budget allows.
        limit: u64,
    },
    /// A build is finished.
    ContextBuilt {
        /// Phase the prompt is for.
        #[cfg_attr(feature = "ts", ts(as = "contextweaver_model::Phase"))]
        phase: String,
    },
}

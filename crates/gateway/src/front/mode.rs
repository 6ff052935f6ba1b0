//! Which tools clients see, and the list of them.

use serde::Serialize;

use contextweaver_model::json::JsonMap;

/// Which tools clients see now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[cfg_attr(feature = "ts", ts(rename_all = "snake_case"))]
pub enum FrontMode {
    /// The tools of the servers as they are.
    #[default]
    Firewall,
    /// Search and call.
    Search,
}

/// The tools that a client sees.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolList {
    /// Which they are.
    pub mode: FrontMode,
    /// The tools of MCP, in the order in which they are to be shown.
    #[cfg_attr(feature = "ts", ts(type = "JsonObject[]"))]
    pub tools: Vec<JsonMap>,
}

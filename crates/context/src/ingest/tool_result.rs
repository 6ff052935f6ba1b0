//! What comes in of the result of a tool, and what is handed back.

use serde::Serialize;

use crate::event::{Event, FIREWALL_REASON};
use contextweaver_content::KeepPath;
use contextweaver_model::json::Record;
use contextweaver_model::{ContextItem, ItemKind, JsonMap, ResultEnvelope, Sensitivity};

/// The raw result of a tool, but for its bytes.
#[derive(Debug, Clone, PartialEq, Record)]
#[record(closed, root)]
pub struct ToolResult {
    /// Id of the call that it answers; the item in the log is `result:` and this id.
    pub tool_call_id: String,
    /// Name of the tool; may be empty.
    #[record(default)]
    pub tool_name: String,
    /// MIME type of the bytes.
    #[record(default = "text/plain".to_owned())]
    pub media_type: String,
    /// How far the result may travel.
    #[record(default = Sensitivity::Public)]
    pub sensitivity: Sensitivity,
    /// Anything the caller wants kept.
    pub metadata: JsonMap,
    /// Of a large JSON result, the paths that may stand in the prompt; empty for no such rule.
    pub keep: Vec<KeepPath>,
}

impl ToolResult {
    /// Makes the record of a public result in plain text.
    pub fn new(tool_call_id: &str, tool_name: &str) -> Self {
        Self {
            tool_call_id: tool_call_id.to_owned(),
            tool_name: tool_name.to_owned(),
            media_type: "text/plain".to_owned(),
            sensitivity: Sensitivity::Public,
            metadata: JsonMap::new(),
            keep: Vec::new(),
        }
    }

    pub(crate) fn item(&self, text: &str) -> ContextItem {
        let mut item = ContextItem::new(format!("result:{}", self.tool_call_id), ItemKind::ToolResult, text);
        item.parent_id = Some(self.tool_call_id.clone());
        item.sensitivity = self.sensitivity;
        item.metadata.clone_from(&self.metadata);
        item.metadata.insert("tool_name".into(), self.tool_name.clone().into());
        item.metadata.insert("media_type".into(), self.media_type.clone().into());
        item
    }
}

/// What the log and the caller have of a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Ingested {
    /// The item in the log; for the caller without its text, where that is at or above the sensitivity floor.
    pub item: ContextItem,
    /// The record of the result for the model; without its text where that is at or above the floor.
    pub envelope: ResultEnvelope,
}

impl Ingested {
    /// Returns what the hooks should hear: that the text was replaced, if it was.
    pub fn events(&self) -> Vec<Event> {
        let triggered = self.envelope.firewall_stats.as_ref().is_some_and(|stats| stats.triggered);
        let event = || Event::FirewallTriggered { item_id: self.item.id.clone(), reason: FIREWALL_REASON };
        triggered.then(event).into_iter().collect()
    }
}

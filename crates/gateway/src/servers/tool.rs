//! One tool of a server, as it was listed.

use std::rc::Rc;

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::Result;
use contextweaver_convert::mcp::{McpHints, ToolOptions, mcp_tool_to_selectable};
use contextweaver_model::json::JsonMap;
use contextweaver_model::{SelectableItem, Warning};
use contextweaver_routing::catalog::item_fingerprint;

use super::report::QuarantineReason;
use crate::front::shown_tool;

/// Under this key of `_meta` stood the address of a view in drafts of the extension; servers write both.
const VIEW_OF_DRAFTS: &str = "ui/resourceUri";
/// The same as a JSON pointer.
const VIEW_OF_DRAFTS_POINTER: &str = "/ui~1resourceUri";

/// A tool by its server's place and the name that the server has for it: it stays the same when the server lists anew.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ToolRef {
    pub server: usize,
    pub name: Rc<str>,
}

/// What a view of a server (an MCP App) needs of the results of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum AppUse {
    /// The tool has a view beside the model, which shows structured content.
    View,
    /// Only views call the tool: no model reads its results.
    Only,
}

/// A tool of a server.
#[derive(Debug, Clone)]
pub(crate) struct ServerTool {
    /// As an item: id `mcp:<server>/<name>`, the server as namespace.
    pub item: Rc<SelectableItem>,
    /// Digest of everything it says.
    pub digest: String,
    /// As clients see it, without its name.
    pub shown: JsonMap,
    /// What its arguments have to be, with what the server listed mended; nothing where that is no object.
    pub schema: JsonMap,
    /// What the server says of its results.
    pub output_schema: Option<JsonMap>,
    /// What the server says of its effects, with the defaults of the protocol.
    pub hints: McpHints,
    /// Why it is neither shown nor called; nothing when it is.
    pub quarantine: Vec<QuarantineReason>,
}

impl ServerTool {
    /// Reads a tool, which `mended` has as the protocol says; also returns what was ignored.
    pub fn read(value: Value, mended: &JsonMap, server: &str) -> Result<(Self, Vec<Warning>)> {
        let options = ToolOptions { server: Some(server.to_owned()), ..ToolOptions::default() };
        let shown = shown_tool(mended);
        let object = |key: &str| mended.get(key).and_then(Value::as_object).cloned();
        let is_given = value.get("inputSchema").and_then(Value::as_object).is_some_and(|schema| !schema.is_empty());
        let schema = object("inputSchema").filter(|_| is_given).unwrap_or_default();
        let output_schema = object("outputSchema");
        let converted = mcp_tool_to_selectable(value, &options)?;
        let item = converted.item;
        let tool = Self {
            digest: item_fingerprint(&item),
            shown,
            schema,
            output_schema,
            hints: McpHints::of(&item.metadata),
            quarantine: Vec::new(),
            item: Rc::new(item),
        };
        Ok((tool, converted.warnings))
    }

    /// Its name at its server.
    pub fn name(&self) -> &str {
        &self.item.name
    }

    /// What clients read of it; where the server says nothing, its name.
    pub fn description(&self) -> &str {
        self.shown.get("description").and_then(Value::as_str).unwrap_or(&self.item.description)
    }

    /// What views need of its results, by `_meta.ui`.
    pub fn app_use(&self) -> Option<AppUse> {
        let visibility = self.shown.get("_meta")?.get("ui").and_then(|ui| ui.get("visibility")?.as_array());
        if visibility.is_some_and(|all| !all.is_empty() && all.iter().all(|who| who == "app")) {
            return Some(AppUse::Only);
        }
        self.view().map(|_| AppUse::View)
    }

    /// Whether its server runs it as a task, `required` or `optional`.
    pub fn task_support(&self) -> Option<&str> {
        let support = self.shown.get("execution")?.get("taskSupport")?.as_str()?;
        matches!(support, "required" | "optional").then_some(support)
    }

    /// The address of its view (MCP Apps); of the first drafts, too.
    pub fn view(&self) -> Option<&str> {
        let meta = self.shown.get("_meta")?;
        let current = meta.get("ui").and_then(|ui| ui.get("resourceUri"));
        current.or_else(|| meta.get(VIEW_OF_DRAFTS)).and_then(Value::as_str)
    }

    /// The same tool with another address of its view.
    pub fn with_view(shown: &mut JsonMap, address: &str) {
        let Some(meta) = shown.get_mut("_meta") else { return };
        for place in ["/ui/resourceUri", VIEW_OF_DRAFTS_POINTER] {
            if let Some(known) = meta.pointer_mut(place) {
                *known = address.into();
            }
        }
    }

    /// Whether it may be shown and called.
    pub fn is_usable(&self) -> bool {
        self.quarantine.is_empty()
    }
}

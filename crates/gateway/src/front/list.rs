//! The answer to `tools/list`.

use serde::Serialize;

use contextweaver_model::json::JsonMap;

use super::names::ToolPlace;
use super::{mark_unavailable, own};
use crate::runtime::Gateway;

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
    /// The meta-tools of contextweaver 0.18.
    Reference,
}

/// The tools that a client sees.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolList {
    /// Which they are.
    pub mode: FrontMode,
    /// The tools of MCP, in the order in which they are to be shown.
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown>[]"))]
    pub tools: Vec<JsonMap>,
}

impl Gateway {
    /// Names of the gateway's own tools in the mode of now.
    pub(crate) fn own_names(&self) -> Vec<String> {
        let names = &self.options.names;
        vec![names.drilldown.clone()]
    }

    /// Returns the tools that a client sees; without a session those that each sees.
    pub(crate) fn front(&self, session: Option<&str>, caller: Option<&str>) -> ToolList {
        let _ = session;
        let mode = self.mode();
        let mut tools: Vec<JsonMap> = self.listed(caller).into_iter().map(|place| self.tool_as_shown(place)).collect();
        tools.push(own::drilldown(&self.options.names.drilldown));
        ToolList { mode, tools }
    }

    /// The tools of servers that a client may see, in the order of the servers and of their lists.
    pub(crate) fn listed(&self, caller: Option<&str>) -> Vec<ToolPlace> {
        let all = self
            .servers
            .iter()
            .enumerate()
            .flat_map(|(server, listed)| listed.usable().map(move |(tool, _)| ToolPlace { server, tool }));
        all.filter(|place| self.may_see(*place, caller)).collect()
    }

    /// A tool as clients see it, under its name and with a mark where its server cannot be reached.
    pub(crate) fn tool_as_shown(&self, place: ToolPlace) -> JsonMap {
        let Some((server, tool)) = self.tool(place) else { return JsonMap::new() };
        let mut shown = JsonMap::new();
        shown.insert("name".to_owned(), self.names.table.name(place).into());
        shown.extend(
            tool.shown.iter().filter(|(key, _)| *key != "name").map(|(key, value)| (key.clone(), value.clone())),
        );
        if server.is_unavailable() {
            mark_unavailable(&mut shown, &server.name);
        }
        shown
    }

    /// Names and digests of what clients see that have used nothing, to know whether that changed.
    pub(crate) fn front_digests(&self) -> Vec<(String, String)> {
        let listed = self.listed(None).into_iter().filter_map(|place| {
            let (server, tool) = self.tool(place)?;
            let mark = if server.is_unavailable() { "!" } else { "" };
            Some((self.names.table.name(place).to_owned(), format!("{}{mark}", tool.digest)))
        });
        listed.collect()
    }
}

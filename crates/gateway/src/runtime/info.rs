//! What a call is about, for whoever watches calls.

use serde::Serialize;

use super::Gateway;
use super::step::CallStep;
use crate::failure::Checked;
use crate::failure::GatewayErrorCode;
use crate::front::{ToolPlace, safe_line};
use crate::servers::Server;
use crate::servers::ToolRef;

/// What a client asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum CallKind {
    /// A tool of a server.
    #[default]
    Tool,
    /// Tools that fit.
    Search,
    /// A part of a stored result.
    Drilldown,
    /// A search of stored results.
    Recall,
}

/// What a call is about and how it ended here: names and codes, nothing that a client or a server wrote.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CallInfo {
    /// What is asked for.
    pub kind: CallKind,
    /// The server that has it; nothing for the gateway's own tools, and for what no server has.
    pub server: Option<String>,
    /// The name that the server has for the tool, made safe to show, or that of the gateway's own; nothing where no tool has
    /// the name that was called.
    pub tool: Option<String>,
    /// The code of the error, where the call has ended with one.
    pub error: Option<&'static str>,
    /// Whether it was answered from what was kept.
    pub cache_hit: bool,
}

/// What a host does next with a call, and what the call is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct NextStep {
    /// What to do.
    #[serde(flatten)]
    pub step: CallStep,
    /// What the call is about.
    pub info: CallInfo,
}

impl CallInfo {
    /// Describes a call of one of the gateway's own tools.
    pub(crate) fn of_own(kind: CallKind, tool: &str) -> Self {
        Self { kind, tool: Some(tool.to_owned()), ..Self::default() }
    }

    fn of_server(server: Option<&Server>, tool: &str) -> Self {
        let server = server.map(|server| server.name.clone());
        Self { server, tool: Some(safe_line(tool)), ..Self::default() }
    }

    /// Adds the error with which the call has ended.
    pub(super) fn ended_with(self, code: GatewayErrorCode) -> Self {
        Self { error: Some(code.as_str()), ..self }
    }
}

impl Gateway {
    /// Describes a call of a tool that its server lists.
    pub(super) fn info_of(&self, place: ToolPlace) -> Option<CallInfo> {
        let (server, tool) = self.tool(place)?;
        Some(CallInfo::of_server(Some(server), tool.name()))
    }

    /// Describes a call that was begun before. Its server need not list the tool any more.
    pub(super) fn info_of_open(&self, tool: &ToolRef) -> CallInfo {
        CallInfo::of_server(self.servers.get(tool.server), &tool.name)
    }

    /// Makes the next step of what came of a call; tells the client of an error, and counts it.
    pub(crate) fn next_step(&mut self, info: CallInfo, step: Checked<CallStep>) -> NextStep {
        match step {
            Ok(step) => NextStep { step, info },
            Err(error) => {
                self.stats.refused(&error);
                NextStep { step: CallStep::refused(&error), info: info.ended_with(error.code) }
            }
        }
    }
}

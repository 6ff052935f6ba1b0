//! What a call is about, for whoever watches calls.

use serde::Serialize;

use super::Gateway;
use super::step::CallStep;
use crate::failure::GatewayErrorCode;
use crate::front::{ToolPlace, safe_line};

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

impl Gateway {
    /// Adds what is known of the call to its next step.
    pub(super) fn told(&mut self, step: CallStep) -> NextStep {
        NextStep { step, info: std::mem::take(&mut self.info) }
    }

    /// Notes that a call is of one of the gateway's own tools.
    pub(crate) fn about_own(&mut self, kind: CallKind, tool: &str) {
        self.info = CallInfo { kind, tool: Some(tool.to_owned()), ..CallInfo::default() };
    }

    /// Notes of which tool a call is.
    pub(super) fn about_tool(&mut self, place: ToolPlace) {
        let Some((server, tool)) = self.tool(place) else { return };
        let (server, tool) = (server.name.clone(), safe_line(tool.name()));
        self.info = CallInfo { server: Some(server), tool: Some(tool), ..CallInfo::default() };
    }

    /// Notes what a call is about that was begun before.
    pub(super) fn about_open(&mut self, tool: &super::ToolRef) {
        let server = self.servers.get(tool.server).map(|server| server.name.clone());
        self.info = CallInfo { server, tool: Some(safe_line(&tool.name)), ..CallInfo::default() };
    }

    /// Notes with which error a call has ended.
    pub(crate) fn ended_with(&mut self, code: GatewayErrorCode) {
        self.info.error = Some(code.as_str());
    }
}

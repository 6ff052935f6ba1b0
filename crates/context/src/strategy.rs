//! The seam between a manager and another way to do its work.

use crate::callbacks::Outcome;
use crate::drilldown::request::{DrilldownRequest, Slice};
use crate::ingest::mcp_result::McpResult;
use crate::ingest::tool_result::{Ingested, ToolResult};
use crate::manager::{BuildOutput, ContextManager};
use crate::request::BuildRequest;
use contextweaver_base::Result;
use contextweaver_model::{ArtifactRef, ContextItem, ResultEnvelope, Sensitivity, ViewSpec};
use serde_json::Value;

/// The operations that something else than the eight default stages does for a manager. Checks, stores, the log and the
/// questions to functions of the caller are the same for all.
pub trait ManagerStrategy: std::fmt::Debug + Sync {
    /// Returns the version that it decides like; two strategies of one version are the same.
    fn version(&self) -> &'static str;

    /// Compiles a prompt.
    ///
    /// # Errors
    /// Those of [`ContextManager::build`].
    fn build(&self, manager: &mut ContextManager, request: &BuildRequest) -> Result<Outcome<BuildOutput>>;

    /// Takes the raw result of a tool.
    ///
    /// # Errors
    /// Those of [`ContextManager::ingest_tool_result`].
    fn ingest_tool_result(
        &self,
        manager: &mut ContextManager,
        result: &ToolResult,
        raw: &[u8],
    ) -> Result<Outcome<Ingested>>;

    /// Takes the result of an MCP tool that was taken apart.
    ///
    /// # Errors
    /// Those of [`ContextManager::ingest_mcp_result`].
    fn ingest_mcp_result(&self, manager: &mut ContextManager, result: McpResult) -> Result<Outcome<Ingested>>;

    /// Takes a digest made elsewhere.
    ///
    /// # Errors
    /// Those of [`ContextManager::ingest_envelope`].
    fn ingest_envelope(
        &self,
        manager: &mut ContextManager,
        tool_call_id: &str,
        tool_name: &str,
        envelope: &ResultEnvelope,
        sensitivity: Sensitivity,
    ) -> Result<Outcome<ContextItem>>;

    /// Reads a part of an artifact that may be read.
    ///
    /// # Errors
    /// Those of [`ContextManager::drilldown`].
    fn part(&self, manager: &ContextManager, request: &DrilldownRequest) -> Result<Slice>;

    /// Returns the views of bytes that may be read.
    fn views(&self, artifact_ref: &ArtifactRef, raw: &[u8]) -> Vec<ViewSpec>;

    /// Shortens what is handed over; what this answers counts only when no function of the caller has to be asked.
    ///
    /// # Errors
    /// Those of [`ContextManager::handoff`].
    fn shorten(&self, manager: &mut ContextManager, items: Vec<ContextItem>) -> Result<Outcome<Vec<ContextItem>>>;

    /// Reduces data outside of any conversation, by the fields of its own options.
    ///
    /// # Errors
    /// Those of [`ContextManager::compact`].
    fn compact(&self, manager: &mut ContextManager, arguments: Value) -> Result<Outcome<Value>>;
}

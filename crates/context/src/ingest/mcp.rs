//! Results of MCP tools on their way into the log: the text as that of any tool, bytes under handles of the call.

use serde_json::Value;

use super::live_handles;
use super::mcp_result::{McpBinary, McpResult};
use super::tool_result::Ingested;
use crate::callbacks::Outcome;
use crate::manager::ContextManager;
use crate::reduce;
use crate::store::NewArtifact;
use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ArtifactRef, ContextItem};
use contextweaver_text::quote::quote;

/// What handles of the parts of results begin with.
pub(crate) const PART: &str = "mcp:";

/// Tells whether an item is the result of the call that a handle is of.
pub(crate) fn owns(item: &ContextItem, handle: &str) -> bool {
    let tool = item.metadata.get("tool_name").and_then(Value::as_str);
    let part =
        || handle.strip_prefix(PART)?.strip_prefix(tool?)?.strip_prefix(':')?.strip_prefix(item.parent_id.as_deref()?);
    part().is_some_and(|part| part.starts_with(':'))
}

/// Returns what the handles begin with of which an item is the result.
pub(crate) fn part_prefix(item: &ContextItem) -> Option<String> {
    let tool = item.metadata.get("tool_name").and_then(Value::as_str)?;
    Some(format!("{PART}{tool}:{}:", item.parent_id.as_deref()?))
}

impl ContextManager {
    /// Takes a result that was taken apart: its text as that of any other tool, its other bytes under handles of the
    /// call. All is stored, or nothing.
    ///
    /// # Errors
    /// Those of [`ContextManager::ingest_tool_result`], at paths below `/result`; `DUPLICATE_ID` when two parts have one
    /// handle, or one of a part is taken.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions, McpResult, ToolResult};
    /// use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
    /// use serde_json::json;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let result = json!({ "content": [
    ///     { "type": "text", "text": "One chart." },
    ///     { "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo=" },
    /// ] });
    /// let converted = mcp_result_to_envelope(&result, "plot", &McpResultOptions::default())?;
    /// let result = McpResult::new(ToolResult::new("c1", "plot"), converted);
    /// let ingested = manager.ingest_mcp_result(result)?.done().unwrap();
    /// assert_eq!(ingested.item.text, "One chart.");
    /// assert!(manager.artifacts().get("mcp:plot:c1:image:1")?.starts_with(b"\x89PNG"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn ingest_mcp_result(&mut self, mut result: McpResult) -> Result<Outcome<Ingested>> {
        let parts = result.take_parts();
        self.answers.reset();
        reduce::check_deterministic(&self.options)?;
        let raw = result.full_text.as_bytes();
        let id = self.check_result(&result.call, raw).map_err(of_result)?;
        if let Some(part) = parts.iter().find(|part| self.artifacts.exists(&part.handle)) {
            let message = format!("an artifact {} exists", quote(&part.handle));
            return Err(Error::new(ErrorCode::DuplicateId, message).at("/tool_call_id"));
        }
        self.check_parts(&parts, raw.len())?;
        let clean = self.options.readable(&result.full_text);
        let mut done = self.digest_masked(&result.call, &result.full_text, &clean);
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        result.complete(&mut done, &clean, &self.options);
        self.events.check(std::slice::from_ref(&done.item))?;
        let stored = self.store_parts(parts).and_then(|artifact_refs| {
            let beside: Vec<&str> = artifact_refs.iter().map(|stored| stored.handle.as_str()).collect();
            let mut ingested = self.store_result(done, raw, "text/plain", &beside)?;
            ingested.envelope.artifacts.extend(artifact_refs);
            Ok(ingested)
        });
        let ingested = stored.map_err(of_result)?;
        self.keep_envelope(id, &ingested.envelope);
        Ok(Outcome::Done(self.outward(ingested)))
    }

    /// Checks that all parts can be stored beside a text of this size.
    pub(crate) fn check_parts(&self, parts: &[McpBinary], text: usize) -> Result<()> {
        let handles = WordSet::new(parts.iter().map(|part| part.handle.clone()).collect());
        if handles.len() < parts.len() {
            return Err(Error::new(ErrorCode::DuplicateId, "two parts have one handle").at("/binaries"));
        }
        let mut before = (1, text);
        for part in parts {
            let checked = self.artifacts.check_beside(&part.handle, part.bytes.len(), before);
            checked.map_err(|error| of_part(&error, &part.handle))?;
            before = (before.0 + 1, before.1 + part.bytes.len());
        }
        Ok(())
    }

    pub(crate) fn store_parts(&mut self, parts: Vec<McpBinary>) -> Result<Vec<ArtifactRef>> {
        let handles: Vec<String> = parts.iter().map(|part| part.handle.clone()).collect();
        let live = live_handles(&self.events);
        let beside: Vec<&str> = handles.iter().map(String::as_str).collect();
        let mut artifact_refs = Vec::new();
        for McpBinary { handle, media_type, label, bytes, .. } in parts {
            let (handle, label) = (handle.as_str(), self.options.mask_secrets(&label));
            let (bytes, media_type, label) = (bytes.into(), media_type.as_str(), label.as_ref());
            let new = NewArtifact { handle, bytes, media_type, label, live: &live, beside: &beside };
            artifact_refs.push(self.artifacts.put_new(new).map_err(|error| of_part(&error, handle))?);
        }
        Ok(artifact_refs)
    }
}

/// Says of an error that it is the result's.
fn of_result(error: Error) -> Error {
    if error.path() == "/raw_output" { error.under("/result") } else { error }
}

/// Says of an error of the store which part it is about.
fn of_part(error: &Error, handle: &str) -> Error {
    Error::new(error.code(), format!("{}: {}", quote(handle), error.message())).at("/result").detail("handle", handle)
}

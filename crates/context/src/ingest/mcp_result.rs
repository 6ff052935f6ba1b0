//! A result of an MCP tool, taken apart: a text, bytes by handle, and what is known of them.

use serde_json::Value;

use super::tool_result::ToolResult;
use crate::firewall::Compaction;
use crate::options::ManagerOptions;
use contextweaver_base::limits;
use contextweaver_convert::mcp::ConvertedResult;
use contextweaver_convert::providers::{MediaRecord, note_media};
use contextweaver_model::{ResultEnvelope, Status};
use contextweaver_text::unicode::prefix;

/// A result of an MCP tool, taken apart.
#[derive(Debug, Clone, PartialEq)]
pub struct McpResult {
    /// The call, the tool, and how far the result may travel.
    pub call: ToolResult,
    /// What is known of the result.
    pub envelope: ResultEnvelope,
    /// All of its text that a model may read.
    pub full_text: String,
    /// Bytes of images, audio and resources.
    pub binaries: Vec<McpBinary>,
    /// What messages show of the bytes, once they have the handles of the store.
    media: Vec<MediaRecord>,
}

/// Bytes of a result, and what they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpBinary {
    /// The name that the result gives them: `mcp:<tool_name>:<kind>:<index>`.
    pub handle: String,
    /// MIME type of the bytes.
    pub media_type: String,
    /// A line for people, such as a file name.
    pub label: String,
    /// The bytes; the store takes them over.
    pub bytes: Vec<u8>,
    /// Of an image, a sound or a file that messages show its name, which may be empty.
    pub media: Option<String>,
}

impl McpResult {
    /// Joins a call with its result as the converter of MCP took it apart.
    pub fn new(call: ToolResult, converted: ConvertedResult) -> Self {
        let ConvertedResult { envelope, binaries, full_text, .. } = converted;
        let binaries = binaries.into_iter().map(|binary| McpBinary {
            handle: binary.handle,
            media_type: binary.media_type,
            label: binary.label,
            bytes: binary.bytes,
            media: binary.media,
        });
        Self { call, envelope, full_text, binaries: binaries.collect(), media: Vec::new() }
    }

    /// Returns the handle of a part in the store: a tool that is called again must not find what it gave before.
    fn handle(&self, handle: &str) -> String {
        let (tool, call) = (&self.call.tool_name, &self.call.tool_call_id);
        let prefix = format!("mcp:{tool}:");
        format!("{prefix}{call}:{}", handle.strip_prefix(&prefix).unwrap_or(handle))
    }

    /// Takes the bytes out, under the handles that they will have.
    pub(super) fn take_parts(&mut self) -> Vec<McpBinary> {
        let mut parts = std::mem::take(&mut self.binaries);
        for part in &mut parts {
            part.handle = self.handle(&part.handle);
        }
        let record = |part: &McpBinary| {
            let name = part.media.as_deref()?;
            Some(MediaRecord::new(&part.handle, &part.media_type, name, &part.bytes))
        };
        self.media = parts.iter().filter_map(record).collect();
        parts
    }

    /// Adds to a digest of the text what is known of the result.
    /// `clean` is the text with its secrets masked.
    pub(super) fn complete(&self, done: &mut Compaction, clean: &str, options: &ManagerOptions) {
        done.item.metadata.insert("protocol".into(), "mcp".into());
        if self.envelope.status == Status::Error {
            done.item.metadata.insert("is_error".into(), true.into());
        }
        note_media(&mut done.item, &self.media);
        let (digest, known) = (&mut done.envelope, &self.envelope);
        digest.status = match (known.status, digest.status) {
            (Status::Error, _) | (_, Status::Error) => Status::Error,
            (Status::Ok, Status::Ok) => Status::Ok,
            _ => Status::Partial,
        };
        if digest.firewall_stats.as_ref().is_none_or(|stats| !stats.triggered) {
            prefix(&done.item.text, limits::SUMMARY_CHARS).clone_into(&mut digest.summary);
        }
        // A line by itself may not show what it is, such as one of a manifest of secrets.
        let is_gone = |fact: &str| clean != self.full_text && !clean.contains(fact) && self.full_text.contains(fact);
        let facts = known.facts.iter().map(|fact| (fact, options.mask_secrets(fact)));
        let facts = facts.filter(|(fact, masked)| **masked != **fact || !is_gone(fact));
        digest.facts = facts.map(|(_, masked)| masked.into_owned()).collect();
        if let Value::Object(provenance) = options.mask_value(&Value::Object(known.provenance.clone())) {
            digest.provenance.extend(provenance);
        }
    }
}

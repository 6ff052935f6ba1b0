//! How the reference takes results of tools into the log.

use super::firewall;
use crate::context::callbacks::Outcome;
use crate::context::firewall::Compaction;
use crate::context::ingest::{Ingested, ToolResult, describe_bytes, envelope_item, pass_through};
use crate::context::manager::ContextManager;
use crate::error::Result;
use crate::limits;
use crate::model::{ContextItem, ResultEnvelope, Sensitivity};

/// Takes a raw result: summarised above a threshold in characters, stored in any case.
pub fn tool_result(manager: &mut ContextManager, result: &ToolResult, raw: &[u8]) -> Result<Outcome<Ingested>> {
    manager.answers.reset();
    manager.check_result(result, raw)?;
    let done = match std::str::from_utf8(raw) {
        Ok(text) if text.len() <= limits::MAX_STRING_BYTES => digest(manager, result, text),
        _ => describe_bytes(result, raw.len()),
    };
    if manager.answers.is_waiting() {
        return Ok(Outcome::Need(manager.answers.take_needs()));
    }
    manager.store_result(done, raw, &result.media_type).map(Outcome::Done)
}

/// Takes a digest made elsewhere; only its summary and its first artifact survive.
pub fn envelope(
    manager: &mut ContextManager,
    tool_call_id: &str,
    tool_name: &str,
    envelope: &ResultEnvelope,
    sensitivity: Sensitivity,
) -> Result<ContextItem> {
    let item = envelope_item(tool_call_id, tool_name, envelope, sensitivity);
    manager.ingest(item.clone()).map_err(|error| error.at("/tool_call_id"))?;
    Ok(item)
}

fn digest(manager: &ContextManager, result: &ToolResult, text: &str) -> Compaction {
    let item = result.item(text);
    let is_large = text.chars().nth(limits::REFERENCE_THRESHOLD_CHARS).is_some();
    let mut done = if is_large {
        firewall::compact(item, &manager.options, &manager.answers)
    } else {
        pass_through(item, result, &manager.options)
    };
    if let Some(stats) = &mut done.envelope.firewall_stats {
        stats.threshold_chars = limits::REFERENCE_THRESHOLD_CHARS as u64;
    }
    done
}

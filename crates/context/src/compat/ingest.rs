//! How 0.18 takes results of tools into the log.

use super::content::StructuredFirewall;
use super::firewall::{CompatReduced, FirewallRules, ResultSummary, reduce};
use crate::callbacks::Outcome;
use crate::ingest::mcp_result::{McpBinary, McpResult};
use crate::ingest::tool_result::{Ingested, ToolResult};
use crate::ingest::{describe_bytes, envelope_item};
use crate::manager::ContextManager;
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_content::KeepPath;
use contextweaver_model::{ContextItem, FirewallStats, ResultEnvelope, Sensitivity, Strategy};

/// Which results are reduced, and to what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    threshold_chars: u64,
    keep: Vec<String>,
}

impl Default for Gate {
    fn default() -> Self {
        Self { threshold_chars: limits::COMPAT_THRESHOLD_CHARS as u64, keep: Vec::new() }
    }
}

impl Gate {
    /// Makes the gate that a result asks for.
    pub fn of(result: &ToolResult) -> Self {
        Self { keep: result.keep.iter().map(KeepPath::text).collect(), ..Self::default() }
    }

    /// Makes a gate for texts longer than a number of characters. A list of paths to keep must name something.
    ///
    /// # Errors
    /// `INVALID_INPUT` at `/keep` where it does not.
    pub fn new(threshold_chars: u64, keep: Option<Vec<String>>) -> Result<Self> {
        if let Some(keep) = &keep {
            StructuredFirewall::new(keep, limits::SUMMARY_CHARS)?;
        }
        Ok(Self { threshold_chars, keep: keep.unwrap_or_default() })
    }
}

/// Takes a raw result: reduced above the gate, stored in any case.
///
/// # Errors
/// Those of [`ContextManager::ingest_tool_result`].
pub fn tool_result(
    manager: &mut ContextManager,
    result: &ToolResult,
    raw: &[u8],
    gate: &Gate,
) -> Result<Outcome<Ingested>> {
    manager.answers.reset();
    manager.check_result(result, raw)?;
    let reduced = match std::str::from_utf8(raw) {
        Ok(text) if text.len() <= limits::MAX_STRING_BYTES => digest(manager, result, text, gate)?,
        _ => {
            let described = describe_bytes(result, raw.len());
            CompatReduced { item: described.item, envelope: described.envelope, projection: None }
        }
    };
    if manager.answers.is_waiting() {
        return Ok(Outcome::Need(manager.answers.take_needs()));
    }
    manager.events.check(std::slice::from_ref(&reduced.item))?;
    let CompatReduced { item, envelope, .. } = reduced.store(raw, &result.media_type, &mut manager.artifacts)?;
    manager.append(vec![item.clone()], false)?;
    manager.answers.settle(manager.events.len());
    let ingested = Ingested { item, envelope };
    manager.observe(&ingested.events());
    Ok(Outcome::Done(ingested))
}

fn digest(manager: &ContextManager, result: &ToolResult, text: &str, gate: &Gate) -> Result<CompatReduced> {
    let mut item = result.item(text);
    let rules = FirewallRules {
        keep: &gate.keep,
        threshold_chars: gate.threshold_chars,
        ..FirewallRules::of(&manager.options)
    };
    if text.chars().count() as u64 > gate.threshold_chars {
        item.text.clear();
        return reduce(item, text, &rules, &manager.answers);
    }
    let (facts, status) = rules.facts(&item, text, &manager.answers)?;
    let digest = ResultSummary { summary: text.to_owned(), facts, status };
    let passthrough = FirewallStats { strategy: Strategy::Passthrough, ..FirewallStats::noop() };
    let mut passed = CompatReduced::of(item, text, digest, passthrough, &rules);
    passed.envelope.provenance.insert("tool_name".into(), result.tool_name.clone().into());
    // Only what the firewall made is counted by the estimator of 0.18, whatever the manager's.
    passed.item.token_estimate = manager.answers.tokens(&manager.options.estimator, &passed.item.text);
    Ok(passed)
}

/// Takes a result of an MCP tool: stored and reduced above the gate, below it the text stays and is not stored. Its other
/// bytes are stored under handles of the tool, in place of those of its call before.
pub(super) fn mcp_result(
    manager: &mut ContextManager,
    result: &McpResult,
    parts: Vec<McpBinary>,
) -> Result<Outcome<Ingested>> {
    manager.answers.reset();
    let (text, raw) = (&result.full_text, result.full_text.as_bytes());
    manager.check_result(&result.call, raw)?;
    manager.check_parts(&parts, raw.len())?;
    let mut item = result.call.item("");
    item.metadata.shift_remove("media_type");
    item.metadata.insert("protocol".into(), "mcp".into());
    let rules = FirewallRules::of(&manager.options);
    let is_large = text.chars().count() > limits::COMPAT_THRESHOLD_CHARS;
    let mut reduced = if is_large {
        let gate = limits::COMPAT_THRESHOLD_CHARS as u64;
        reduce(item, text, &FirewallRules { threshold_chars: gate, ..rules }, &manager.answers)?
    } else {
        item.text = manager.options.mask_secrets(text).into_owned();
        item.token_estimate = manager.answers.tokens(&manager.options.estimator, &item.text);
        CompatReduced { item, envelope: result.envelope.clone(), projection: None }
    };
    if manager.answers.is_waiting() {
        return Ok(Outcome::Need(manager.answers.take_needs()));
    }
    manager.events.check(std::slice::from_ref(&reduced.item))?;
    let mut artifacts = manager.store_parts(parts)?;
    if is_large {
        reduced = reduced.store(raw, "text/plain", &mut manager.artifacts)?;
        reduced.envelope.provenance.clone_from(&result.envelope.provenance);
        // What the server says of it, also where a function of the caller fails.
        reduced.envelope.status = result.envelope.status;
        let known = result.envelope.facts.iter().map(|fact| manager.options.mask_secrets(fact).into_owned());
        reduced.envelope.facts.extend(known);
        artifacts.append(&mut reduced.envelope.artifacts);
    }
    reduced.envelope.artifacts = artifacts;
    let CompatReduced { item, envelope, .. } = reduced;
    manager.append(vec![item.clone()], false)?;
    manager.answers.settle(manager.events.len());
    let ingested = Ingested { item, envelope };
    manager.observe(&ingested.events());
    Ok(Outcome::Done(ingested))
}

/// Takes a digest made elsewhere; only its summary and its first artifact survive.
pub(super) fn envelope(
    manager: &mut ContextManager,
    tool_call_id: &str,
    tool_name: &str,
    envelope: &ResultEnvelope,
    sensitivity: Sensitivity,
) -> Result<Outcome<ContextItem>> {
    manager.answers.reset();
    let mut item = envelope_item(tool_call_id, tool_name, envelope, sensitivity);
    item.token_estimate = manager.answers.tokens(&manager.options.estimator, &item.text);
    if manager.answers.is_waiting() {
        return Ok(Outcome::Need(manager.answers.take_needs()));
    }
    manager.append(vec![item.clone()], false).map_err(|error| error.at("/tool_call_id"))?;
    manager.answers.settle(manager.events.len());
    Ok(Outcome::Done(item))
}

//! How a call ends.

use serde::Serialize;
use serde_json::{Value, json};

use contextweaver_base::Result;
use contextweaver_model::json::{JsonMap, missing_field};
use contextweaver_model::{FirewallStats, ResultEnvelope, Status, Strategy};
use contextweaver_text::redact::{SECRET_MASK, SecretRules, redact_value};
use contextweaver_text::tokens::Estimator;

use super::Gateway;
use super::info::NextStep;
use super::open_calls::{OpenCall, OpenTarget};
use super::request::MeasuredResult;
use super::step::{CallStep, RpcError, text_result};
use crate::failure::{FailureKind, GatewayError, GatewayErrorCode, UpstreamFailure, classify, upstream_detail};
use crate::front::{FrontMode, safe_line};
use crate::servers::ListChanges;

/// The code of an error by which a server asks for addresses to be opened; its data is for the client, not for the model.
const URL_ELICITATION: i64 = -32_042;
/// Under this key of `_meta` stands what was repaired in arguments.
const REPAIRS: &str = "contextweaver/arg_repairs";
/// An error within the server, as JSON-RPC calls it.
const INTERNAL_ERROR: i64 = -32_603;

/// A call that a server answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FinishedCall {
    /// Number of the call.
    pub call: u64,
    /// The `CallToolResult` that the client is to get.
    pub reply: Value,
    /// The envelope of the result, which reference mode needs.
    pub envelope: Option<Value>,
    /// What was measured of the result.
    pub measured: MeasuredResult,
    /// The time in milliseconds.
    pub now_ms: u64,
}

/// What a client gets.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FinishedReply {
    /// The `CallToolResult`.
    #[cfg_attr(feature = "ts", ts(type = "JsonObject"))]
    pub reply: Value,
    /// Which lists of this client are not what they were.
    pub changed: ListChanges,
}

/// A call that failed.
#[derive(Debug, Clone, PartialEq)]
pub struct FailedCall {
    /// Number of the call.
    pub call: u64,
    /// How it failed.
    pub failure: UpstreamFailure,
    /// A random fraction, 0 to 1, by which pauses differ.
    pub random: f64,
}

impl Gateway {
    /// Ends a call that a server answered, and says what the client gets.
    ///
    /// # Errors
    /// `NOT_FOUND` for a call that is not at its server; in reference mode `MISSING_FIELD` without an envelope, and the
    /// errors of [`ResultEnvelope::from_value`]. The call stays open then.
    pub fn finish_call(&mut self, finished: FinishedCall) -> Result<FinishedReply> {
        let FinishedCall { call, mut reply, envelope, measured, now_ms } = finished;
        let open = self.calls.sent(call)?;
        let is_reference = open.mode == FrontMode::Reference;
        let envelope = match envelope {
            Some(envelope) => Some(ResultEnvelope::from_value(envelope, "/envelope")?),
            None if is_reference => {
                return Err(missing_field("", "envelope").hint("the envelope that ingestMcpResult returned"));
            }
            None => None,
        };
        let open = self.calls.take_sent(call)?;
        if is_reference && let Some(envelope) = &envelope {
            let recorded = recorded(envelope, &open, &measured);
            reply = text_result(&recorded.to_string(), envelope.status == Status::Error);
        }
        if !is_reference && !open.repairs.is_empty() {
            note_repairs(&mut reply, &open);
        }
        let mut changed = ListChanges::default();
        if let OpenTarget::Tool(tool) = &open.target {
            self.stats.answered(tool, &measured, now_ms);
            let is_listed = self.mode() != FrontMode::Search || self.is_pinned(tool);
            let Self { sessions, options, .. } = self;
            let (session, _) = sessions.touch(&open.session);
            let handles = envelope.iter().flat_map(|envelope| envelope.artifacts.iter().map(|one| &one.handle));
            for handle in measured.handles.iter().chain(handles) {
                session.own(handle, tool);
            }
            if !is_listed {
                changed.tools = session.note_use(tool, options.recent_tools);
            }
            if let (Some(policy), Some(key), false) = (&options.cache, &open.cache_key, is_failed(&reply, &measured)) {
                session.keep(policy, key, &kept(&reply, is_reference), now_ms);
                sessions.bound_kept();
            }
        }
        Ok(FinishedReply { reply, changed })
    }

    /// Ends a call that failed, or says when to try again: only what reads, or is idempotent, is tried again.
    ///
    /// # Errors
    /// `NOT_FOUND` for a call that is not at its server.
    ///
    /// ```
    /// use contextweaver_gateway::{
    ///     CallRequest, CallStep, FailedCall, FailureKind, Gateway, GatewayOptions, UpstreamFailure,
    /// };
    /// use serde_json::json;
    ///
    /// let options = json!({ "servers": [{ "name": "a" }], "retry": { "max_attempts": 2, "base_delay": 0.5 } });
    /// let mut gateway = Gateway::new(GatewayOptions::from_value(options)?);
    /// let tool = json!({ "name": "read", "annotations": { "readOnlyHint": true } });
    /// gateway.set_listing("a", json!({ "tools": [tool] }).to_string().as_bytes())?;
    /// let call = CallRequest { session: "s".into(), name: "read".into(), ..CallRequest::default() };
    /// let CallStep::Forward(forward) = gateway.begin_call(call)?.step else { panic!() };
    /// let failure = UpstreamFailure::new(FailureKind::Timeout, "no answer");
    /// let failed = FailedCall { call: forward.call, failure, random: 0.0 };
    /// assert_eq!(gateway.fail_call(failed.clone())?.step, CallStep::Retry { after_ms: 500 });
    /// // The second attempt was the last: the client is told.
    /// assert!(matches!(gateway.fail_call(failed)?.step, CallStep::Reply(_)));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn fail_call(&mut self, failed: FailedCall) -> Result<NextStep> {
        let FailedCall { call, failure, random } = failed;
        let open = self.calls.take_sent(call)?;
        let code = classify(&failure);
        self.about_open(&open.target, &open.label);
        let retry = &self.options.retry;
        if failure.kind != FailureKind::Cancelled
            && retry.allows(code, open.attempts, open.is_idempotent)
            && let Some(wait) = retry.delay_after_ms(open.attempts.saturating_sub(1), random, failure.retry_after_ms)
        {
            self.stats.retries += 1;
            self.calls.put_back(call, OpenCall { attempts: open.attempts + 1, ..open });
            return Ok(self.told(CallStep::Retry { after_ms: wait.max(0.0).round() as u64 }));
        }
        let tool = match &open.target {
            OpenTarget::Tool(tool) => Some(tool),
            OpenTarget::Primitive(_) => None,
        };
        self.stats.failed(tool);
        self.ended_with(code);
        let step = if open.mode == FrontMode::Firewall && failure.kind == FailureKind::Rpc {
            CallStep::Error(passed_on(failure))
        } else {
            let mut error = GatewayError::of_upstream(&failure).at(open.label);
            if code == GatewayErrorCode::UpstreamTimeout && !open.is_idempotent && open.mode != FrontMode::Reference {
                error.retryable = false;
                error.message.push_str("; it may have been done all the same: look before you call again");
            }
            CallStep::refused(&error)
        };
        Ok(self.told(step))
    }
}

/// Says in a result what was repaired in the arguments of its call.
fn note_repairs(reply: &mut Value, open: &OpenCall) {
    let Some(reply) = reply.as_object_mut() else { return };
    let meta = reply.entry("_meta").or_insert_with(|| json!({}));
    if let Some(meta) = meta.as_object_mut() {
        meta.insert(REPAIRS.to_owned(), json!(open.repairs));
    }
}

/// Writes the envelope as contextweaver 0.18 does, with handles of ours.
fn recorded(envelope: &ResultEnvelope, open: &OpenCall, measured: &MeasuredResult) -> Value {
    let mut envelope = envelope.clone();
    let mut provenance = JsonMap::new();
    match &open.target {
        OpenTarget::Tool(tool) => {
            provenance.insert("tool".to_owned(), safe_line(&tool.name).into());
            provenance.insert("protocol".to_owned(), "mcp".into());
            provenance.insert("tool_id".to_owned(), open.label.as_str().into());
        }
        OpenTarget::Primitive(_) => {
            let kind = if open.label.starts_with("resource") { "resource" } else { "prompt" };
            provenance.insert(format!("{kind}_id"), open.label.as_str().into());
            provenance.insert("protocol".to_owned(), "mcp".into());
            provenance.insert("primitive".to_owned(), kind.into());
        }
    }
    if !open.repairs.is_empty() {
        provenance.insert("arg_repairs".to_owned(), json!(open.repairs));
    }
    for (key, value) in std::mem::take(&mut envelope.provenance) {
        provenance.entry(key).or_insert(value);
    }
    envelope.provenance = provenance;
    if envelope.firewall_stats.is_none() {
        envelope.firewall_stats = Some(firewall_stats(&envelope, measured));
    }
    json!(envelope)
}

fn is_failed(reply: &Value, measured: &MeasuredResult) -> bool {
    measured.is_error || reply.get("isError") == Some(&Value::Bool(true))
}

/// A reply as it is kept: an envelope then says that it was.
fn kept(reply: &Value, is_reference: bool) -> Value {
    let text = reply["content"][0]["text"].as_str().filter(|_| is_reference);
    let Some(mut envelope) = text.and_then(|text| serde_json::from_str::<Value>(text).ok()) else {
        return reply.clone();
    };
    envelope["provenance"]["cache_hit"] = true.into();
    text_result(&envelope.to_string(), false)
}

/// What an envelope says of the firewall, where none was at work.
fn firewall_stats(envelope: &ResultEnvelope, measured: &MeasuredResult) -> FirewallStats {
    let summary_chars = envelope.summary.chars().count() as u64;
    // As the host counts them, where it says so.
    let counted = measured.shown_tokens > 0;
    let summary_tokens = if counted { measured.shown_tokens } else { Estimator::V3.tokens(&envelope.summary) };
    let triggered = measured.tokens > measured.shown_tokens;
    FirewallStats {
        triggered,
        strategy: if triggered { Strategy::Summary } else { Strategy::Passthrough },
        original_chars: if triggered { measured.bytes.max(summary_chars) } else { summary_chars },
        original_tokens: if triggered { measured.tokens } else { summary_tokens },
        summary_chars,
        summary_tokens,
        artifact_ref: measured.handles.first().filter(|_| triggered).cloned(),
        ..FirewallStats::noop()
    }
}

/// The error of a server as the client gets it.
fn passed_on(failure: UpstreamFailure) -> RpcError {
    let code = failure.code.unwrap_or(INTERNAL_ERROR);
    let masked = |data: Value| match code {
        URL_ELICITATION => data,
        _ => redact_value(&data, SecretRules::Full, SECRET_MASK),
    };
    RpcError { code, message: upstream_detail(&failure.message), data: failure.data.map(masked) }
}

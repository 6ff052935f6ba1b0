//! How a call ends.

use serde::Serialize;
use serde_json::{Value, json};

use contextweaver_base::Result;
use contextweaver_model::json::JsonMap;
use contextweaver_text::redact::{SECRET_MASK, redact_value};

use super::Gateway;
use super::info::NextStep;
use super::open_calls::OpenCall;
use super::request::MeasuredResult;
use super::step::{CallStep, RpcError};
use crate::failure::{FailureKind, GatewayError, GatewayErrorCode, UpstreamFailure, classify, upstream_detail};
use crate::front::FrontMode;
use crate::repair::ArgumentRepair;
use crate::servers::ListChanges;
use crate::servers::ToolRef;

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
    /// The `CallToolResult` that the client is to get, of a call whose reply is kept.
    pub reply: Option<Value>,
    /// What was measured of the result.
    pub measured: MeasuredResult,
    /// The time in milliseconds.
    pub now_ms: u64,
}

/// A task whose result has come.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FinishedTask {
    /// The client.
    pub session: String,
    /// The server.
    pub server: String,
    /// The name that the server has for the tool.
    pub tool: String,
    /// What was measured of the result.
    pub measured: MeasuredResult,
    /// The time in milliseconds.
    pub now_ms: u64,
}

/// The answer to a result: what the client gets beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FinishedReply {
    /// Entries for the `_meta` of the result; absent when there are none.
    #[serde(skip_serializing_if = "JsonMap::is_empty")]
    #[cfg_attr(feature = "ts", ts(optional, type = "JsonObject"))]
    pub meta: JsonMap,
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
    /// Ends a call that a server answered, and says what goes with its result.
    ///
    /// # Errors
    /// `NOT_FOUND` for a call that is not at its server.
    pub fn finish_call(&mut self, finished: FinishedCall) -> Result<FinishedReply> {
        let FinishedCall { call, reply, measured, now_ms } = finished;
        let open = self.calls.take_sent(call)?;
        let mut changed = ListChanges::default();
        let tool = &open.tool;
        self.note_result(&open.session, tool, &measured, now_ms);
        let is_listed = self.mode_of(&open.session) != FrontMode::Search || self.is_pinned(tool);
        let Self { sessions, options, .. } = self;
        let (session, _) = sessions.touch(&open.session);
        if !is_listed {
            changed.tools = session.note_use(tool, options.recent_tools);
        }
        let reply = reply.filter(|reply| !measured.is_error && reply.get("isError") != Some(&Value::Bool(true)));
        if let (Some(policy), Some(key), Some(reply)) = (&options.cache, &open.cache_key, &reply) {
            session.keep(policy, key, reply, now_ms);
            sessions.bound_kept();
        }
        Ok(FinishedReply { meta: repairs_noted(&open.repairs), changed })
    }

    /// Counts the result of a call that became a task, which is not open any more, and notes whose its handles are.
    ///
    /// # Errors
    /// `NOT_FOUND` for a server that the options do not name.
    pub fn finish_task(&mut self, finished: &FinishedTask) -> Result<()> {
        let FinishedTask { session, server, tool, measured, now_ms } = finished;
        let tool = ToolRef { server: self.server(server)?, name: tool.as_str().into() };
        self.note_result(session, &tool, measured, *now_ms);
        Ok(())
    }

    /// Counts a result, and notes whose its handles are.
    fn note_result(&mut self, session: &str, tool: &ToolRef, measured: &MeasuredResult, now_ms: u64) {
        self.stats.answered(tool, measured, now_ms);
        let (session, _) = self.sessions.touch(session);
        for handle in &measured.handles {
            session.own(handle, tool);
        }
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
        let info = self.info_of_open(&open.tool);
        let retry = &self.options.retry;
        if failure.kind != FailureKind::Cancelled
            && retry.allows(code, open.attempts, open.is_idempotent)
            && let Some(wait) = retry.delay_after_ms(open.attempts.saturating_sub(1), random, failure.retry_after_ms)
        {
            self.stats.retries += 1;
            self.calls.put_back(call, OpenCall { attempts: open.attempts + 1, ..open });
            return Ok(NextStep { step: CallStep::Retry { after_ms: wait.max(0.0).round() as u64 }, info });
        }
        self.stats.failed(&open.tool);
        let step = if open.mode == FrontMode::Firewall && failure.kind == FailureKind::Rpc {
            CallStep::Error(passed_on(failure))
        } else {
            let mut error = GatewayError::of_upstream(&failure).at(open.label);
            if code == GatewayErrorCode::UpstreamTimeout && !open.is_idempotent {
                error.retryable = false;
                error.message.push_str("; it may have been done all the same: look before you call again");
            }
            CallStep::refused(&error)
        };
        Ok(NextStep { step, info: info.ended_with(code) })
    }
}

/// Says for the `_meta` of a result what was repaired in the arguments of its call; nothing where nothing was.
fn repairs_noted(repairs: &[ArgumentRepair]) -> JsonMap {
    let noted = (!repairs.is_empty()).then(|| (REPAIRS.to_owned(), json!(repairs)));
    noted.into_iter().collect()
}

/// The same in a result that was kept, whose call had repairs of its own.
pub(super) fn with_repairs(mut reply: Value, repairs: &[ArgumentRepair]) -> Value {
    if let (false, Some(fields)) = (repairs.is_empty(), reply.as_object_mut())
        && let Some(meta) = fields.entry("_meta").or_insert_with(|| json!({})).as_object_mut()
    {
        meta.extend(repairs_noted(repairs));
    }
    reply
}

/// The error of a server as the client gets it.
fn passed_on(failure: UpstreamFailure) -> RpcError {
    let code = failure.code.unwrap_or(INTERNAL_ERROR);
    let masked = |data: Value| match code {
        URL_ELICITATION => data,
        _ => redact_value(&data, SECRET_MASK),
    };
    RpcError { code, message: upstream_detail(&failure.message), data: failure.data.map(masked) }
}

//! How a call ends.

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::Result;
use contextweaver_text::redact::{SECRET_MASK, SecretRules, redact_value};

use super::Gateway;
use super::request::MeasuredResult;
use super::step::{CallStep, RpcError};
use crate::failure::{FailureKind, GatewayError, UpstreamFailure, upstream_detail};
use crate::front::FrontMode;
use crate::servers::ListChanges;

/// The code of an error by which a server asks for addresses to be opened; its data is for the client, not for the model.
const URL_ELICITATION: i64 = -32_042;
/// An error within the server, as JSON-RPC calls it.
const INTERNAL_ERROR: i64 = -32_603;

/// A call that a server answered.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FinishedCall {
    /// Number of the call.
    pub call: u64,
    /// The `CallToolResult` that the client is to get.
    pub reply: Value,
    /// The envelope of the result; only reference mode needs it.
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
    #[cfg_attr(feature = "ts", ts(type = "Record<string, unknown>"))]
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
    /// The time in milliseconds.
    pub now_ms: u64,
    /// A random fraction, 0 to 1, by which pauses differ.
    pub random: f64,
}

impl Gateway {
    /// Ends a call that a server answered, and says what the client gets.
    ///
    /// # Errors
    /// `NOT_FOUND` for a call that is not at its server.
    pub fn finish_call(&mut self, finished: FinishedCall) -> Result<FinishedReply> {
        let open = self.calls.take(finished.call, false)?;
        let (session, _) = self.sessions.touch(&open.session);
        for handle in &finished.measured.handles {
            session.own(handle, &open.tool);
        }
        Ok(FinishedReply { reply: finished.reply, changed: ListChanges::default() })
    }

    /// Ends a call that failed, or says when to try again.
    ///
    /// # Errors
    /// `NOT_FOUND` for a call that is not at its server.
    pub fn fail_call(&mut self, failed: FailedCall) -> Result<CallStep> {
        let open = self.calls.take(failed.call, false)?;
        let FailedCall { failure, .. } = failed;
        if open.mode == FrontMode::Firewall && failure.kind == FailureKind::Rpc {
            return Ok(CallStep::Error(passed_on(failure)));
        }
        Ok(CallStep::refused(&GatewayError::of_upstream(&failure).at(self.shown_name(&open))))
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

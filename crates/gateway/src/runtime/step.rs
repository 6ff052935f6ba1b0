//! What a host does next with a call.

use serde::Serialize;
use serde_json::{Value, json};

use contextweaver_model::json::JsonMap;

use crate::failure::GatewayError;
use crate::servers::AppUse;

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RpcError {
    /// The code of the protocol.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub code: i64,
    /// What happened, as a sentence.
    pub message: String,
    /// More, as the server gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "JsonValue"))]
    pub data: Option<Value>,
}

/// A call for a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ForwardedCall {
    /// Number of the call, by which its result is reported.
    #[cfg_attr(feature = "ts", ts(type = "number"))]
    pub call: u64,
    /// The server.
    pub server: String,
    /// The name that the server has for the tool.
    pub tool: String,
    /// The arguments; where that was asked for, repaired.
    #[cfg_attr(feature = "ts", ts(type = "JsonObject"))]
    pub arguments: JsonMap,
    /// What passes of `_meta`; absent when nothing does.
    #[serde(skip_serializing_if = "JsonMap::is_empty")]
    #[cfg_attr(feature = "ts", ts(optional, type = "JsonObject"))]
    pub meta: JsonMap,
    /// Whether what the client gets is kept, to answer the same call again: it is reported with the result.
    pub keeps_reply: bool,
    /// What views need of the result; absent where no view is concerned.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub app: Option<AppUse>,
    /// Most tokens of the result that the client gets; absent where that is as for any tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "number"))]
    pub result_tokens: Option<u64>,
    /// Most characters of it; absent where the client does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "number"))]
    pub result_chars: Option<u64>,
    /// Whether the server runs the tool as a task, `required` or `optional`; absent where it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional, type = "\"required\" | \"optional\""))]
    pub task_support: Option<String>,
    /// The schema of the result, where the server listed one. It does not cross to JavaScript with every call.
    #[serde(skip)]
    #[cfg_attr(feature = "ts", ts(skip))]
    pub output_schema: Option<JsonMap>,
}

/// What a host does next with a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum CallStep {
    /// Answer with this `CallToolResult`.
    #[cfg_attr(feature = "ts", ts(type = "JsonObject"))]
    Reply(Value),
    /// Answer with this error.
    Error(RpcError),
    /// Answer with a part of a stored result.
    Drilldown {
        /// The stored result.
        handle: String,
        /// The part.
        #[cfg_attr(feature = "ts", ts(type = "JsonObject"))]
        selector: JsonMap,
        /// Most tokens of the part.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "ts", ts(optional, type = "number"))]
        max_tokens: Option<u64>,
    },
    /// Answer with what a search of the stored results finds.
    Recall {
        /// What is looked for.
        query: String,
        /// Most tokens of the answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "ts", ts(optional, type = "number"))]
        max_tokens: Option<u64>,
        /// The stored results that the client may read; all of them where the policy withholds none.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "ts", ts(optional))]
        handles: Option<Vec<String>>,
    },
    /// Call the tool, then report how that went.
    Forward(Box<ForwardedCall>),
    /// Ask the user, then say what the answer was.
    Confirm {
        /// Number of the call.
        #[cfg_attr(feature = "ts", ts(type = "number"))]
        call: u64,
        /// The question.
        message: String,
    },
    /// Try again after a pause.
    Retry {
        /// Milliseconds to wait.
        #[cfg_attr(feature = "ts", ts(type = "number"))]
        after_ms: u64,
    },
}

impl CallStep {
    /// Makes a reply of a text.
    pub(crate) fn text(text: &str, is_error: bool) -> Self {
        Self::Reply(text_result(text, is_error))
    }

    /// Makes the reply that tells of an error.
    pub(crate) fn refused(error: &GatewayError) -> Self {
        Self::text(&error.to_json().to_string(), true)
    }
}

/// Makes a `CallToolResult` of a text.
pub(crate) fn text_result(text: &str, is_error: bool) -> Value {
    let mut result = json!({ "content": [{ "type": "text", "text": text }] });
    if is_error {
        result["isError"] = true.into();
    }
    result
}

//! JSON-RPC as the Model Context Protocol speaks it, a message in and a message or nothing out.
//!
//! Revisions up to 2025-11-25 shake hands with `initialize`; nothing of that is kept, as the tools do not depend on it.
//! Since 2026-07-28 every request names its revision in `_meta` instead.

use serde_json::{Map, Value, json};

use super::{HostContext, ToolReply, ToolRequest, call_tool, find, list, masked_output};
use crate::store::DecisionStore;
use contextweaver_convert::mcp::Revision;
use contextweaver_model::json;
use contextweaver_model::json::type_name;
use contextweaver_text::quote::quote;

/// Revisions that begin with a handshake, the newest last. The two oldest differ in nothing that is served here.
const LEGACY: &[&str] = &["2024-11-05", "2025-03-26", Revision::V2025_06_18.name(), Revision::V2025_11_25.name()];
/// Revisions whose requests name them.
const MODERN: &[&str] = &[Revision::V2026_07_28.name()];

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const CLIENT_KEY: &str = "io.modelcontextprotocol/clientInfo";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

/// Milliseconds that clients may keep the list of tools: it changes with a release.
const LIST_TTL_MS: u64 = 3_600_000;

const PARSE_ERROR: i64 = -32700;
const INVALID_REQUEST: i64 = -32600;
const UNKNOWN_METHOD: i64 = -32601;
const INVALID_PARAMS: i64 = -32602;
const UNSUPPORTED_VERSION: i64 = -32022;

/// What models are told of the server.
const INSTRUCTIONS: &str = "Memory of decisions. Call get_session_context at the start of a task. Call pre_action before \
    every decision that matters and obey it: do not act when allowed is false. Call record_thought while you weigh \
    things up. Call review_outcome as soon as you know what came of a decision.";

/// An error of JSON-RPC.
struct RpcError {
    code: i64,
    message: String,
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }
}

/// Outcome of a method.
enum RpcAnswer {
    Result(Value),
    Wait(ToolReply),
}

/// Handles a message as text; text that is no JSON is answered with a parse error.
pub fn handle_text(store: &mut DecisionStore, text: &str, host: HostContext<'_>) -> ToolReply {
    match json::parse(text) {
        Ok(message) => handle(store, message, host),
        Err(_) => {
            ToolReply::Done(error(&Value::Null, RpcError::new(PARSE_ERROR, "the message is not JSON that can be read")))
        }
    }
}

/// Answers a message: a response, or null for a notification and for a response.
///
/// # Examples
///
/// ```
/// use contextweaver_decisions::service::{HostContext, ToolReply, rpc};
/// use contextweaver_decisions::{DecisionStore, DecisionStoreOptions, HostAnswers};
/// use serde_json::json;
///
/// let mut store = DecisionStore::new(DecisionStoreOptions::default());
/// let answers = HostAnswers::default();
/// let host = HostContext { agent: None, trace: None, now: 1_773_576_000_000, answers: &answers };
/// let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
/// let ToolReply::Done(answer) = rpc::handle(&mut store, ping, host) else { panic!("no host is needed") };
/// assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": 1, "result": {} }));
/// ```
pub fn handle(store: &mut DecisionStore, message: Value, host: HostContext<'_>) -> ToolReply {
    let invalid = |id: Value, message: &str| ToolReply::Done(error(&id, RpcError::new(INVALID_REQUEST, message)));
    let Value::Object(mut message) = message else {
        return invalid(
            Value::Null,
            if message.is_array() { "batches are not supported" } else { "the message is no object" },
        );
    };
    let id = message.shift_remove("id");
    if id.as_ref().is_some_and(|id| !is_id(id)) {
        return invalid(Value::Null, "the id is neither a text nor a whole number");
    }
    let Some(Value::String(method)) = message.get("method") else {
        // Answers are for those who ask; nothing is asked here.
        let is_response = message.contains_key("result") || message.contains_key("error");
        return if is_response {
            ToolReply::Done(Value::Null)
        } else {
            invalid(id.unwrap_or_default(), "there is no method")
        };
    };
    let method = method.clone();
    if message.get("jsonrpc") != Some(&Value::from("2.0")) {
        return invalid(id.unwrap_or_default(), "jsonrpc must be 2.0");
    }
    let Some(id) = id else { return ToolReply::Done(Value::Null) };
    match answer(store, &method, message.shift_remove("params"), host) {
        Ok(RpcAnswer::Wait(ToolReply::Needs(needs))) => ToolReply::Needs(needs),
        Ok(RpcAnswer::Wait(ToolReply::Done(result)) | RpcAnswer::Result(result)) => {
            ToolReply::Done(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
        }
        Err(mut refusal) => {
            refusal.data = refusal.data.map(|data| masked_output(store, data));
            let mut answer = error(&id, refusal);
            answer["error"]["message"] = masked_output(store, answer["error"]["message"].take());
            ToolReply::Done(answer)
        }
    }
}

fn is_id(id: &Value) -> bool {
    id.is_string() || id.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn error(id: &Value, refusal: RpcError) -> Value {
    let mut error = json!({ "code": refusal.code, "message": refusal.message });
    if let Some(data) = refusal.data {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

type RpcParams = Map<String, Value>;

fn answer(
    store: &mut DecisionStore,
    method: &str,
    params: Option<Value>,
    host: HostContext<'_>,
) -> std::result::Result<RpcAnswer, RpcError> {
    let params = match params {
        None => RpcParams::new(),
        Some(Value::Object(params)) => params,
        Some(other) => {
            return Err(RpcError::new(
                INVALID_PARAMS,
                format!("params: expected an object, got {}", type_name(&other)),
            ));
        }
    };
    let meta = params.get("_meta").and_then(Value::as_object);
    if method == "server/discover" || meta.is_some_and(|meta| meta.contains_key(VERSION_KEY)) {
        check_envelope(meta)?;
        return modern(store, method, params, host);
    }
    match method {
        "initialize" => initialize(store, &params).map(RpcAnswer::Result),
        "ping" => Ok(RpcAnswer::Result(json!({}))),
        "tools/list" => list_page(store, &params).map(RpcAnswer::Result),
        "tools/call" => call(store, params, host),
        other => nothing_of(other).map(RpcAnswer::Result),
    }
}

/// Lists of what there is none of: clients ask for them without looking at the capabilities.
fn nothing_of(method: &str) -> std::result::Result<Value, RpcError> {
    match method {
        "prompts/list" => Ok(json!({ "prompts": [] })),
        "resources/list" => Ok(json!({ "resources": [] })),
        "resources/templates/list" => Ok(json!({ "resourceTemplates": [] })),
        other => Err(unknown(other)),
    }
}

fn unknown(method: &str) -> RpcError {
    RpcError::new(UNKNOWN_METHOD, format!("there is no method {}", quote(method)))
}

/// Checks what a request without handshake says of itself.
fn check_envelope(meta: Option<&RpcParams>) -> std::result::Result<(), RpcError> {
    let missing = |key: &str, what: &str| RpcError::new(INVALID_PARAMS, format!("_meta: {key} must be {what}"));
    let empty = RpcParams::new();
    let meta = meta.unwrap_or(&empty);
    let version = meta.get(VERSION_KEY).and_then(Value::as_str).ok_or_else(|| missing(VERSION_KEY, "a text"))?;
    if !MODERN.contains(&version) {
        let mut refusal =
            RpcError::new(UNSUPPORTED_VERSION, format!("unsupported protocol version {}", quote(version)));
        refusal.data = Some(json!({ "supported": MODERN, "requested": version }));
        return Err(refusal);
    }
    if !meta.get(CAPABILITIES_KEY).is_some_and(Value::is_object) {
        return Err(missing(CAPABILITIES_KEY, "an object"));
    }
    if meta.get(CLIENT_KEY).is_some_and(|client| !client.is_object()) {
        return Err(missing(CLIENT_KEY, "an object"));
    }
    Ok(())
}

fn modern(
    store: &mut DecisionStore,
    method: &str,
    params: RpcParams,
    host: HostContext<'_>,
) -> std::result::Result<RpcAnswer, RpcError> {
    let server = server_info(store);
    let complete = |mut result: Value| {
        result["resultType"] = "complete".into();
        result["_meta"] = json!({ SERVER_KEY: server });
        result
    };
    let cached = |mut result: Value| {
        result["ttlMs"] = LIST_TTL_MS.into();
        result["cacheScope"] = "public".into();
        complete(result)
    };
    match method {
        "server/discover" => Ok(RpcAnswer::Result(cached(json!({
            "supportedVersions": MODERN,
            "capabilities": { "tools": {} },
            "instructions": instructions(store),
        })))),
        "tools/list" => list_page(store, &params).map(cached).map(RpcAnswer::Result),
        "tools/call" => Ok(match call(store, params, host)? {
            RpcAnswer::Wait(ToolReply::Done(result)) => RpcAnswer::Result(complete(result)),
            other => other,
        }),
        other => nothing_of(other).map(cached).map(RpcAnswer::Result),
    }
}

fn server_info(store: &DecisionStore) -> Value {
    json!({ "name": store.options.service.server_name, "title": "Decision memory", "version": env!("CARGO_PKG_VERSION") })
}

/// The instructions, with the names that the tools have here.
fn instructions(store: &DecisionStore) -> String {
    let prefix = &store.options.service.tool_name_prefix;
    let named = |text: String, name: &str| text.replace(name, &format!("{prefix}{name}"));
    ["get_session_context", "pre_action", "record_thought", "review_outcome"]
        .into_iter()
        .fold(INSTRUCTIONS.to_owned(), named)
}

fn initialize(store: &DecisionStore, params: &RpcParams) -> std::result::Result<Value, RpcError> {
    let asked = params.get("protocolVersion").and_then(Value::as_str);
    let asked = asked.ok_or_else(|| RpcError::new(INVALID_PARAMS, "protocolVersion: required"))?;
    let newest = LEGACY.last().copied().unwrap_or_default();
    let version = LEGACY.iter().copied().find(|known| *known == asked).unwrap_or(newest);
    Ok(json!({
        "protocolVersion": version,
        "capabilities": { "tools": {} },
        "serverInfo": server_info(store),
        "instructions": instructions(store),
    }))
}

fn list_page(store: &DecisionStore, params: &RpcParams) -> std::result::Result<Value, RpcError> {
    // All tools are on one page, so no cursor was ever given out.
    if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
        return Err(RpcError::new(INVALID_PARAMS, "cursor: unknown"));
    }
    Ok(json!({ "tools": list(store) }))
}

fn call(
    store: &mut DecisionStore,
    mut params: RpcParams,
    host: HostContext<'_>,
) -> std::result::Result<RpcAnswer, RpcError> {
    let Some(Value::String(name)) = params.shift_remove("name") else {
        return Err(RpcError::new(INVALID_PARAMS, "name: required"));
    };
    if find(store, &name).is_none() {
        return Err(RpcError::new(INVALID_PARAMS, format!("there is no tool {}", quote(&name))));
    }
    let arguments = params.shift_remove("arguments").unwrap_or_else(|| json!({}));
    if !arguments.is_object() {
        let message = format!("arguments: expected an object, got {}", type_name(&arguments));
        return Err(RpcError::new(INVALID_PARAMS, message));
    }
    Ok(RpcAnswer::Wait(call_tool(store, ToolRequest { name: &name, arguments, host })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::HostAnswers;
    use crate::store::DecisionStoreOptions;

    fn store() -> DecisionStore {
        DecisionStore::new(DecisionStoreOptions::default())
    }

    fn replied(store: &mut DecisionStore, text: &str) -> Value {
        let answers = HostAnswers::default();
        match handle_text(store, text, HostContext { agent: None, trace: None, now: 0, answers: &answers }) {
            ToolReply::Done(value) => value,
            ToolReply::Needs(needs) => panic!("{needs:?}"),
        }
    }

    fn asked(method: &str, params: &Value) -> Value {
        replied(&mut store(), &json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string())
    }

    /// Parameters of a request of 2026-07-28.
    fn modern(version: &str, mut params: Value) -> Value {
        params["_meta"] =
            json!({ VERSION_KEY: version, CAPABILITIES_KEY: {}, CLIENT_KEY: { "name": "c", "version": "1" } });
        params
    }

    #[test]
    fn handshakes_agree_on_a_revision() {
        for (asked_for, got) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-03-26"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-11-25"),
            ("1999-01-01", "2025-11-25"),
        ] {
            let answer = asked("initialize", &json!({ "protocolVersion": asked_for, "capabilities": {} }));
            assert_eq!((&answer["id"], &answer["result"]["protocolVersion"]), (&json!(7), &json!(got)));
            assert_eq!(answer["result"]["serverInfo"]["name"], "cstp-decisions");
            assert!(answer["result"]["instructions"].as_str().unwrap().contains("pre_action"));
        }
    }

    #[test]
    fn errors_have_the_codes_of_the_protocol() {
        let request = |rest: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":7,{rest}}}");
        for (text, id, code) in [
            ("{".to_owned(), json!(null), PARSE_ERROR),
            ("[]".to_owned(), json!(null), INVALID_REQUEST),
            ("[1]".to_owned(), json!(null), INVALID_REQUEST),
            ("1".to_owned(), json!(null), INVALID_REQUEST),
            ("{}".to_owned(), json!(null), INVALID_REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}".to_owned(), json!(null), INVALID_REQUEST),
            ("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}".to_owned(), json!(null), INVALID_REQUEST),
            ("{\"id\":\"a\",\"method\":\"ping\"}".to_owned(), json!("a"), INVALID_REQUEST),
            (request("\"method\":1"), json!(7), INVALID_REQUEST),
            (request("\"method\":\"completion/complete\""), json!(7), UNKNOWN_METHOD),
            (request("\"method\":\"server/discover\""), json!(7), INVALID_PARAMS),
            (request("\"method\":\"ping\",\"params\":[]"), json!(7), INVALID_PARAMS),
            (request("\"method\":\"initialize\""), json!(7), INVALID_PARAMS),
            (request("\"method\":\"tools/list\",\"params\":{\"cursor\":\"x\"}"), json!(7), INVALID_PARAMS),
            (request("\"method\":\"tools/call\""), json!(7), INVALID_PARAMS),
            (request("\"method\":\"tools/call\",\"params\":{\"name\":\"frobnicate\"}"), json!(7), INVALID_PARAMS),
            (
                request("\"method\":\"tools/call\",\"params\":{\"name\":\"ready\",\"arguments\":[]}"),
                json!(7),
                INVALID_PARAMS,
            ),
        ] {
            let answer = replied(&mut store(), &text);
            assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{text}");
            assert!(answer.get("result").is_none());
        }
    }

    #[test]
    fn nothing_is_said_to_notifications_and_responses() {
        for text in [
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            r#"{"jsonrpc":"2.0","method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"no/such"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#,
        ] {
            assert_eq!(replied(&mut store(), text), Value::Null, "{text}");
        }
    }

    #[test]
    fn requests_without_handshake_carry_their_revision() {
        let found = asked("server/discover", &modern("2026-07-28", json!({})));
        let result = &found["result"];
        assert_eq!(result["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("public")));
        assert_eq!(result["_meta"][SERVER_KEY]["name"], "cstp-decisions");
        let list = asked("tools/list", &modern("2026-07-28", json!({})));
        assert_eq!(list["result"]["tools"].as_array().unwrap().len(), 15);
        assert_eq!(list["result"]["ttlMs"], LIST_TTL_MS);
        assert!(asked("tools/list", &json!({}))["result"].get("ttlMs").is_none());

        for (method, field) in [
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        ] {
            assert_eq!(asked(method, &modern("2026-07-28", json!({})))["result"][field], json!([]));
            assert_eq!(asked(method, &json!({}))["result"], json!({ field: [] }));
        }
        let other = asked("tools/list", &modern("2027-01-01", json!({})));
        assert_eq!(other["error"]["code"], UNSUPPORTED_VERSION);
        assert_eq!(other["error"]["data"], json!({ "supported": ["2026-07-28"], "requested": "2027-01-01" }));
        for method in ["ping", "initialize"] {
            assert_eq!(asked(method, &modern("2026-07-28", json!({})))["error"]["code"], UNKNOWN_METHOD);
        }
        for meta in [
            json!({ VERSION_KEY: 1 }),
            json!({ VERSION_KEY: "2026-07-28" }),
            json!({ VERSION_KEY: "2026-07-28", CAPABILITIES_KEY: {}, CLIENT_KEY: 1 }),
        ] {
            let answer = asked("tools/list", &json!({ "_meta": meta }));
            assert_eq!(answer["error"]["code"], INVALID_PARAMS, "{meta}");
        }
    }

    #[test]
    fn wrong_arguments_are_results_that_say_so() {
        for params in [
            json!({ "name": "query_decisions" }),
            modern("2026-07-28", json!({ "name": "query_decisions", "arguments": {} })),
        ] {
            let result = &asked("tools/call", &params)["result"];
            assert_eq!(result["isError"], true);
            let content: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(content, json!({ "error": "validation_error", "message": "query: required" }));
        }
    }

    #[test]
    fn names_may_have_a_prefix_and_tools_be_left_out() {
        let mut options = DecisionStoreOptions::default();
        options.service.tool_name_prefix = "memory_".to_owned();
        options.service.tools = vec!["ready".to_owned(), "pre_action".to_owned()];
        let mut store = DecisionStore::new(options);
        let names: Vec<Value> = list(&store).into_iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(names, ["memory_pre_action", "memory_ready"]);
        assert!(instructions(&store).contains("Call memory_pre_action"));
        for name in ["pre_action", "memory_get_stats"] {
            let text =
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": name } }).to_string();
            assert_eq!(replied(&mut store, &text)["error"]["code"], INVALID_PARAMS);
        }
    }
}

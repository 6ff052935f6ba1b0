//! Cases of the gateway in reference mode, in front of a server that answers by a script.

use std::collections::BTreeMap;

use contextweaver_content::{Selector, slice};
use contextweaver_convert::mcp::{McpResultOptions, mcp_result_to_envelope};
use contextweaver_gateway::{
    CallRequest, CallStep, FailedCall, FailureKind, FinishedCall, ForwardedCall, Gateway, GatewayOptions,
    MeasuredResult, UpstreamFailure, ViewOutcome, gateway_meta_tools, primitive_meta_tools, proxy_meta_tools,
};
use contextweaver_model::ArtifactRef;
use contextweaver_model::json::JsonMap;
use contextweaver_text::hash::sha256_hex;
use contextweaver_text::tokens::Estimator;
use serde_json::{Value, json};

use crate::mcp_gateway::fixtures;

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    let op = input.get("op").and_then(Value::as_str).filter(|_| file == "gateway")?;
    let answer = match op {
        "make_gateway_meta_tools" => schemas(gateway_meta_tools()),
        "make_proxy_meta_tools" => schemas(proxy_meta_tools()),
        "make_primitive_meta_tools" => schemas(primitive_meta_tools()),
        "strip_tools_list" => json!({ "tools": stripped(&mut Host::new(&json!({ "proxy": true }))) }),
        "dispatch" => dispatch(input),
        "execute-then-view" => execute_then_view(input),
        "proxy" => proxy(input),
        "retry" => retry(input),
        "browse_sequence" => browse_sequence(input),
        _ => return None,
    };
    Some(Ok(answer))
}

fn schemas(tools: Vec<JsonMap>) -> Value {
    let of = |tool: JsonMap| json!({ "name": tool["name"], "inputSchema": tool["inputSchema"] });
    json!({ "tools": tools.into_iter().map(of).collect::<Vec<_>>() })
}

/// What a host does: it calls the server, stores results, and reads parts of them.
struct Host {
    gateway: Gateway,
    upstream: JsonMap,
    calls: Vec<Value>,
    stored: BTreeMap<String, (String, String)>,
    handles: Vec<String>,
    delays: Vec<f64>,
    /// The id of the tool that is called, which handles have in them.
    tool_id: String,
}

impl Host {
    fn new(config: &Value) -> Self {
        let mut options = json!({ "mode": "reference", "servers": [{ "name": "upstream" }] });
        for (key, value) in config.as_object().into_iter().flatten() {
            match key.as_str() {
                "proxy" | "cache_stable" => options["reference"][key] = value.clone(),
                "retry_policy" => options["retry"] = value.clone(),
                _ => options[key] = value.clone(),
            }
        }
        let mut gateway = Gateway::new(GatewayOptions::from_value(options).expect("a case has options that are known"));
        let listing = json!({ "tools": fixtures()["catalog"] }).to_string();
        gateway.set_listing("upstream", listing.as_bytes()).expect("the catalog of the cases can be listed");
        let (upstream, calls, handles) = (JsonMap::new(), Vec::new(), Vec::new());
        Self { gateway, upstream, calls, stored: BTreeMap::new(), handles, delays: Vec::new(), tool_id: String::new() }
    }

    /// Calls a tool of the gateway, to the end.
    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        arguments["tool_id"].as_str().unwrap_or_default().clone_into(&mut self.tool_id);
        let (name, arguments) = (name.to_owned(), arguments.clone());
        let request = CallRequest { session: "s".to_owned(), name, arguments, ..CallRequest::default() };
        let mut step = self.gateway.begin_call(request).expect("a call of a session is no error").step;
        let mut forwarded: Option<ForwardedCall> = None;
        loop {
            step = match step {
                CallStep::Reply(reply) => return reply,
                CallStep::Forward(forward) => {
                    let next = self.ask(&forward);
                    forwarded = Some(*forward);
                    match next {
                        CallStep::Reply(reply) => return reply,
                        step => step,
                    }
                }
                CallStep::Retry { after_ms } => {
                    self.delays.push(after_ms as f64 / 1000.0);
                    CallStep::Forward(Box::new(forwarded.take().expect("a call was made before it is made again")))
                }
                CallStep::Drilldown { handle, selector, max_tokens, .. } => {
                    return self.view(&handle, selector, max_tokens);
                }
                other => panic!("reference mode does not say {other:?}"),
            };
        }
    }

    /// Asks the server, and reports how that went.
    fn ask(&mut self, forward: &ForwardedCall) -> CallStep {
        self.calls.push(json!([forward.tool, forward.arguments]));
        let answer = match self.upstream.get_mut(&forward.tool) {
            Some(Value::Array(sequence)) if sequence.len() > 1 => sequence.remove(0),
            Some(Value::Array(sequence)) => sequence.first().cloned().unwrap_or_default(),
            Some(answer) => answer.clone(),
            None => json!({ "content": [{ "type": "text", "text": format!("ok: {}", forward.tool) }] }),
        };
        if let Some(raised) = answer.as_str() {
            let failed = FailedCall { call: forward.call, failure: failure(raised), random: 0.0 };
            return self.gateway.fail_call(failed).expect("the call is open").step;
        }
        let converted = mcp_result_to_envelope(&answer, &forward.tool, &McpResultOptions::default())
            .unwrap_or_else(|error| panic!("{error}"));
        let mut envelope = converted.envelope;
        for binary in converted.binaries {
            let text = String::from_utf8_lossy(&binary.bytes).into_owned();
            self.stored.insert(binary.handle, (text, binary.media_type));
        }
        let id = self.tool_id.clone();
        let text = converted.full_text;
        let hash = sha256_hex(&text);
        let handle = format!("text:{id}:{}", &hash[..16]);
        envelope.artifacts.push(ArtifactRef {
            handle: handle.clone(),
            media_type: "text/plain".to_owned(),
            size_bytes: text.len() as u64,
            label: format!("text result from {id}"),
            content_hash: hash,
        });
        self.handles = envelope.artifacts.iter().map(|artifact| artifact.handle.clone()).collect();
        let (tokens, shown_tokens) = (Estimator::V2.tokens(&text), Estimator::V2.tokens(&envelope.summary));
        let bytes = text.chars().count() as u64;
        self.stored.insert(handle.clone(), (text, "text/plain".to_owned()));
        let measured =
            MeasuredResult { tokens, shown_tokens, bytes, is_error: answer["isError"] == true, handles: vec![handle] };
        let finished =
            FinishedCall { call: forward.call, reply: answer, envelope: Some(json!(envelope)), measured, now_ms: 0 };
        CallStep::Reply(self.gateway.finish_call(finished).unwrap_or_else(|error| panic!("{error}")).reply)
    }

    fn view(&mut self, handle: &str, selector: JsonMap, max_tokens: Option<u64>) -> Value {
        let failed = |message: &str| ViewOutcome::Failed { code: String::new(), message: message.to_owned() };
        let outcome = match self.stored.get(handle) {
            None => failed("no such artifact"),
            Some((text, media)) => {
                let part = Selector::from_value(Value::Object(selector), "")
                    .and_then(|selector| slice(text, media, &selector, max_tokens, &Estimator::V3));
                part.map_or_else(
                    |error| failed(error.message()),
                    |part| ViewOutcome::Slice {
                        text: part.text,
                        unit: part.unit.to_owned(),
                        start: part.start,
                        end: part.end,
                        total: part.total,
                        truncated: part.truncated,
                    },
                )
            }
        };
        self.gateway.view_reply(handle, outcome)
    }
}

/// Reads how an exception of Python is shown.
fn failure(raised: &str) -> UpstreamFailure {
    let (class, rest) = raised.split_once("('").unwrap_or((raised, ""));
    let kind = match class {
        "TimeoutError" => FailureKind::Timeout,
        class if class.starts_with("Connection") => FailureKind::Unavailable,
        _ => FailureKind::Other,
    };
    UpstreamFailure::new(kind, rest.strip_suffix("')").unwrap_or(rest))
}

fn text_of(reply: &Value) -> &str {
    reply["content"][0]["text"].as_str().expect("a reply has a text")
}

/// The JSON of a reply, without what is not recorded: scores of cards, and messages that are ours.
fn body(reply: &Value) -> Value {
    let text = text_of(reply);
    let Ok(mut body) = serde_json::from_str::<Value>(text) else { return json!({ "text": text }) };
    for card in body.as_array_mut().into_iter().flatten() {
        card.as_object_mut().map(|card| card.shift_remove("score"));
    }
    if let Some(map) = body.as_object_mut().filter(|map| map.contains_key("error")) {
        if !map["message"].as_str().is_some_and(|message| message.starts_with("upstream call failed: ")) {
            map.shift_remove("message");
        }
        // All that is wrong with the arguments; the recording has the first.
        if let Some(details) = map.get_mut("details").and_then(Value::as_object_mut) {
            details.shift_remove("errors");
        }
    }
    body
}

fn is_error(reply: &Value) -> bool {
    reply["isError"] == true
}

fn host(input: &Value) -> Host {
    let mut host = Host::new(&input["config"]);
    host.upstream = input["upstream"].as_object().cloned().unwrap_or_default();
    host
}

fn dispatch(input: &Value) -> Value {
    let mut host = host(input);
    let reply = host.call(input["meta_tool"].as_str().unwrap_or_default(), &input["args"]);
    json!({ "isError": is_error(&reply), "body": body(&reply), "upstream_calls": host.calls })
}

fn execute_then_view(input: &Value) -> Value {
    let mut host = host(input);
    host.call("tool_execute", &input["execute"]);
    let mut view = input["view"].clone();
    if view["handle"] == "<last artifact>" {
        view["handle"] = host.handles.last().cloned().into();
    }
    let reply = host.call("tool_view", &view);
    json!({ "handle": view["handle"], "isError": is_error(&reply), "body": body(&reply) })
}

fn stripped(host: &mut Host) -> Vec<JsonMap> {
    let mut tools = host.gateway.list_tools("s", None).tools;
    tools.retain(|tool| tool["inputSchema"] == json!({ "type": "object" }));
    tools
}

fn proxy(input: &Value) -> Value {
    let mut host = Host::new(&json!({ "proxy": true }));
    if input["method"] == "tools/list" {
        let tools = host.gateway.list_tools("s", None).tools;
        return json!({ "tools": tools.iter().map(|tool| &tool["name"]).collect::<Vec<_>>() });
    }
    let params = &input["params"];
    let reply = host.call(params["name"].as_str().unwrap_or_default(), &params["arguments"]);
    json!({ "isError": is_error(&reply), "body": body(&reply) })
}

fn retry(input: &Value) -> Value {
    let mut host = Host::new(&json!({ "retry_policy": input["policy"] }));
    host.upstream.insert("weather.get".to_owned(), input["upstream_sequence"].clone());
    let reply = host.call("tool_execute", &json!({ "tool_id": "weather:get@2024-05", "args": {} }));
    json!({ "isError": is_error(&reply), "error": body(&reply)["error"], "calls": host.calls.len(), "delays": host.delays })
}

fn browse_sequence(input: &Value) -> Value {
    let mut host = Host::new(&input["config"]);
    let queries = input["queries"].as_array().into_iter().flatten();
    let ids = queries.map(|query| {
        let reply = host.call("tool_browse", &json!({ "query": query, "top_k": input["top_k"] }));
        body(&reply).as_array().into_iter().flatten().map(|card| card["id"].clone()).collect::<Vec<_>>()
    });
    json!({ "card_ids": ids.collect::<Vec<_>>() })
}

//! The rules that providers check messages by, written down from their public documentation and their error messages.

use std::collections::BTreeSet;

use contextweaver_convert::providers::Format;
use serde_json::Value;

type Checked = Result<(), String>;

/// Checks messages by the rules of a provider. Calls that nothing follows may wait for their results.
pub fn check(messages: &[Value], system: Option<&Value>, format: Format) -> Checked {
    if system.is_some() {
        return Err("a system text beside the messages".into());
    }
    match format {
        Format::OpenAiChat => chat(messages),
        Format::OpenAiResponses => responses(messages),
        Format::AiSdkUi => ui(messages),
        Format::AiSdkModel => model(messages),
        other => Err(format!("no rules of {}", other.as_str())),
    }
}

fn require(is_met: bool, what: impl Fn() -> String) -> Checked {
    if is_met { Ok(()) } else { Err(what()) }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn is_legal_name(name: &str, most: usize) -> bool {
    !name.is_empty() && name.len() <= most && name.chars().all(|ch| ch.is_ascii_alphanumeric() || "_-".contains(ch))
}

fn is_object_text(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

/// Calls that wait for results, which have to come before anything else does.
#[derive(Default)]
struct Waiting {
    open: BTreeSet<String>,
    all: BTreeSet<String>,
}

impl Waiting {
    fn call(&mut self, id: &str) -> Checked {
        require(!id.is_empty() && self.all.insert(id.to_owned()), || format!("the id {id:?} of a call is not unique"))?;
        self.open.insert(id.to_owned());
        Ok(())
    }

    fn answer(&mut self, id: &str) -> Checked {
        require(self.open.remove(id), || format!("a result of {id:?}, which waits for none"))
    }

    fn nothing(&self, what: &str) -> Checked {
        require(self.open.is_empty(), || format!("{what} while {:?} wait", self.open))
    }
}

fn chat(messages: &[Value]) -> Checked {
    let mut waiting = Waiting::default();
    let mut function: Option<String> = None;
    for message in messages {
        let role = text(message, "role");
        if !matches!(role, "tool" | "function") {
            waiting.nothing(role)?;
            require(function.is_none(), || format!("{role} before the result of {function:?}"))?;
        }
        let content = &message["content"];
        match role {
            "system" | "developer" | "user" => {
                require(content.is_string() || !list(message, "content").is_empty(), || {
                    format!("{role} without content")
                })?;
            }
            "assistant" => {
                let calls = list(message, "tool_calls");
                let says = content.is_string() || !list(message, "content").is_empty();
                let other = ["function_call", "refusal", "audio"].iter().any(|key| !message[*key].is_null());
                require(says || other || !calls.is_empty(), || "an assistant that says nothing".into())?;
                require(message.get("tool_calls").is_none() || !calls.is_empty(), || "an empty list of calls".into())?;
                for call in calls {
                    waiting.call(text(call, "id"))?;
                    require(text(call, "id").chars().count() <= 40, || "an id longer than 40".into())?;
                    let kind = text(call, "type");
                    require(is_legal_name(text(&call[kind], "name"), 64), || format!("a call {call}"))?;
                    let arguments = text(&call[kind], "arguments");
                    require(kind == "custom" || is_object_text(arguments), || format!("arguments {arguments}"))?;
                }
                if let Some(name) = message["function_call"].get("name").and_then(Value::as_str) {
                    function = Some(name.to_owned());
                }
            }
            "tool" => {
                require(content.is_string() || !list(message, "content").is_empty(), || {
                    "a result without content".into()
                })?;
                waiting.answer(text(message, "tool_call_id"))?;
            }
            "function" => {
                let name = text(message, "name");
                require(function.take().is_some_and(|function| function == name), || format!("a result of {name}"))?;
            }
            other => return Err(format!("the role {other:?}")),
        }
    }
    Ok(())
}

fn responses(items: &[Value]) -> Checked {
    let mut waiting = Waiting::default();
    let mut kinds: Vec<(String, String)> = Vec::new();
    let mut thinks = false;
    for item in items {
        let kind = text(item, "type");
        let is_answer = kind.ends_with("_output");
        let is_call = kind.ends_with("_call") && item.get("call_id").is_some();
        let is_model = !is_answer && !matches!(text(item, "role"), "user" | "system" | "developer");
        if !is_answer && !is_model {
            waiting.nothing("a message")?;
        }
        require(!thinks || is_model, || "reasoning that nothing follows".into())?;
        thinks = kind == "reasoning";
        if is_answer {
            let id = text(item, "call_id");
            waiting.answer(id)?;
            let call = kinds.iter().find(|(known, _)| known == id).map(|(_, kind)| format!("{kind}_output"));
            require(call.as_deref() == Some(kind), || format!("{kind} for {call:?}"))?;
            require(!item["output"].is_null(), || "a result without output".into())?;
        } else if is_call {
            let id = text(item, "call_id");
            waiting.call(id)?;
            kinds.push((id.to_owned(), kind.to_owned()));
            require(id.chars().count() <= 64, || "an id longer than 64".into())?;
            if kind == "function_call" {
                require(is_legal_name(text(item, "name"), 64), || format!("a call {item}"))?;
                require(is_object_text(text(item, "arguments")), || format!("arguments {item}"))?;
            }
        } else if matches!(kind, "" | "message") {
            let has_content = item["content"].is_string() || !list(item, "content").is_empty();
            require(has_content, || format!("a message without content: {item}"))?;
        }
    }
    require(!thinks, || "reasoning that nothing follows".into())
}

fn ui(messages: &[Value]) -> Checked {
    let states = [
        "input-streaming",
        "input-available",
        "approval-requested",
        "approval-responded",
        "output-available",
        "output-error",
        "output-denied",
    ];
    let (mut ids, mut calls) = (BTreeSet::new(), BTreeSet::new());
    for (index, message) in messages.iter().enumerate() {
        require(ids.insert(text(message, "id")) && !text(message, "id").is_empty(), || format!("the id of {message}"))?;
        require(matches!(text(message, "role"), "system" | "user" | "assistant"), || format!("the role of {message}"))?;
        let parts = list(message, "parts");
        require(!parts.is_empty(), || "a message without parts".into())?;
        let last_step = parts.iter().rposition(|part| text(part, "type") == "step-start").unwrap_or(0);
        for (at, part) in parts.iter().enumerate() {
            let kind = text(part, "type");
            require(!kind.is_empty(), || format!("the part {part}"))?;
            let is_tool = kind.starts_with("tool-") || kind == "dynamic-tool";
            if !is_tool || part.get("providerExecuted").is_some() {
                continue;
            }
            require(text(message, "role") == "assistant", || "a call by another than the assistant".into())?;
            require(calls.insert(text(part, "toolCallId")), || format!("the id of {part}"))?;
            let state = text(part, "state");
            require(states.contains(&state), || format!("the state of {part}"))?;
            let may_wait = index + 1 == messages.len() && at >= last_step;
            require(may_wait || state.starts_with("output-"), || format!("{part} waits in the middle"))?;
            let field = match state {
                "output-available" => "output",
                "output-error" => "errorText",
                _ => "type",
            };
            require(part.get(field).is_some(), || format!("{part} has no {field}"))?;
            let is_result = state == "output-available";
            require(!is_result || part.get("input").is_some(), || format!("{part} has no input"))?;
        }
    }
    Ok(())
}

fn model(messages: &[Value]) -> Checked {
    let mut waiting = Waiting::default();
    for message in messages {
        let role = text(message, "role");
        if role != "tool" {
            waiting.nothing(role)?;
        }
        let parts = list(message, "content");
        require(message["content"].is_string() || !parts.is_empty(), || format!("{role} without content"))?;
        for part in parts {
            let kind = text(part, "type");
            let id = text(part, "toolCallId");
            match (role, kind) {
                (_, "text")
                | ("user", "image" | "file")
                | ("assistant", "reasoning" | "file" | "tool-approval-request" | "tool-result")
                | ("tool", "tool-approval-response") => {}
                ("assistant", "tool-call") if part.get("providerExecuted").is_some() => {}
                ("assistant", "tool-call") => {
                    require(!text(part, "toolName").is_empty(), || format!("{part} has no name"))?;
                    waiting.call(id)?;
                }
                ("tool", "tool-result") => {
                    require(!text(part, "toolName").is_empty(), || format!("{part} has no name"))?;
                    let kind = text(&part["output"], "type");
                    let has_value = part["output"].get("value").is_some() || kind == "execution-denied";
                    require(has_value, || format!("{part} has no output"))?;
                    waiting.answer(id)?;
                }
                _ => return Err(format!("{role} with {part}")),
            }
        }
    }
    Ok(())
}

//! Calls of models whose server gave them no id, or whose model named no tool.

use serde_json::Value;

use super::message::{at, below};
use super::to_items::ReadOptions;
use super::{Format, Warnings, optional};

/// What the ids begin with that are made up.
const PREFIX: &str = "unnamed_call_";

/// Gives calls with an empty id one by their place, and their results the same, in order. The name of a tool that is empty is `tool`.
pub fn name_calls(list: &mut [Value], format: Format, options: &ReadOptions, warnings: &mut Warnings) {
    let known = options.open_calls.iter().map(|(_, id)| id.clone()).filter(|id| id.starts_with(PREFIX));
    let mut namer = CallNamer { open: known.collect(), next: 0, prefix: String::new(), warnings };
    for (index, message) in list.iter_mut().enumerate() {
        namer.prefix = format!("{PREFIX}{}_", options.start + index);
        namer.next = 0;
        namer.message(message, format, &at("/messages", index));
    }
}

struct CallNamer<'a> {
    /// Ids that were made up and have no result yet.
    open: std::collections::VecDeque<String>,
    next: usize,
    prefix: String,
    warnings: &'a mut Warnings,
}

impl CallNamer<'_> {
    fn message(&mut self, message: &mut Value, format: Format, path: &str) {
        match format {
            Format::OpenAiChat => {
                self.parts(message, path, "tool_calls", |namer, call, path| {
                    namer.call(call, path, "id");
                    for key in ["function", "custom"] {
                        if let Some(inner) = call.get_mut(key) {
                            namer.name(inner, &below(path, key), "name");
                        }
                    }
                });
                if role(message) == "tool" {
                    self.result(message, path, "tool_call_id");
                }
            }
            Format::OpenAiResponses => match kind(message) {
                "function_call" | "custom_tool_call" => {
                    self.call(message, path, "call_id");
                    self.name(message, path, "name");
                }
                kind if kind.ends_with("_call_output") => self.result(message, path, "call_id"),
                _ => {}
            },
            Format::Anthropic => self.parts(message, path, "content", |namer, block, path| match kind(block) {
                "tool_use" => {
                    namer.call(block, path, "id");
                    namer.name(block, path, "name");
                }
                "tool_result" => namer.result(block, path, "tool_use_id"),
                _ => {}
            }),
            Format::AiSdkModel => self.parts(message, path, "content", |namer, part, path| match kind(part) {
                "tool-call" => {
                    namer.call(part, path, "toolCallId");
                    namer.name(part, path, "toolName");
                }
                "tool-result" => namer.result(part, path, "toolCallId"),
                _ => {}
            }),
            // A part is call and result in one.
            Format::AiSdkUi => self.parts(message, path, "parts", |namer, part, path| {
                if namer.call(part, path, "toolCallId") {
                    namer.open.pop_back();
                }
                namer.name(part, path, "toolName");
            }),
            // Ids are optional there.
            Format::Gemini => self.parts(message, path, "parts", |namer, part, path| {
                if let Some(call) = part.get_mut("functionCall") {
                    namer.name(call, &below(path, "functionCall"), "name");
                }
            }),
        }
    }

    fn parts(&mut self, message: &mut Value, path: &str, field: &str, each: impl Fn(&mut Self, &mut Value, &str)) {
        let base = below(path, field);
        for (index, part) in message.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
            each(self, part, &at(&base, index));
        }
    }

    /// Gives a call an id if its own is empty; tells whether it did.
    fn call(&mut self, call: &mut Value, path: &str, key: &str) -> bool {
        if !is_empty(call, key) {
            return false;
        }
        let id = self.fresh();
        self.open.push_back(id.clone());
        self.set(call, path, key, id, "a call without an id");
        true
    }

    fn result(&mut self, result: &mut Value, path: &str, key: &str) {
        if is_empty(result, key) {
            let id = self.open.pop_front().unwrap_or_else(|| self.fresh());
            self.set(result, path, key, id, "a result without the id of its call");
        }
    }

    fn name(&mut self, call: &mut Value, path: &str, key: &str) {
        if is_empty(call, key) {
            call[key] = "tool".into();
            self.warnings.add("NAME_MISSING", "a call names no tool; it is read as one of `tool`", below(path, key));
        }
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("{}{}", self.prefix, self.next)
    }

    fn set(&mut self, value: &mut Value, path: &str, key: &str, id: String, what: &str) {
        self.warnings.add("ID_MISSING", format!("{what} is read with the id {id}"), below(path, key));
        value[key] = id.into();
    }
}

/// Whether a field is there and says nothing. One that is not there is an error of whoever made the message.
fn is_empty(value: &Value, key: &str) -> bool {
    match value.get(key) {
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Null) => true,
        _ => false,
    }
}

fn kind(value: &Value) -> &str {
    value.as_object().map_or("", |map| optional(map, "type"))
}

fn role(value: &Value) -> &str {
    value.as_object().map_or("", |map| optional(map, "role"))
}

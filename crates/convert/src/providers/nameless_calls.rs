//! Calls of models whose server gave them no id, or whose model named no tool.

use serde_json::Value;

use super::message::{at, below, kind_of};
use super::to_items::ReadOptions;
use super::{Format, Warnings};

/// What the ids begin with that are made up.
const PREFIX: &str = "unnamed_call_";

/// Gives calls with an empty id one by their place, and their results the same, in order. The name of a tool that is empty is `tool`.
pub fn name_calls(list: &mut [Value], format: Format, options: &ReadOptions, warnings: &mut Warnings) {
    let known = options.open_calls.iter().map(|(_, id)| id.clone()).filter(|id| id.starts_with(PREFIX));
    let mut namer = CallNamer { open: known.collect(), next: 0, prefix: String::new(), warnings };
    for (index, message) in list.iter_mut().enumerate() {
        namer.prefix = format!("{PREFIX}{}_", options.start + index);
        namer.next = 0;
        (format.provider().name_calls)(&mut namer, message, &at("/messages", index));
    }
}

/// Gives ids and names to the calls of a message.
pub struct CallNamer<'a> {
    /// Ids that were made up and have no result yet.
    open: std::collections::VecDeque<String>,
    next: usize,
    prefix: String,
    warnings: &'a mut Warnings,
}

impl CallNamer<'_> {
    /// Goes through the parts of a message.
    pub fn parts(&mut self, message: &mut Value, path: &str, field: &str, each: impl Fn(&mut Self, &mut Value, &str)) {
        let base = below(path, field);
        for (index, part) in message.get_mut(field).and_then(Value::as_array_mut).into_iter().flatten().enumerate() {
            each(self, part, &at(&base, index));
        }
    }

    /// Goes through the `content` of a message: calls are of one type, with the fields of their id and of their tool, results of
    /// another, with the field of the id of their call.
    pub fn content(
        &mut self,
        message: &mut Value,
        path: &str,
        [call, id, name]: [&str; 3],
        [result, answered]: [&str; 2],
    ) {
        self.parts(message, path, "content", |namer, part, path| match kind_of(part) {
            kind if kind == call => {
                namer.call(part, path, id);
                namer.name(part, path, name);
            }
            kind if kind == result => namer.result(part, path, answered),
            _ => {}
        });
    }

    /// Gives a call an id if its own is empty, for which a result will come; tells whether it did.
    pub fn call(&mut self, call: &mut Value, path: &str, key: &str) -> bool {
        if !is_empty(call, key) {
            return false;
        }
        let id = self.fresh();
        self.open.push_back(id.clone());
        self.set(call, path, key, id, "a call without an id");
        true
    }

    /// Gives a result without an id that of the first call that waits.
    pub fn result(&mut self, result: &mut Value, path: &str, key: &str) {
        if is_empty(result, key) {
            let id = self.open.pop_front().unwrap_or_else(|| self.fresh());
            self.set(result, path, key, id, "a result without the id of its call");
        }
    }

    /// Names the tool of a call that names none.
    pub fn name(&mut self, call: &mut Value, path: &str, key: &str) {
        if is_empty(call, key) {
            call[key] = "tool".into();
            self.warnings.add("NAME_MISSING", "a call names no tool; it is read as one of `tool`", below(path, key));
        }
    }

    /// Says that the last call which got an id waits for no result.
    pub fn close(&mut self) {
        self.open.pop_back();
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

//! Operations by name with JSON text in and out: the same thing the WebAssembly exports offer, testable natively.
//!
//! An answer is `{"done": result, "events"?: [...]}` or, when functions of the caller must be asked first,
//! `{"need": [...]}`; then `supply` takes the answers and the operation is called again.

pub mod convert;
pub mod decisions;
pub mod gateway;
mod known;
pub mod manager;
pub mod operation;
pub mod records;
pub mod routing;
mod text;

pub use text::text_call;

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::callbacks::Need;
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{SECRET_MASK, redact_id, redact_names};

/// Returns an error as the record that crosses, without the credentials that somebody took for an id or a key.
pub fn error_record(error: &Error) -> Value {
    let mut record = error.to_json();
    for (part, value) in record.as_object_mut().into_iter().flatten() {
        *value = match value.take() {
            // Its tokens are keys, nothing is assigned in it.
            Value::String(path) if part == "path" => redact_id(&path).into(),
            value => redact_names(&value, SECRET_MASK),
        };
    }
    record
}

fn done(result: &impl Serialize) -> Result<String> {
    done_with(result, &[] as &[Value])
}

/// Put together as text: a record around every kind of result would be compiled for every kind of result.
fn done_with(result: &impl Serialize, events: &[impl Serialize]) -> Result<String> {
    let mut answer = write(result)?;
    answer.insert_str(0, "{\"done\":");
    if !events.is_empty() {
        answer.push_str(",\"events\":");
        answer.push_str(&write(&events)?);
    }
    answer.push('}');
    Ok(answer)
}

fn need(needs: &[Need]) -> Result<String> {
    write(&One("need", needs))
}

/// An object with one field.
struct One<'a, T: ?Sized>(&'static str, &'a T);

impl<T: Serialize + ?Sized> Serialize for One<'_, T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, self.1)])
    }
}

fn write(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| no_json(&error))
}

/// As [`write`], in bytes: what is kept for a restart need not become a string on its way.
fn bytes(value: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(value).map_err(|error| no_json(&error))
}

fn no_json(error: &serde_json::Error) -> Error {
    Error::new(ErrorCode::Internal, format!("no JSON for it: {error}"))
}

fn unknown(operation: &str) -> Error {
    Error::new(ErrorCode::Unsupported, format!("unknown operation {}", quote(operation)))
}

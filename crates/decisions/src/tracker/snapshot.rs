//! The tracker in snapshots.

use serde_json::{Value, json};

use super::{DeliberationTracker, InputGroup, InputKind, MAX_INPUTS, MAX_KEYS, TrackedInput};
use crate::record::decode::related;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;

/// Numbers that are exact in JavaScript.
const MAX_WHOLE: u64 = 1 << 53;

impl DeliberationTracker {
    /// Tells whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.numbered == 0
    }

    /// Returns the tracker as snapshots hold it.
    pub fn to_value(&self) -> Value {
        let keys = self.keys.iter().map(|(key, session)| {
            let inputs: Vec<Value> = session.inputs.iter().map(tracked_value).collect();
            json!({ "key": key, "used": session.used, "inputs": inputs })
        });
        json!({ "numbered": self.numbered, "keys": keys.collect::<Vec<Value>>() })
    }

    /// Reads a tracker; `path` is its place in the snapshot.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let numbered = fields.uint_or("numbered", 0, MAX_WHOLE)?;
        let sessions = fields.records("keys", session)?;
        if sessions.len() > MAX_KEYS {
            return Err(Error::new(ErrorCode::TooLarge, format!("a tracker has at most {MAX_KEYS} keys")).at(path));
        }
        let mut keys = SortedMap::new();
        keys.extend(sessions);
        Ok(Self { keys, numbered })
    }
}

fn tracked_value(tracked: &TrackedInput) -> Value {
    let mut value = json!({ "id": tracked.id, "kind": tracked.kind.names().0, "text": tracked.text, "at": tracked.at });
    if !tracked.related.is_empty() {
        value["related"] = json!(tracked.related);
    }
    if let Some(handle) = &tracked.handle {
        value["handle"] = json!(handle);
    }
    value
}

fn session(value: Value, path: &str) -> Result<(String, InputGroup)> {
    let mut fields = Fields::open(value, path)?;
    let key = fields.string("key")?;
    let session = InputGroup { used: moment(&mut fields, "used")?, inputs: fields.records("inputs", tracked)? };
    if session.inputs.len() > MAX_INPUTS {
        return Err(Error::new(ErrorCode::TooLarge, format!("a key has at most {MAX_INPUTS} inputs")).at(path));
    }
    Ok((key, session))
}

fn tracked(value: Value, path: &str) -> Result<TrackedInput> {
    let mut fields = Fields::open(value, path)?;
    let letter = fields.string("kind")?;
    let kind = InputKind::ALL.into_iter().find(|kind| kind.names().0 == letter);
    let unknown = || Error::new(ErrorCode::InvalidInput, "expected one of q, g, l, s and r").at(fields.at("kind"));
    Ok(TrackedInput {
        kind: kind.ok_or_else(unknown)?,
        id: fields.string("id")?,
        text: fields.string("text")?,
        at: moment(&mut fields, "at")?,
        related: fields.records("related", related)?,
        handle: fields.opt_string("handle")?,
    })
}

/// Takes milliseconds, which may be before 1970.
fn moment(fields: &mut Fields, key: &'static str) -> Result<i64> {
    Ok(fields.number_or(key, 0.0, -1e15, 1e15)? as i64)
}

//! What a host says of a call.

use serde_json::Value;

use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_model::json::{Fields, JsonMap};

/// Latest time, in milliseconds: whole numbers up to here are exact in JavaScript.
pub(crate) const MAX_TIME: u64 = limits::MAX_SEQUENCE;

/// A call of a client.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallRequest {
    /// The client, by a name that the host chose.
    pub session: String,
    /// Who calls, if that is known.
    pub caller: Option<String>,
    /// The name of the tool, as the client wrote it.
    pub name: String,
    /// The arguments; a client may leave them out.
    pub arguments: Value,
    /// The `_meta` of the call.
    pub meta: JsonMap,
    /// Whether the user can be asked.
    pub can_confirm: bool,
    /// The time in milliseconds; only differences count.
    pub now_ms: u64,
}

impl CallRequest {
    /// Takes a request out of an object that may have other fields.
    ///
    /// # Errors
    /// Those of [`Fields`], with the path of the field.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        Ok(Self {
            session: fields.string("session")?,
            caller: fields.opt_string("caller")?,
            name: fields.string("name")?,
            arguments: fields.take("arguments").unwrap_or_default(),
            meta: fields.object("meta")?,
            can_confirm: fields.bool_or("can_confirm", false)?,
            now_ms: fields.uint_or("now_ms", 0, MAX_TIME)?,
        })
    }
}

/// What a host measured of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MeasuredResult {
    /// Tokens of the whole result.
    pub tokens: u64,
    /// Tokens of what the client gets of it.
    pub shown_tokens: u64,
    /// Bytes of the whole result.
    pub bytes: u64,
    /// Whether the tool said that it failed.
    pub is_error: bool,
    /// The handles under which the result is stored, that of its text first.
    pub handles: Vec<String>,
}

impl MeasuredResult {
    /// Reads `{tokens, shown_tokens, bytes, is_error, handle?, handles?}`.
    ///
    /// # Errors
    /// Those of [`Fields`], with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut handles: Vec<String> = fields.opt_string("handle")?.into_iter().collect();
        for handle in fields.strings("handles")? {
            if !handles.contains(&handle) {
                handles.push(handle);
            }
        }
        let measured = Self {
            tokens: fields.uint_or("tokens", 0, MAX_TIME)?,
            shown_tokens: fields.uint_or("shown_tokens", 0, MAX_TIME)?,
            bytes: fields.uint_or("bytes", 0, MAX_TIME)?,
            is_error: fields.bool_or("is_error", false)?,
            handles,
        };
        fields.finish()?;
        Ok(measured)
    }
}

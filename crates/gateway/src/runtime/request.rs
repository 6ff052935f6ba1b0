//! What a host says of a call.

use serde_json::Value;

use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_model::json::{Fields, JsonMap, Record};

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
    /// The name that the client says it has.
    pub client: Option<String>,
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
            client: fields.opt_string("client")?,
            can_confirm: fields.bool_or("can_confirm", false)?,
            now_ms: fields.uint_or("now_ms", 0, MAX_TIME)?,
        })
    }
}

/// What a host measured of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Record)]
#[record(closed)]
pub struct MeasuredResult {
    /// Tokens of the whole result.
    #[record(default, max = MAX_TIME)]
    pub tokens: u64,
    /// Tokens of what the client gets of it.
    #[record(default, max = MAX_TIME)]
    pub shown_tokens: u64,
    /// Bytes of the whole result.
    #[record(default, max = MAX_TIME)]
    pub bytes: u64,
    /// Whether the tool said that it failed.
    #[record(default)]
    pub is_error: bool,
    /// The handles under which the result is stored, that of its text first.
    #[record(with = handles)]
    pub handles: Vec<String>,
}

/// Takes `handle` and `handles`, each once.
fn handles(fields: &mut Fields, key: &'static str) -> Result<Vec<String>> {
    let mut handles: Vec<String> = fields.opt_string("handle")?.into_iter().collect();
    for handle in fields.strings(key)? {
        if !handles.contains(&handle) {
            handles.push(handle);
        }
    }
    Ok(handles)
}

//! Ways to read a part of an artifact's text.

use serde_json::Value;

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Fields, to_sorted_ascii};
use crate::text::lines::join_lines;
use crate::text::unicode;
use crate::text::unicode::quote;

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The first code points.
    Head {
        /// How many.
        chars: usize,
    },
    /// A range of lines, terminators normalised to line feeds; `rows` is the same.
    Lines {
        /// First line, from 0.
        start: usize,
        /// Line after the last, or the end.
        end: Option<usize>,
    },
    /// Top-level members of a JSON object, as indented JSON with sorted keys.
    JsonKeys {
        /// Which members.
        keys: Vec<String>,
    },
}

impl Selector {
    /// Reads `{"type": "head" | "lines" | "rows" | "json_keys", ...}`.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let kind = fields.string_or("type", "")?;
        match kind.as_str() {
            "head" => Ok(Self::Head { chars: fields.uint_or("chars", 500, u64::from(u32::MAX))? as usize }),
            "lines" | "rows" => Ok(Self::Lines {
                start: fields.uint_or("start", 0, u64::from(u32::MAX))? as usize,
                end: fields.opt_uint("end", u64::from(u32::MAX))?.map(|end| end as usize),
            }),
            "json_keys" => Ok(Self::JsonKeys { keys: fields.strings("keys")? }),
            other => Err(Error::new(ErrorCode::Unsupported, format!("unknown selector {}", quote(other)))
                .at(fields.at("type"))
                .hint("one of: head lines rows json_keys")),
        }
    }

    /// Applies the selector to a text.
    pub fn apply(&self, text: &str) -> Result<String> {
        match self {
            Self::Head { chars } => Ok(unicode::prefix(text, *chars).to_owned()),
            Self::Lines { start, end } => Ok(join_lines(text, *start..end.unwrap_or(usize::MAX))),
            Self::JsonKeys { keys } => {
                let Ok(Value::Object(map)) = crate::json::parse(text) else {
                    return Err(Error::new(ErrorCode::DecodeFailed, "the artifact is not a JSON object"));
                };
                let picked = map.into_iter().filter(|(key, _)| keys.contains(key)).collect();
                Ok(to_sorted_ascii(&Value::Object(picked), Some(2)))
            }
        }
    }
}

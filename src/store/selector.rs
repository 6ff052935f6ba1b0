//! Ways to read a part of an artifact's text.

use serde_json::Value;

use crate::error::{Error, ErrorCode, Result};
use crate::json::{Fields, to_sorted_ascii};
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
            Self::Lines { start, end } => {
                let count = end.unwrap_or(usize::MAX).saturating_sub(*start);
                Ok(lines(text).skip(*start).take(count).collect::<Vec<_>>().join("\n"))
            }
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

/// Splits text into lines at every Unicode line terminator; a final terminator does not open another line.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let is_end = |ch: char| {
            matches!(ch, '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}')
        };
        let Some(end) = rest.find(is_end) else { return Some(std::mem::take(&mut rest)) };
        let (line, tail) = rest.split_at(end);
        let width = if tail.starts_with("\r\n") { 2 } else { tail.chars().next().map_or(0, char::len_utf8) };
        rest = &tail[width..];
        Some(line)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_every_terminator() {
        assert_eq!(lines("a\r\nb\rc\n\nd\u{2028}e\n").collect::<Vec<_>>(), ["a", "b", "c", "", "d", "e"]);
        assert_eq!(lines("").count(), 0);
    }
}

//! Calls as logs show them: `name()`, `name({...})` or `name {...}`.

use serde_json::Value;

use contextweaver_model::json::parse_sent;
use contextweaver_text::unicode::trim;

/// Splits a call into the tool and the JSON text of its arguments, if the text is nothing but that. Where the tool is
/// known, the text has to begin with it.
pub fn parse_call<'a>(text: &'a str, tool: Option<&str>) -> Option<(&'a str, &'a str)> {
    let text = trim(text);
    let end = match tool {
        Some(tool) => text.starts_with(tool).then_some(tool.len())?,
        None => text.find(|ch: char| !ch.is_ascii_alphanumeric() && !"_-.:/".contains(ch))?,
    };
    let (name, rest) = text.split_at(end);
    if tool.is_none() && !is_name(name) {
        return None;
    }
    let arguments = match rest.strip_prefix('(') {
        Some(rest) => trim(rest.strip_suffix(')')?),
        None => trim(rest),
    };
    if arguments.is_empty() && rest.starts_with('(') {
        return Some((name, "{}"));
    }
    is_object(arguments).then_some((name, arguments))
}

/// Tells whether a word may be a tool: `Note: {...}` is no call, nor is `{...}`.
fn is_name(word: &str) -> bool {
    word.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '_') && !word.ends_with(['-', '.', ':', '/'])
}

/// Tells whether a text is a JSON object.
pub fn is_object(text: &str) -> bool {
    trim(text).starts_with('{') && matches!(parse_sent(text), Some(Value::Object(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_calls_are_taken_apart() {
        for (text, wanted) in [
            ("read_log()", Some(("read_log", "{}"))),
            (" fs.read( {\"a\": \")\"} )\n", Some(("fs.read", "{\"a\": \")\"}"))),
            ("get_order {\"id\": 1}", Some(("get_order", "{\"id\": 1}"))),
            ("read(file)", None),
            ("read([1])", None),
            ("read({\"a\": 1}", None),
            ("read({\"a\": 1}) and wait", None),
            ("a() b()", None),
            ("Note: {\"a\": 1}", None),
            ("1({})", None),
            ("({})", None),
            ("{\"a\": 1}", None),
            ("read_log", None),
            ("", None),
        ] {
            assert_eq!(parse_call(text, None), wanted, "{text}");
        }
    }

    #[test]
    fn a_tool_that_is_known_has_to_be_the_one() {
        assert_eq!(parse_call("天気({})", Some("天気")), Some(("天気", "{}")));
        assert_eq!(parse_call("read_log()", Some("read")), None);
        assert_eq!(parse_call("read_log()", Some("write_log")), None);
        assert_eq!(parse_call("read {}", Some("read")), Some(("read", "{}")));
    }
}

//! What a result says in `key: value` form.

use serde_json::Value;

use contextweaver_base::limits::MCP_FACT_CHARS;
use contextweaver_model::json::JsonMap;
use contextweaver_text::lines::lines;
use contextweaver_text::markdown::one_line;
use contextweaver_text::unicode;

/// One field of structured content as a line.
pub(super) struct FactLine {
    pub text: String,
    /// Whether the value is a scalar that says something.
    pub is_fact: bool,
}

/// Writes the first fields of an object as lines, those with short values. Text stands as it is unless it would break
/// the line; anything else is JSON.
pub(super) fn lines_of(map: &JsonMap, keys: usize) -> Vec<FactLine> {
    let lines = map.iter().take(keys).filter_map(|(key, value)| {
        let text = format!("{}: {}", within_line(key)?, rendered(value)?);
        let is_fact = match value {
            Value::String(text) => !unicode::trim(text).is_empty(),
            Value::Array(_) | Value::Object(_) => false,
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        };
        Some(FactLine { is_fact: is_fact && is_short(&text), text })
    });
    lines.collect()
}

fn is_short(text: &str) -> bool {
    unicode::prefix(text, MCP_FACT_CHARS - 1).len() == text.len()
}

fn rendered(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => within_line(text),
        // Long before a value is written out it is seen to be long.
        Value::Array(list) if list.len() > MCP_FACT_CHARS => None,
        Value::Object(map) if map.len() > MCP_FACT_CHARS => None,
        other => Some(one_line(&other.to_string())).filter(|text| is_short(text)),
    }
}

/// Returns a short text in a form that stays within its line and hides nothing.
fn within_line(text: &str) -> Option<String> {
    if !is_short(text) {
        return None;
    }
    let quoted = text.contains(char::is_control).then(|| Value::from(text).to_string());
    Some(one_line(quoted.as_deref().unwrap_or(text)))
}

/// Finds the lines of a text that state something: a name, a colon, a value. Links, times, JSON, code and headings have
/// colons too and state nothing.
pub(super) fn stated(text: &str) -> impl Iterator<Item = &str> {
    lines(text).map(unicode::trim).filter(|line| is_short(line) && states(line))
}

fn states(line: &str) -> bool {
    let Some((name, value)) = line.split_once(':') else { return false };
    let is_name =
        |ch: char| !matches!(ch, '{' | '}' | '[' | ']' | '(' | ')' | '<' | '>' | '"' | '\'' | '`' | '=' | ';');
    let is_word = |ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '.' | '@' | '#');
    if unicode::trim(name).is_empty() || !name.chars().all(is_name) || !name.contains(char::is_alphabetic) {
        return false;
    }
    if unicode::trim(value).is_empty() {
        return false;
    }
    // Without a space behind the colon it may be a time, a link, a path of code or of a disk.
    let is_apart = value.starts_with(unicode::is_space);
    is_apart
        || name.chars().all(is_word) && value.starts_with(char::is_alphanumeric) && name.chars().count() > 1
        || name.chars().count() == 1 && value.starts_with(unicode::is_digit)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_state_something_or_not() {
        let text = "Status: ok\n  total: 3  \nb:2\nkey:value\nSeen at: 12:30\nhttps://x.test/a\nurl https://x.test\n12:30\n\
            at 12:30\n:\n: x\nHeading:\n{\"a\": 1}\nstd::vec: x\nC:\\temp\nfn main(): x\n<b>a</b>: c\nsee x:y z\n日本: 語\n---: 1";
        let found: Vec<&str> = stated(text).collect();
        assert_eq!(found, ["Status: ok", "total: 3", "b:2", "key:value", "Seen at: 12:30", "日本: 語"]);
        assert_eq!(stated(&format!("k: {}", "v".repeat(196))).count(), 1);
        assert_eq!(stated(&format!("k: {}", "v".repeat(197))).count(), 0);
    }

    #[test]
    fn fields_become_lines() {
        let value = json!({
            "s": "done", "t": true, "n": null, "f": 1.5, "l": [1, "a"], "o": { "k": "v" }, "": "e", "m": "a\nb: c",
            "k\ny": 1, "blank": " ", "long": "v".repeat(200), "bidi": "\u{202e}x", "__proto__": 1,
        });
        let lines = lines_of(value.as_object().unwrap(), 100);
        let shown: Vec<(&str, bool)> = lines.iter().map(|line| (line.text.as_str(), line.is_fact)).collect();
        let wanted = [
            ("s: done", true),
            ("t: true", true),
            ("n: null", true),
            ("f: 1.5", true),
            ("l: [1,\"a\"]", false),
            ("o: {\"k\":\"v\"}", false),
            (": e", true),
            ("m: \"a\\nb: c\"", true),
            ("\"k\\ny\": 1", true),
            ("blank:  ", false),
            ("bidi: \\u{202e}x", true),
            ("__proto__: 1", true),
        ];
        assert_eq!(shown, wanted);
        assert_eq!(lines_of(value.as_object().unwrap(), 2).len(), 2);
    }
}

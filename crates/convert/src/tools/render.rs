//! Data as a text for models.

use serde_json::Value;

use super::names::{capitalized, words};
use contextweaver_model::json::JsonMap;

/// The form in which data are written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DataFormat {
    /// As JSON without spaces.
    #[default]
    Json,
    /// As JSON in lines, two spaces for each level.
    Pretty,
    /// As `Key: value, Other key: value` where the data are flat, otherwise as JSON without spaces.
    Summary,
}

/// Fields of a summary; what has more is shown as JSON.
const MAX_FIELDS: usize = 20;

/// Returns data as text of a form.
pub(super) fn rendered(data: &Value, render: DataFormat) -> String {
    match (render, data) {
        (DataFormat::Pretty, _) => {
            let mut out = String::new();
            pretty(&mut out, data, 0);
            out
        }
        (DataFormat::Summary, Value::String(text)) => one_line(text),
        (DataFormat::Summary, Value::Object(map))
            if (1..=MAX_FIELDS).contains(&map.len()) && map.values().all(is_flat) =>
        {
            summary(map)
        }
        _ => data.to_string(),
    }
}

/// Tells whether a value holds nothing that holds something.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Array(list) => list.iter().all(|one| !one.is_array() && !one.is_object()),
        Value::Object(map) => map.values().all(|one| !one.is_array() && !one.is_object()),
        _ => true,
    }
}

fn summary(map: &JsonMap) -> String {
    let parts: Vec<String> = map
        .iter()
        .map(|(key, value)| {
            // The last of dotted names says what it is.
            let words = words(key.rsplit('.').next().unwrap_or(key)).join(" ");
            let label = if words.is_empty() { one_line(key) } else { capitalized(&words) };
            let text = value.as_str().map_or_else(|| value.to_string(), one_line);
            format!("{label}: {text}")
        })
        .collect();
    parts.join(", ")
}

/// Returns a text with its line breaks and what white space is around them as single spaces.
fn one_line(text: &str) -> String {
    let lines: Vec<&str> = text.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() > 1 || text.contains(['\n', '\r']) { lines.join(" ") } else { text.to_owned() }
}

fn pretty(out: &mut String, value: &Value, level: usize) {
    let line = |out: &mut String, level: usize| {
        out.push('\n');
        out.extend(std::iter::repeat_n("  ", level));
    };
    match value {
        Value::Array(list) if !list.is_empty() => {
            for (index, one) in list.iter().enumerate() {
                out.push(if index == 0 { '[' } else { ',' });
                line(out, level + 1);
                pretty(out, one, level + 1);
            }
            line(out, level);
            out.push(']');
        }
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, one)) in map.iter().enumerate() {
                out.push(if index == 0 { '{' } else { ',' });
                line(out, level + 1);
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push_str(": ");
                pretty(out, one, level + 1);
            }
            line(out, level);
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn data_become_text() {
        let weather = json!({ "temp": 72, "conditions": "sunny\n  and dry" });
        assert_eq!(rendered(&weather, DataFormat::Json), r#"{"temp":72,"conditions":"sunny\n  and dry"}"#);
        assert_eq!(rendered(&weather, DataFormat::Summary), "Temp: 72, Conditions: sunny and dry");
        let cases = [
            (
                json!({ "maxTemp": 1.5, "is_on": true, "x-y": null, "list": [1, "a"], "o": { "a": 1 } }),
                "Max temp: 1.5, Is on: true, X y: null, List: [1,\"a\"], O: {\"a\":1}",
            ),
            (json!({ "a": { "b": { "c": 1 } } }), r#"{"a":{"b":{"c":1}}}"#),
            (json!({}), "{}"),
            (json!([1]), "[1]"),
            (json!("two\nlines"), "two lines"),
            (json!({ "": 1 }), ": 1"),
            (json!({ "user.firstName": "é" }), "First name: é"),
        ];
        for (data, wanted) in cases {
            assert_eq!(rendered(&data, DataFormat::Summary), wanted);
        }
        let many: JsonMap = (0..21).map(|n| (format!("k{n}"), n.into())).collect();
        assert!(rendered(&Value::Object(many), DataFormat::Summary).starts_with('{'));
        for data in [json!({ "a": [1, { "b": "x\"" }], "e": {}, "l": [] }), json!([]), json!(5)] {
            assert_eq!(rendered(&data, DataFormat::Pretty), serde_json::to_string_pretty(&data).unwrap());
        }
    }
}

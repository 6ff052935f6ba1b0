//! Arguments that a model has written as text: numbers, booleans and null in quotes, a whole object in quotes.

use serde::Serialize;
use serde_json::{Number, Value};

use contextweaver_model::json::{JsonMap, parse, parse_float};
use contextweaver_text::unicode::{is_space, trim};

/// One argument that was repaired.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ArgumentRepair {
    /// `$` for all of them, `$.name` for one.
    pub path: String,
    /// `parse_stringified_object`, `str_to_integer`, `str_to_number`, `str_to_boolean`, `str_to_null`, or `fixed_by_override`.
    #[cfg_attr(
        feature = "ts",
        ts(
            type = "\"parse_stringified_object\" | \"str_to_integer\" | \"str_to_number\" | \"str_to_boolean\" | \"str_to_null\" | \"fixed_by_override\""
        )
    )]
    pub rule: &'static str,
}

/// The rule of an argument that is not for clients to give.
pub(crate) const FIXED_RULE: &str = "fixed_by_override";

/// Arguments after the repair, and what was repaired.
#[derive(Debug, Clone, PartialEq)]
pub struct RepairedArguments {
    /// The arguments, whether they fit the schema or not.
    pub args: Value,
    /// The repairs, in the order of the arguments.
    pub repairs: Vec<ArgumentRepair>,
}

/// Largest whole number that every JSON reader takes as it is.
const MAX_EXACT: u64 = (1 << 53) - 1;

/// Types of JSON Schema.
const TYPES: &[&str] = &["string", "number", "integer", "boolean", "null", "array", "object"];

/// Repairs what is certain: an object that is a text of JSON, and properties that are a text where the schema has no text.
///
/// Nothing below the properties is touched, nothing is renamed or left out, and a value that fits its schema stays as it
/// is. A number that would not arrive as it was written stays a text: validation then says what is wrong.
///
/// ```
/// use contextweaver_gateway::repair_arguments;
/// use serde_json::json;
///
/// let schema = json!({ "type": "object", "properties": { "limit": { "type": "integer" }, "q": { "type": "string" } } });
/// let repaired = repair_arguments(&json!({ "limit": "5", "q": "5" }), &schema);
/// assert_eq!(repaired.args, json!({ "limit": 5, "q": "5" }));
/// assert_eq!((repaired.repairs[0].path.as_str(), repaired.repairs[0].rule), ("$.limit", "str_to_integer"));
/// ```
pub fn repair_arguments(args: &Value, schema: &Value) -> RepairedArguments {
    repaired_by(args, schema, of_text)
}

/// Does the same only for texts that are the JSON of an object or a list, where the schema has one of these and no text: models
/// write them in quotes, and nothing else can be meant.
///
/// ```
/// use contextweaver_gateway::repair_json_texts;
/// use serde_json::json;
///
/// let schema = json!({ "properties": { "tags": { "type": "array" }, "n": { "type": "integer" } } });
/// let repaired = repair_json_texts(&json!("{\"tags\": \"[1]\", \"n\": \"1\"}"), &schema);
/// assert_eq!(repaired.args, json!({ "tags": [1], "n": "1" }));
/// ```
pub fn repair_json_texts(args: &Value, schema: &Value) -> RepairedArguments {
    repaired_by(args, schema, |text, schema| of_json(text, &types_of(schema, true)?))
}

/// Reads a text as what a schema asks for; also says by which rule.
type ReadText = fn(&str, &Value) -> Option<(Value, &'static str)>;

fn repaired_by(args: &Value, schema: &Value, read: ReadText) -> RepairedArguments {
    let mut repairs = Vec::new();
    let parsed = args.as_str().and_then(parsed_object);
    if parsed.is_some() {
        repairs.push(ArgumentRepair { path: "$".to_owned(), rule: "parse_stringified_object" });
    }
    let mut args = parsed.map_or_else(|| args.clone(), Value::Object);
    if let (Value::Object(map), Some(properties)) = (&mut args, schema.get("properties").and_then(Value::as_object)) {
        for (key, value) in map {
            let repaired = value.as_str().and_then(|text| read(text, properties.get(key)?));
            if let Some((repaired, rule)) = repaired {
                *value = repaired;
                repairs.push(ArgumentRepair { path: format!("$.{key}"), rule });
            }
        }
    }
    RepairedArguments { args, repairs }
}

/// Reads an object that was written as text, within the limits of any JSON.
fn parsed_object(text: &str) -> Option<JsonMap> {
    let text = text.trim_start_matches(|ch| ch == '\u{feff}' || is_space(ch));
    match text.starts_with('{').then(|| parse(trim(text)))?.ok()? {
        Value::Object(map) => Some(map),
        _ => None,
    }
}

/// The types that a schema allows, or its alternatives where they count; nothing where that may be a text, or is not known.
fn types_of(schema: &Value, has_alternatives: bool) -> Option<Vec<&str>> {
    let types: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().map(Value::as_str).collect::<Option<_>>()?,
        Some(_) => return None,
        None => {
            let [any, one] = ["anyOf", "oneOf"].map(|key| schema.get(key).and_then(Value::as_array));
            let alternatives = any.or(one).filter(|_| has_alternatives)?.iter();
            alternatives.map(|alternative| alternative.get("type")?.as_str()).collect::<Option<_>>()?
        }
    };
    // Of a type that nobody knows, nobody knows whether a text is of it.
    let is_known = types.iter().all(|name| *name != "string" && TYPES.contains(name));
    is_known.then_some(types)
}

/// Reads the JSON of an object or a list.
fn of_json(text: &str, types: &[&str]) -> Option<(Value, &'static str)> {
    let text = trim(text.trim_start_matches('\u{feff}'));
    let wanted = |name: &str, open: char| types.contains(&name) && text.starts_with(open);
    if wanted("object", '{') {
        return Some((Value::Object(parsed_object(text)?), "parse_stringified_object"));
    }
    let list = parse(text).ok().filter(|_| wanted("array", '[')).filter(Value::is_array)?;
    Some((list, "parse_stringified_array"))
}

/// Returns what a text stands for where the schema has no text.
fn of_text(text: &str, schema: &Value) -> Option<(Value, &'static str)> {
    let types = types_of(schema, false)?;
    let text = trim(text);
    let has = |name: &str| types.contains(&name);
    let value = match text {
        "true" | "false" if has("boolean") => (Value::Bool(text == "true"), "str_to_boolean"),
        "null" if has("null") => (Value::Null, "str_to_null"),
        _ => match exact_whole(text).filter(|_| has("integer")) {
            Some(value) => (value, "str_to_integer"),
            None => (number(text).filter(|_| has("number"))?, "str_to_number"),
        },
    };
    Some(value)
}

/// Tells whether a text is `-?(0|[1-9][0-9]*)`.
fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && (digits.len() == 1 || !digits.starts_with('0'))
}

/// Reads a whole number that any reader of JSON takes as it is.
fn exact_whole(text: &str) -> Option<Value> {
    let value: i64 = if is_whole(text) { text.parse().ok()? } else { return None };
    (value.unsigned_abs() <= MAX_EXACT).then(|| value.into())
}

/// Reads `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?` if it is finite.
fn number(text: &str) -> Option<Value> {
    if is_whole(text) {
        return exact_whole(text);
    }
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(whole, part)| (whole, Some(part)));
    let fits = is_whole(whole)
        && fraction.is_none_or(all_digits)
        && exponent.is_none_or(|exponent| all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    if !fits {
        return None;
    }
    Number::from_f64(parse_float(text)?).map(Value::Number)
}

#[cfg(test)]
mod tests {
    use contextweaver_convert::validate_args;
    use contextweaver_test_support::property;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn repaired(args: &Value, schema: &Value) -> (Value, Vec<&'static str>) {
        let repaired = repair_arguments(args, schema);
        (repaired.args, repaired.repairs.iter().map(|repair| repair.rule).collect())
    }

    #[test]
    fn texts_become_what_the_schema_asks_for() {
        for (kind, text, wanted) in [
            (json!("integer"), "42", Some(json!(42))),
            (json!("integer"), "-0", Some(json!(0))),
            (json!("integer"), "\u{a0}7\u{3000}", Some(json!(7))),
            (json!("integer"), "9007199254740991", Some(json!(9_007_199_254_740_991_i64))),
            // It would arrive as another number.
            (json!("integer"), "9007199254740993", None),
            (json!("number"), "9007199254740993", None),
            (json!("integer"), "99999999999999999999999", None),
            (json!("integer"), "1e3", None),
            (json!("integer"), "٤٢", None),
            (json!("integer"), "", None),
            (json!("integer"), "-", None),
            (json!("number"), "1e3", Some(json!(1000.0))),
            (json!("number"), "-1.5E-2", Some(json!(-0.015))),
            (json!("number"), "4", Some(json!(4))),
            (json!("number"), "1e999", None),
            (json!("number"), "NaN", None),
            (json!("number"), "1.", None),
            (json!("number"), "01.5", None),
            (json!("number"), "1e", None),
            (json!(["integer", "number"]), "1.5", Some(json!(1.5))),
            (json!("boolean"), "true", Some(json!(true))),
            (json!("boolean"), "TRUE", None),
            (json!(["null", "boolean"]), "null", Some(json!(null))),
            (json!("null"), "none", None),
            (json!(["integer", "string"]), "7", None),
            (json!(["integer", "int64"]), "7", None),
            (json!(["integer", 1]), "7", None),
            (json!([]), "7", None),
            (json!("array"), "[1]", None),
        ] {
            let schema = json!({ "properties": { "a": { "type": kind } } });
            let (args, rules) = repaired(&json!({ "a": text, "other": text }), &schema);
            assert_eq!(args, json!({ "a": wanted.clone().unwrap_or(json!(text)), "other": text }), "{kind} {text}");
            assert_eq!(rules.len(), usize::from(wanted.is_some()));
        }
    }

    #[test]
    fn json_in_quotes_is_read_where_nothing_else_can_be_meant() {
        let optional = json!({ "anyOf": [{ "type": "array" }, { "type": "null" }] });
        let open = json!({ "anyOf": [{ "type": "array" }, {}] });
        let schema = json!({ "properties": { "a": optional, "b": open, "c": { "type": "integer" }, "d": { "type": "object" } } });
        let args = json!({ "a": "[1]", "b": "[1]", "c": "1", "d": "{\"x\": [2]}", "e": "[1]" });
        let repaired = repair_json_texts(&args, &schema);
        assert_eq!(repaired.args, json!({ "a": [1], "b": "[1]", "c": "1", "d": { "x": [2] }, "e": "[1]" }));
        assert_eq!(repaired.repairs.len(), 2);
        assert_eq!(repair_json_texts(&json!("{\"d\": \"{}\"}"), &schema).args, json!({ "d": {} }));
        for (kind, text, wanted) in [
            (json!("array"), "[1]", Some(json!([1]))),
            (json!("array"), " [\"a\", {\"b\": 2}] ", Some(json!(["a", { "b": 2 }]))),
            (json!(["array", "null"]), "[]", Some(json!([]))),
            (json!("object"), "{\"n\":1}", Some(json!({ "n": 1 }))),
            (json!("array"), "{\"n\":1}", None),
            (json!("object"), "[1]", None),
            (json!("array"), "[1", None),
            (json!("array"), "a", None),
            (json!(["array", "string"]), "[1]", None),
        ] {
            let schema = json!({ "properties": { "a": { "type": kind } } });
            let args = repair_json_texts(&json!({ "a": text }), &schema).args;
            assert_eq!(args, json!({ "a": wanted.unwrap_or(json!(text)) }), "{kind} {text}");
        }
    }

    #[test]
    fn an_object_in_quotes_is_read_within_limits() {
        let schema = json!({ "properties": { "n": { "type": "integer" } } });
        let both = vec!["parse_stringified_object", "str_to_integer"];
        assert_eq!(repaired(&json!("\u{feff} {\"n\": \"5\"}\n"), &schema), (json!({ "n": 5 }), both));
        let deep = format!("{{\"a\":{}", "[".repeat(100_000));
        for text in ["[1]", "\"x\"", "not json", "{", "{}x", "", &deep] {
            assert_eq!(repaired(&json!(text), &schema), (json!(text), vec![]));
        }
        // Keys are any text.
        let odd = json!({ "properties": { "__proto__": { "type": "integer" }, "": { "type": "null" } } });
        let args = repaired(&json!({ "__proto__": "1", "": "null" }), &odd).0;
        assert_eq!(args, json!({ "__proto__": 1, "": null }));
        for schema in [json!(null), json!(true), json!({ "properties": [] }), json!({ "properties": { "n": 1 } })] {
            assert_eq!(repaired(&json!({ "n": "1" }), &schema), (json!({ "n": "1" }), vec![]));
        }
    }

    proptest! {
        #![proptest_config(property(2_000))]

        #[test]
        fn what_fits_its_schema_is_not_changed_and_what_is_changed_only_gets_better(
            parts in prop::collection::vec((
                prop::collection::vec(prop::sample::select(vec![
                    "string", "integer", "number", "boolean", "null", "object", "array", "any", "int32",
                ]), 0..3),
                prop::sample::select(vec![
                    json!("1"), json!("-0"), json!("1.5"), json!("true"), json!("null"), json!("x"), json!(" 2 "),
                    json!(1), json!(null), json!(["1"]), json!({ "a": "1" }), json!("9007199254740993"),
                ]),
            ), 1..4),
        ) {
            let (mut properties, mut args) = (JsonMap::new(), JsonMap::new());
            for (index, (types, value)) in parts.into_iter().enumerate() {
                let schema = match &types[..] {
                    [] | ["any"] => json!({}),
                    [one] => json!({ "type": one }),
                    many => json!({ "type": many }),
                };
                properties.insert(format!("p{index}"), schema);
                args.insert(format!("p{index}"), value);
            }
            let (schema, args) = (json!({ "type": "object", "properties": properties }), Value::Object(args));
            let after = repair_arguments(&args, &schema);
            let failures = |args: &Value| validate_args(&schema, "", args, false).map(|found| found.errors).unwrap();
            let (before_errors, after_errors) = (failures(&args), failures(&after.args));
            if before_errors.is_empty() {
                prop_assert_eq!(&after.args, &args);
            }
            prop_assert_eq!(before_errors.len(), after_errors.len() + after.repairs.len());
            // Nothing is renamed, left out or repaired twice.
            let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
            prop_assert_eq!(keys(&after.args), keys(&args));
            prop_assert_eq!(repair_arguments(&after.args, &schema).repairs, []);
        }
    }
}

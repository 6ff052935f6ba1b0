//! What a schema expects, in words.

use serde_json::Value;

use contextweaver_text::unicode::truncate;

/// Characters of the description of one keyword, at most.
const CHARS: usize = 200;

/// Says which types fit.
pub(super) fn types(rule: &Value) -> String {
    let names: Vec<&str> = match rule {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().into_iter().collect(),
    };
    names.join(" or ")
}

/// Says which values fit.
pub(super) fn one_of(all: &[Value]) -> String {
    let mut text = String::from(if all.len() == 1 { "" } else { "one of " });
    for (index, one) in all.iter().enumerate() {
        if text.len() > CHARS {
            break;
        }
        if index > 0 {
            text.push_str(", ");
        }
        text.push_str(&truncate(&one.to_string(), CHARS));
    }
    truncate(&text, CHARS)
}

/// Says what a keyword with one value asks for.
pub(super) fn bound(keyword: &str, rule: &Value) -> String {
    let before = match keyword {
        "minimum" => "at least",
        "maximum" => "at most",
        "exclusiveMinimum" => "more than",
        "exclusiveMaximum" => "less than",
        "multipleOf" => "a multiple of",
        "minLength" | "minItems" | "minProperties" => "no fewer than",
        "maxLength" | "maxItems" | "maxProperties" => "no more than",
        "pattern" => "text that matches",
        "uniqueItems" => return "items that differ".to_owned(),
        "contains" => return "other numbers of items of a certain kind".to_owned(),
        _ => "",
    };
    let after = match keyword {
        "minLength" | "maxLength" => " characters",
        "minItems" | "maxItems" => " items",
        "minProperties" | "maxProperties" => " properties",
        _ => "",
    };
    let rule = rule.as_str().map_or_else(|| rule.to_string(), str::to_owned);
    truncate(&format!("{before} {rule}{after}"), CHARS)
}

/// Says that a value should fit one of several schemas.
pub(super) fn alternatives(keyword: &str, count: usize, found: usize) -> String {
    match (keyword, found) {
        ("oneOf", 2) => format!("to fit only one of {count} alternatives"),
        _ => format!("to fit one of {count} alternatives"),
    }
}

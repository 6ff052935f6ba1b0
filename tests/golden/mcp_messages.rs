//! Messages of providers, as the compat mode converts them.

use contextweaver_base::Result;
use contextweaver_compat::messages::{from_anthropic, from_gemini, from_openai, to_anthropic, to_gemini, to_openai};
use contextweaver_model::ContextItem;
use serde_json::{Value, json};

use crate::compare;

type Decode = fn(&Value, &str) -> Result<Vec<ContextItem>>;
type Encode = fn(&[ContextItem], &str) -> Result<Vec<Value>>;

/// Runs one case of a file; a failure of ours becomes 0.18's class.
pub fn run(file: &str, input: &Value) -> Option<std::result::Result<Value, String>> {
    let (decode, encode): (Decode, Encode) = match file {
        "openai" => (from_openai, to_openai),
        "anthropic" => (from_anthropic, to_anthropic),
        "gemini" => (from_gemini, to_gemini),
        _ => return None,
    };
    Some(convert(input, decode, encode))
}

fn convert(input: &Value, decode: Decode, encode: Encode) -> std::result::Result<Value, String> {
    let refused = || json!({ "error": "CatalogError" });
    let Some(messages) = input.get("messages").or_else(|| input.get("contents")) else {
        let items = items(&input["items"])?;
        let encoded = encode(&items, "/items").map_or_else(|_| refused(), |messages| json!({ "messages": messages }));
        return Ok(json!({ "encode": encoded }));
    };
    let items = match decode(messages, "/messages") {
        Err(error) if error.path().starts_with("/messages") => return Ok(json!({ "decode": refused() })),
        Err(error) => return Err(format!("an error without a path: {error}")),
        Ok(items) => items,
    };
    let (encoded, exact) = match encode(&items, "/items") {
        Err(_) => (refused(), false),
        Ok(encoded) => {
            let encoded = json!({ "messages": encoded });
            let exact = compare::first_difference(messages, &encoded["messages"], 0.0).is_none();
            (encoded, exact)
        }
    };
    Ok(json!({ "decode": { "items": items }, "encode": encoded, "roundtrip_exact": exact }))
}

fn items(list: &Value) -> std::result::Result<Vec<ContextItem>, String> {
    let items = list.as_array().into_iter().flatten();
    items.map(|item| ContextItem::from_value(item.clone(), "/items").map_err(|error| error.to_string())).collect()
}

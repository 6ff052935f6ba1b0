//! The bytes of a case.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use crate::context::text;

/// Returns the bytes of a case, given as text or in base64.
pub fn content(input: &Value) -> Vec<u8> {
    match input["content"]["utf8"].as_str() {
        Some(text) => text.as_bytes().to_vec(),
        None => STANDARD.decode(text(&input["content"], "base64")).expect("a case has text or base64"),
    }
}

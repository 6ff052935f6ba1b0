//! What the firewall counts, and credentials in texts.

use contextweaver_base::Result;
use contextweaver_model::{FirewallStats, FirewallSummary};
use contextweaver_text::redact::{SECRET_MASK, contains_secret, redact_secrets};
use serde_json::{Value, json};

use crate::GONE;
use crate::context::{reference_error, strings};

/// Runs one case; a failure of ours becomes the reference's class and code. What becomes of a large result is decided
/// otherwise here, so that no recorded envelope can be met.
pub fn run(file: &str, input: &Value) -> std::result::Result<Value, String> {
    let result = match file {
        "scrub_secrets" => Ok(scrub(&strings(&input["parts"]).concat())),
        "stats_rollup" => roll_up(input),
        _ => return Err(GONE.to_owned()),
    };
    Ok(result.unwrap_or_else(|error| reference_error(&error)))
}

fn scrub(text: &str) -> Value {
    let scrubbed: Vec<char> = redact_secrets(text, SECRET_MASK).chars().collect();
    let parts: Vec<String> = scrubbed.chunks(7).map(|chunk| chunk.iter().collect()).collect();
    json!({ "scrubbed_parts": parts, "contains": contains_secret(text) })
}

fn roll_up(input: &Value) -> Result<Value> {
    let events = input["events"].as_array().into_iter().flatten();
    let events = events.map(|event| FirewallStats::from_value(event.clone(), "")).collect::<Result<Vec<_>>>()?;
    let summary = FirewallSummary::of(&events);
    Ok(json!({
        "summary": summary,
        "chars_saved": summary.original_chars.saturating_sub(summary.summary_chars),
        "tokens_saved": summary.original_tokens.saturating_sub(summary.summary_tokens),
    }))
}

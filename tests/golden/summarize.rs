//! Facts, summaries and projections.

use contextweaver_base::{Error, Result};
use contextweaver_content::extract::{RuleBasedSummarizer, StructuredExtractor, bullets, facts, key_values, numbered};
use contextweaver_content::{KeepPath, PathSegment, project};
use serde_json::{Value, json};

use crate::GONE;
use crate::context::{strings, text};

/// Runs one case; a failure of ours becomes the reference's class.
pub fn run(file: &str, input: &Value) -> std::result::Result<Value, String> {
    let result = match file {
        "extract" => Ok(extract(text(input, "text"))),
        "parse_path" => parse_path(text(input, "path")),
        "project" => run_project(input),
        "structured_extractor" => Ok(run_extractor(input)),
        "rule_based_summarizer" => Ok(summarize(input)),
        "structured_firewall" | "rule_engine" => return Err(GONE.to_owned()),
        other => return Err(format!("no runner for file {other:?}")),
    };
    Ok(result.unwrap_or_else(|error| reference_error(&error)))
}

/// Wrong paths are errors of the reference; what it does not expect of the data is an error of its language.
fn reference_error(error: &Error) -> Value {
    if error.message().starts_with("a row") {
        return json!({ "error": "AttributeError" });
    }
    json!({ "error": "ConfigError", "code": "CW_CONFIG" })
}

fn chars(input: &Value, key: &str) -> usize {
    input[key].as_i64().map_or(500, |chars| usize::try_from(chars).unwrap_or(0))
}

fn extract(text: &str) -> Value {
    let pairs: serde_json::Map<String, Value> = key_values(text).into_iter().map(|(k, v)| (k, v.into())).collect();
    json!({ "key_values": pairs, "numbered": numbered(text), "bullets": bullets(text), "facts": facts(text) })
}

fn parse_path(path: &str) -> Result<Value> {
    let show = |segment: PathSegment| match segment {
        PathSegment::Elements => "[]".to_owned(),
        PathSegment::Key(key) => key,
    };
    let steps = KeepPath::parse(path)?.segments();
    Ok(json!({ "segments": steps.into_iter().map(show).collect::<Vec<_>>() }))
}

fn run_project(input: &Value) -> Result<Value> {
    let keep = KeepPath::parse_all(&strings(&input["keep"]), "/keep")?;
    Ok(json!({ "projected": project(&input["data"], &keep) }))
}

fn run_extractor(input: &Value) -> Value {
    let extractor = StructuredExtractor { max_chars: chars(input, "max_chars") };
    json!({ "facts": extractor.extract(text(input, "raw")) })
}

fn summarize(input: &Value) -> Value {
    let summarizer = RuleBasedSummarizer { max_chars: chars(input, "max_chars") };
    json!({ "summary": summarizer.summarize(text(input, "raw")) })
}

//! Facts, summaries and projections.

use contextweaver_base::{Error, Result};
use contextweaver_content::keep::{KeepPath, Segment, StructuredFirewall, project};
use contextweaver_content::reference::{
    RuleBasedSummarizer, RuleEngine, StructuredExtractor, SummarizationRule, bullets, facts, key_values, numbered,
};
use serde_json::{Value, json};

use crate::context::{strings, text};

/// Runs one case; a failure of ours becomes the reference's class.
pub fn run(file: &str, input: &Value) -> std::result::Result<Value, String> {
    let result = match file {
        "extract" => Ok(extract(text(input, "text"))),
        "parse_path" => parse_path(text(input, "path")),
        "project" => run_project(input),
        "structured_extractor" => run_extractor(input),
        "structured_firewall" => run_firewall(input),
        "rule_based_summarizer" => Ok(summarize(input)),
        "rule_engine" => Ok(run_rules(input)),
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
    let show = |segment: Segment| match segment {
        Segment::Elements => "[]".to_owned(),
        Segment::Key(key) => key,
    };
    let segments = KeepPath::parse(path)?.segments(true);
    Ok(json!({ "segments": segments.into_iter().map(show).collect::<Vec<_>>() }))
}

fn run_project(input: &Value) -> Result<Value> {
    let keep = KeepPath::parse_all(&strings(&input["keep"]), "/keep")?;
    Ok(json!({ "projected": project(&input["data"], &keep, true) }))
}

fn run_extractor(input: &Value) -> Result<Value> {
    let extractor = StructuredExtractor { max_chars: chars(input, "max_chars"), compat: true };
    Ok(json!({ "facts": extractor.extract(text(input, "raw"))? }))
}

fn run_firewall(input: &Value) -> Result<Value> {
    let firewall = StructuredFirewall::new(&strings(&input["keep"]), chars(input, "max_fact_chars"), true)?;
    let (projected, facts) = firewall.compact(&input["data"])?;
    Ok(json!({ "projected": projected, "facts": facts }))
}

fn summarize(input: &Value) -> Value {
    let summarizer = RuleBasedSummarizer { max_chars: chars(input, "max_chars"), compat: true };
    json!({ "summary": summarizer.summarize(text(input, "raw")) })
}

fn rule(value: &Value) -> SummarizationRule {
    SummarizationRule {
        media_type_prefix: text(value, "media_type_prefix").to_owned(),
        required_tags: strings(&value["required_tags"]),
        summarizer_name: value["summarizer_name"].as_str().unwrap_or("default").to_owned(),
        priority: value["priority"].as_i64().unwrap_or(0),
    }
}

fn run_rules(input: &Value) -> Value {
    let list = |key: &str| input[key].as_array().into_iter().flatten().map(rule).collect::<Vec<_>>();
    let mut engine = RuleEngine::new(list("rules"));
    for rule in list("add") {
        engine.add(rule);
    }
    let queries = input["queries"].as_array().into_iter().flatten();
    let resolved: Vec<&str> =
        queries.map(|query| engine.resolve(text(query, "media_type"), &strings(&query["metadata"]["tags"]))).collect();
    json!({ "order": engine.rules().iter().map(|rule| &rule.summarizer_name).collect::<Vec<_>>(), "resolved": resolved })
}

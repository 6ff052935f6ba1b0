//! Facts, summaries and projections.

use contextweaver_base::{Error, Result};
use contextweaver_content::extract::{bullets, facts, key_values, numbered};
use contextweaver_content::{KeepPath, PathSegment};
use contextweaver_context::compat::content::{
    RuleEngine, StructuredFirewall, SummarizationRule, extractor, project, segments, summarizer,
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
    let show = |segment: PathSegment| match segment {
        PathSegment::Elements => "[]".to_owned(),
        PathSegment::Key(key) => key,
    };
    let steps = segments(&KeepPath::parse(path)?);
    Ok(json!({ "segments": steps.into_iter().map(show).collect::<Vec<_>>() }))
}

fn run_project(input: &Value) -> Result<Value> {
    let keep = KeepPath::parse_all(&strings(&input["keep"]), "/keep")?;
    Ok(json!({ "projected": project(&input["data"], &keep) }))
}

fn run_extractor(input: &Value) -> Result<Value> {
    let extractor = extractor(chars(input, "max_chars"));
    Ok(json!({ "facts": extractor.extract(text(input, "raw"))? }))
}

fn run_firewall(input: &Value) -> Result<Value> {
    let firewall = StructuredFirewall::new(&strings(&input["keep"]), chars(input, "max_fact_chars"))?;
    let (projected, facts) = firewall.compact(&input["data"])?;
    Ok(json!({ "projected": projected, "facts": facts }))
}

fn summarize(input: &Value) -> Value {
    let summarizer = summarizer(chars(input, "max_chars"));
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

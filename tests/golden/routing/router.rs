//! Cases of the router: settings, filters, routes.

use contextweaver::error::{Error, ErrorCode};
use contextweaver::json::Fields;
use contextweaver::model::RoutingConfig;
use contextweaver::order::WordSet;
use contextweaver::routing::Catalog;
use contextweaver::routing::graph::ChoiceGraph;
use contextweaver::routing::router::{
    Candidate, Places, RouteOptions, Router, RouterOptions, Verdict, clarifying_question, shortlist, with_hints,
};
use serde_json::{Map, Value, json};

use super::{items, raw_items};

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    match file {
        "presets" => Some(Ok(preset(input))),
        "filters" => Some(operation(input)),
        "router" => Some(Ok(route(input))),
        "router_errors" => Some(Ok(failing(input))),
        // Those that need no router are in the room of the reference.
        "embeddings" => Some(Ok(hybrid(input))),
        _ => None,
    }
}

/// Returns an error as the reference names it.
fn named(error: &Error) -> Value {
    let class = match error.code() {
        ErrorCode::NoCandidates | ErrorCode::GraphInvalid => "RouteError",
        _ => "ConfigError",
    };
    json!({ "error": class })
}

fn options(fields: Value) -> Result<RouterOptions, Error> {
    RouterOptions::from_value(fields)
}

fn preset(input: &Value) -> Value {
    let config = match input.get("preset") {
        Some(name) => options(json!({ "preset": name })).map(|options| options.config),
        None => RoutingConfig::from_value(input["from_dict"].clone(), ""),
    };
    config.map_or_else(|error| named(&error), |config| json!(config))
}

fn read(options: &Value) -> Result<RouteOptions, Error> {
    let mut fields = Fields::open(options.clone(), "")?;
    let read = RouteOptions::take(&mut fields)?;
    fields.finish()?;
    Ok(read)
}

/// Makes a router of the reference's kind. The recordings name the scorer otherwise.
fn router(catalog: &Value, config: &Value) -> Result<Router, Error> {
    let mut fields: Map<String, Value> = config.as_object().cloned().unwrap_or_default();
    if let Some(scorer) = fields.shift_remove("scorer_backend") {
        fields.insert("scorer".to_owned(), scorer);
    }
    fields.insert("compat".to_owned(), json!("0.18"));
    let mut all = Catalog::new();
    all.register_all(items(catalog))?;
    Ok(Router::new(all, options(Value::Object(fields))?))
}

/// Returns the result of a route as recorded: for the reference there is nothing that does not fit.
pub fn route(input: &Value) -> Value {
    let routed = router(&input["catalog"], &input["config"])
        .and_then(|mut router| router.route(input["query"].as_str().unwrap_or_default(), &read(&input["options"])?));
    match routed {
        Ok(result) => json!(result),
        Err(error) => named(&error),
    }
}

/// Routes with the reference's embeddings; only tools and scores are recorded.
fn hybrid(input: &Value) -> Value {
    let mut input = input.clone();
    input["config"]["scorer"] = json!("hybrid");
    input["options"] = json!({});
    let result = route(&input);
    json!({ "candidate_ids": result["candidate_ids"], "scores": result["scores"] })
}

fn failing(input: &Value) -> Value {
    let one = json!([{ "id": "a", "kind": "tool", "name": "a", "description": "a", "tags": ["mcp", "web"] }]);
    let tools = input.get("items").unwrap_or(&one);
    let config: Map<String, Value> = input
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(key, _)| matches!(key.as_str(), "confidence_gap" | "scorer_backend"))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let routed = router(tools, &Value::Object(config)).and_then(|mut router| {
        if input["graph"] == "empty" {
            router.use_graph(ChoiceGraph::from_value(json!({}), "")?)?;
        }
        let excluded = input.get("exclude_tags").cloned().unwrap_or(json!([]));
        router.route("q", &read(&json!({ "exclude_tags": excluded }))?)
    });
    routed.map_or_else(|error| named(&error), |result| json!(result))
}

fn operation(input: &Value) -> Result<Value, String> {
    let query = input["query"].as_str().unwrap_or_default();
    match input["op"].as_str().unwrap_or_default() {
        "filter_items" => Ok(filter(input)),
        "augment_query" => {
            let hints: Vec<String> =
                serde_json::from_value(input["hints"].clone()).map_err(|error| error.to_string())?;
            Ok(json!(with_hints(query, &hints).0))
        }
        "suggest_clarifying_question" => {
            let tools: Vec<(&str, &str)> = input["items"]
                .as_array()
                .into_iter()
                .flatten()
                .map(|item| (item["name"].as_str().unwrap_or_default(), item["namespace"].as_str().unwrap_or_default()))
                .collect();
            Ok(json!(clarifying_question(query, &tools)))
        }
        "compose_shortlist" => Ok(compose(input)),
        other => Err(format!("unknown operation {other:?}")),
    }
}

fn filter(input: &Value) -> Value {
    let mut fields: Map<String, Value> = input.as_object().cloned().unwrap_or_default();
    fields.retain(|key, _| {
        matches!(key.as_str(), "exclude_ids" | "exclude_tags" | "allowed_namespaces" | "allowed_tags")
    });
    let options = read(&Value::Object(fields)).expect("a case has good filters");
    let (mut ids, mut excluded, mut gated) = (Vec::new(), 0, 0);
    for item in items(&json!(raw_items(&input["catalog_items"]))) {
        match options.filters.verdict(&item) {
            Verdict::Active => ids.push(item.id),
            Verdict::Excluded => excluded += 1,
            Verdict::Gated => gated += 1,
        }
    }
    json!({ "ids": ids, "excluded": excluded, "gated": gated })
}

fn compose(input: &Value) -> Value {
    let ranked: Vec<Candidate> = input["ranked"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| Candidate {
            id: entry[0].as_str().unwrap_or_default().to_owned(),
            score: entry[1].as_f64().unwrap_or_default(),
            path: serde_json::from_value(entry[2].clone()).unwrap_or_default(),
        })
        .collect();
    let quota = input["namespace_quota"].as_u64();
    if let Err(error) = read(&json!({ "namespace_quota": quota })) {
        return named(&error);
    }
    let pinned: Vec<String> = serde_json::from_value(input["pin_ids"].clone()).unwrap_or_default();
    let places = Places {
        top_k: usize::try_from(input["top_k"].as_i64().unwrap_or_default()).unwrap_or_default(),
        pinned: &WordSet::new(pinned),
        namespace_quota: quota.map(|quota| quota as usize),
    };
    let short = shortlist(&ranked, places, &|id| input["namespaces"][id].as_str());
    short.iter().map(|candidate| json!([candidate.id, candidate.score, candidate.path])).collect()
}

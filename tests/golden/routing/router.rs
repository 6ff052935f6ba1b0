//! Cases of the router: settings, filters, routes.

use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode};
use contextweaver_model::RoutingConfig;
use contextweaver_model::json::Fields;
use contextweaver_routing::Catalog;
use contextweaver_routing::cards::{CardOptions, CardStyle, ValidateOptions, make_choice_cards, validate_selection};
use contextweaver_routing::graph::ChoiceGraph;
use contextweaver_routing::router::{
    DecisionParts, FilterVerdict, Navigator, RankedCandidate, RouteExplanation, RouteOptions, Router, RouterOptions,
    RoutingDecision, ShortlistLimits, clarifying_question, shortlist, with_hints,
};
use contextweaver_text::tokens::Estimator;
use serde_json::{Map, Value, json};

use super::{items, raw_items};

/// The moment of the recorded decisions.
const NOW: &str = "2026-01-02T03:04:05Z";

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    match file {
        "presets" => Some(Ok(preset(input))),
        "filters" => Some(operation(input)),
        "router" => Some(Ok(route(input))),
        "router_errors" => Some(Ok(failing(input))),
        // Those that need no router are in the room of the reference.
        "embeddings" => Some(Ok(hybrid(input))),
        "explanation" => Some(Ok(explanation(input))),
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
    let mut fields = Fields::open(fields, "")?;
    let beam = RouterOptions { navigator: Navigator::Beam, ..RouterOptions::default() };
    let options = RouterOptions::take(&mut fields, beam)?;
    fields.finish()?;
    Ok(options)
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

/// Makes a router that searches by beam, as the recorded one does. The recordings name the scorer otherwise.
fn router(catalog: &Value, config: &Value) -> Result<Router, Error> {
    let mut fields: Map<String, Value> = config.as_object().cloned().unwrap_or_default();
    if let Some(scorer) = fields.shift_remove("scorer_backend") {
        fields.insert("scorer".to_owned(), scorer);
    }
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

/// Returns what is told of a route, and the record of the decision made from it.
fn explanation(input: &Value) -> Value {
    if input["empty_result"] == true {
        let decision = RoutingDecision::new(DecisionParts { now: NOW.to_owned(), ..DecisionParts::default() });
        return decision.map_or_else(|error| named(&error), |decision| json!(decision));
    }
    let mut router = router(&input["catalog"], &input["config"]).expect("a case has a good router");
    let options = read(&input["options"]).expect("a case has good options");
    let answer = router.route(input["query"].as_str().unwrap_or_default(), &options).expect("a case has candidates");
    let candidates: Vec<(String, f64)> =
        answer.candidate_ids.iter().cloned().zip(answer.scores.iter().copied()).collect();
    let explained = RouteExplanation {
        query: &answer.trace.query,
        retriever_engine: &answer.trace.retriever_engine,
        candidates: &candidates,
        is_ambiguous: answer.is_ambiguous,
        clarifying_question: answer.clarifying_question.as_deref(),
        context_hints: &answer.context_hints,
        context_boost_applied: answer.context_boost_applied,
        excluded_count: answer.excluded_count as usize,
        gated_count: answer.gated_count as usize,
        completion: answer.completion.as_ref(),
    };
    let ids: Vec<&str> = answer.candidate_ids.iter().map(String::as_str).collect();
    let choice = ValidateOptions::default();
    let selection = validate_selection(input["selected_item_id"].as_str(), &ids, &choice);
    let score = |id: &str| candidates.iter().find(|(known, _)| known == id).map(|(_, score)| *score);
    let offered = ids.iter().filter_map(|id| router.catalog().find(id));
    let made = make_choice_cards(
        offered,
        Some(&score),
        &CardOptions { style: CardStyle { scores: true }, ..CardOptions::default() },
        &|text| Estimator::V2.tokens(text),
    );
    let decision = RoutingDecision::new(DecisionParts {
        id: "d1".to_owned(),
        now: NOW.to_owned(),
        choice_cards: made.cards,
        selection: Some(&selection),
        metadata: Map::from_iter([("k".to_owned(), json!(1))]),
        is_ambiguous: answer.is_ambiguous,
        excluded_count: answer.excluded_count as usize,
        gated_count: answer.gated_count as usize,
        context_boost_applied: answer.context_boost_applied,
        context_hints: &answer.context_hints,
        clarifying_question: answer.clarifying_question.as_deref(),
        ..DecisionParts::default()
    });
    let decision = decision.map_or_else(|error| named(&error), |decision| json!(decision));
    json!({ "dict": explained.to_json(), "md": explained.to_markdown(), "decision": decision })
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
            FilterVerdict::Active => ids.push(item.id),
            FilterVerdict::Excluded => excluded += 1,
            FilterVerdict::Gated => gated += 1,
        }
    }
    json!({ "ids": ids, "excluded": excluded, "gated": gated })
}

fn compose(input: &Value) -> Value {
    let ranked: Vec<RankedCandidate> = input["ranked"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| RankedCandidate {
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
    let places = ShortlistLimits {
        top_k: usize::try_from(input["top_k"].as_i64().unwrap_or_default()).unwrap_or_default(),
        pinned: &WordSet::new(pinned),
        namespace_quota: quota.map(|quota| quota as usize),
    };
    let short = shortlist(&ranked, places, &|id| input["namespaces"][id].as_str());
    short.iter().map(|candidate| json!([candidate.id, candidate.score, candidate.path])).collect()
}

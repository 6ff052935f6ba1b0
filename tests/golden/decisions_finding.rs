//! Cases of finding decisions.

use contextweaver_decisions::record::DecisionReason;
use contextweaver_decisions::search::{
    Bm25Weighting, DecisionFilters, KeywordIndex, ScoreFusion, SearchOptions, cosine_distance, fuse, keyword_text,
    normalised,
};
use contextweaver_decisions::tools::{get_graph, get_neighbors, link_decisions};
use contextweaver_decisions::{
    CallerContext, Decision, DecisionStore, DecisionStoreOptions, HostAnswers, terms, timestamps,
};
use serde_json::{Map, Value, json};

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    match file {
        "keyword" => Some(keyword(input)),
        "vector_filter" => Some(vector_filter(input)),
        "graph" => Some(graph(input)),
        _ => None,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// Reads a record that the reference takes apart as it comes; ours are checked when they are imported.
fn decision(record: &Value) -> Decision {
    let optional = |key: &str| record[key].as_str().map(str::to_owned);
    let reasons = record["reasons"].as_array().into_iter().flatten().filter(|reason| reason.is_object());
    let reasons = reasons.map(|reason| DecisionReason {
        kind: text(&reason["type"]),
        text: text(&reason["text"]),
        strength: 0.8,
        unknown: Map::new(),
    });
    Decision {
        id: text(&record["id"]),
        summary: text(&record["summary"]),
        decision: text(&record["decision"]),
        category: text(&record["category"]),
        context: optional("context"),
        confidence: record["confidence"].as_f64(),
        stakes: optional("stakes"),
        status: text(&record["status"]),
        date: text(&record["date"]),
        project: optional("project"),
        feature: optional("feature"),
        outcome: optional("outcome"),
        pattern: optional("pattern"),
        pr: record["pr"].as_u64(),
        tags: texts(&record["tags"]),
        reasons: reasons.collect(),
        ..Decision::default()
    }
}

fn rounded(value: f64, places: i32) -> f64 {
    let power = 10_f64.powi(places);
    (value * power).round() / power
}

fn keyword(input: &Value) -> Result<Value, String> {
    Ok(match input["op"].as_str().unwrap_or_default() {
        "tokenize" => json!({ "tokens": terms::terms(&text(&input["text"])) }),
        "searchable_text" => json!({ "text": keyword_text(&decision(&input["decision"])) }),
        "search" => search(input),
        "normalize" => {
            let pairs = pairs(&input["results"]);
            let scores: Vec<f64> = pairs.iter().map(|(_, score)| *score).collect();
            let names = pairs.into_iter().map(|(id, _)| id);
            names.zip(normalised(&scores, ScoreFusion::Minmax)).map(|(id, value)| (id, json!(value))).collect()
        }
        "merge" => merge(input),
        other => return Err(format!("unknown operation {other}")),
    })
}

fn pairs(list: &Value) -> Vec<(String, f64)> {
    let pair = |entry: &Value| (text(&entry[0]), entry[1].as_f64().unwrap_or_default());
    list.as_array().into_iter().flatten().map(pair).collect()
}

fn search(input: &Value) -> Value {
    let mut index = KeywordIndex::default();
    let corpus: Vec<Decision> = input["corpus"].as_array().into_iter().flatten().map(decision).collect();
    let corpus: Vec<&Decision> = corpus.iter().filter(|decision| !decision.id.is_empty()).collect();
    for (slot, decision) in corpus.iter().enumerate() {
        index.set(slot as u32, &keyword_text(decision));
    }
    let mut found = index.scores(&text(&input["query"]), Bm25Weighting::Okapi);
    let id = |slot: u32| corpus[slot as usize].id.as_str();
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| id(a.0).cmp(id(b.0))));
    found.truncate(input["top_k"].as_u64().unwrap_or(10) as usize);
    let shown = found.iter().map(|(slot, score)| json!([id(*slot), rounded(*score, 9)]));
    json!({ "results": shown.collect::<Vec<Value>>() })
}

fn merge(input: &Value) -> Value {
    let mut ids: Vec<String> = Vec::new();
    let mut numbered = |list: &Value| -> Vec<(u32, f64)> {
        let slot = |(id, score): (String, f64)| {
            let place = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                ids.push(id);
                ids.len() - 1
            });
            (place as u32, score)
        };
        pairs(list).into_iter().map(slot).collect()
    };
    let (semantic, keyword) = (numbered(&input["semantic"]), numbered(&input["keyword"]));
    let mut fused = fuse(&semantic, &keyword, input["semantic_weight"].as_f64().unwrap_or(0.7), ScoreFusion::Minmax);
    let id = |slot: u32| ids[slot as usize].as_str();
    fused.sort_by(|a, b| b.combined.total_cmp(&a.combined).then_with(|| id(a.slot).cmp(id(b.slot))));
    fused.truncate(input["top_k"].as_u64().unwrap_or(10) as usize);
    let shown = fused.iter().map(
        |hit| json!([id(hit.slot), { "semantic": hit.semantic, "keyword": hit.keyword, "combined": hit.combined }]),
    );
    json!({ "results": shown.collect::<Vec<Value>>() })
}

fn vector_filter(input: &Value) -> Result<Value, String> {
    let numbers =
        |value: &Value| -> Vec<f64> { value.as_array().into_iter().flatten().filter_map(Value::as_f64).collect() };
    Ok(match input["op"].as_str().unwrap_or_default() {
        "cosine_distance" => {
            json!({ "distance": rounded(cosine_distance(&numbers(&input["a"]), &numbers(&input["b"])), 9) })
        }
        "where" => {
            let mut stored = decision(&input["metadata"]);
            stored.tags = text(&input["metadata"]["tags"]).split(',').map(str::to_owned).collect();
            json!({ "match": fulfils(&stored, &input["where"])? })
        }
        other => return Err(format!("unknown operation {other}")),
    })
}

/// Says a condition of the reference's store in our filters.
fn fulfils(stored: &Decision, condition: &Value) -> Result<bool, String> {
    let entries = condition.as_object().ok_or("a condition is an object")?;
    let parts = |list: &Value| -> Result<Vec<bool>, String> {
        list.as_array().into_iter().flatten().map(|part| fulfils(stored, part)).collect()
    };
    for (field, wanted) in entries {
        let holds = match field.as_str() {
            "$and" => parts(wanted)?.into_iter().all(|holds| holds),
            "$or" => parts(wanted)?.into_iter().any(|holds| holds),
            _ => match wanted.as_object() {
                None => compare(stored, field, "$eq", wanted)?,
                Some(operators) => {
                    let all = operators.iter().map(|(operator, operand)| compare(stored, field, operator, operand));
                    all.collect::<Result<Vec<bool>, String>>()?.into_iter().all(|holds| holds)
                }
            },
        };
        if !holds {
            return Ok(false);
        }
    }
    Ok(true)
}

fn compare(stored: &Decision, field: &str, operator: &str, operand: &Value) -> Result<bool, String> {
    let not = |operator: &str| compare(stored, field, operator, operand).map(|holds| !holds);
    let passes = |filters: DecisionFilters| filters.matches(stored).map_err(|error| error.to_string());
    let any = |values: Vec<Value>| -> Result<bool, String> {
        let each = values.iter().map(|value| compare(stored, field, "$eq", value));
        Ok(each.collect::<Result<Vec<bool>, String>>()?.into_iter().any(|holds| holds))
    };
    match (field, operator) {
        (_, "$ne") => not("$eq"),
        (_, "$nin") => not("$in"),
        (_, "$lt") => not("$gte"),
        (_, "$gt") => not("$lte"),
        (_, "$in") => any(operand.as_array().cloned().unwrap_or_default()),
        ("category", "$eq") => passes(DecisionFilters { category: Some(text(operand)), ..DecisionFilters::default() }),
        ("stakes", "$eq") => passes(DecisionFilters { stakes: vec![text(operand)], ..DecisionFilters::default() }),
        ("status", "$eq") => passes(DecisionFilters { status: vec![text(operand)], ..DecisionFilters::default() }),
        ("project", "$eq") => passes(DecisionFilters { project: Some(text(operand)), ..DecisionFilters::default() }),
        ("feature", "$eq") => passes(DecisionFilters { feature: Some(text(operand)), ..DecisionFilters::default() }),
        ("pr", "$eq") => passes(DecisionFilters { pr: operand.as_u64(), ..DecisionFilters::default() }),
        ("tags", "$contains") => passes(DecisionFilters { tags: vec![text(operand)], ..DecisionFilters::default() }),
        ("confidence", "$gte") => {
            passes(DecisionFilters { min_confidence: operand.as_f64(), ..DecisionFilters::default() })
        }
        ("confidence", "$lte") => {
            passes(DecisionFilters { max_confidence: operand.as_f64(), ..DecisionFilters::default() })
        }
        ("confidence", "$eq") => {
            let bound = operand.as_f64();
            passes(DecisionFilters { min_confidence: bound, max_confidence: bound, ..DecisionFilters::default() })
        }
        _ => Err(format!("no filter for {field} {operator}")),
    }
}

const NOW: &str = "2026-03-15T12:00:00+00:00";

fn graph(input: &Value) -> Result<Value, String> {
    let answers = HostAnswers::default();
    let call = CallerContext {
        agent: "mcp-client",
        trace: None,
        now: timestamps::parse(NOW).unwrap_or_default(),
        answers: &answers,
    };
    let arguments: Map<String, Value> = input.as_object().cloned().unwrap_or_default();
    let failed = || json!({ "success": false, "error": "Failed to add edge" });
    let shown = |error: contextweaver_base::Error| error.to_string();
    match input["op"].as_str().unwrap_or_default() {
        // The reference makes nodes of ids it does not know.
        "link" => {
            let search = SearchOptions { allow_stubs: true, ..SearchOptions::default() };
            let mut store = DecisionStore::new(DecisionStoreOptions { search, ..DecisionStoreOptions::default() });
            let linked = link_decisions(&mut store, &call, &arguments);
            Ok(linked.ok().filter(|linked| linked["success"] == true).unwrap_or_else(failed))
        }
        "get_graph" => {
            let mut found = get_graph(&mut fixture(&call)?, &call, &arguments).map_err(shown)?;
            if let Some(nodes) = found["nodes"].as_array_mut() {
                nodes.sort_by(|a, b| text(&a["id"]).cmp(&text(&b["id"])));
                nodes.iter_mut().for_each(without_ours);
            }
            Ok(found)
        }
        "get_neighbors" => {
            let mut found = get_neighbors(&mut fixture(&call)?, &call, &arguments).map_err(shown)?;
            for neighbour in found["neighbors"].as_array_mut().into_iter().flatten() {
                without_ours(&mut neighbour["node"]);
                // The reference has old ones here, so none are recorded.
                for degree in ["inDegree", "outDegree"] {
                    neighbour["node"].as_object_mut().map(|node| node.remove(degree));
                }
            }
            Ok(found)
        }
        other => Err(format!("unknown operation {other}")),
    }
}

fn without_ours(node: &mut Value) {
    node.as_object_mut().map(|node| node.remove("superseded"));
}

/// The decisions and edges that the file has for all of its cases.
fn fixture(call: &CallerContext<'_>) -> Result<DecisionStore, String> {
    let document = crate::read(&crate::vectors().join("decisions/graph.json"));
    let mut store = DecisionStore::new(DecisionStoreOptions::default());
    for node in document["fixture"]["nodes"].as_array().into_iter().flatten() {
        store.put(decision(node));
    }
    for edge in document["fixture"]["edges"].as_array().into_iter().flatten() {
        let names = [
            ("source_id", "sourceId"),
            ("target_id", "targetId"),
            ("edge_type", "edgeType"),
            ("weight", "weight"),
            ("context", "context"),
        ];
        let arguments = names.iter().map(|(ours, theirs)| ((*ours).to_owned(), edge[*theirs].clone())).collect();
        link_decisions(&mut store, call, &arguments).map_err(|error| error.to_string())?;
    }
    Ok(store)
}

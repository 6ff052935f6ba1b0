//! Cases of the graph room, and of the scorers.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use contextweaver_base::order::WordSet;
use contextweaver_base::{Error, ErrorCode};
use contextweaver_model::SelectableItem;
use contextweaver_routing::graph::cluster::cluster_words;
use contextweaver_routing::graph::labels::label_group;
use contextweaver_routing::graph::path;
use contextweaver_routing::graph::words::Vocabulary;
use contextweaver_routing::graph::{self, BuildOptions, ChoiceGraph, GroupingStrategy};
use contextweaver_routing::scorers::embeddings::{HashingEmbedding, HybridScorer, similarity};
use contextweaver_routing::scorers::tfidf::TfIdf;
use contextweaver_routing::scorers::{Scorer, ScorerKind};
use contextweaver_text::similarity::jaccard;
use contextweaver_text::tokenize::{token_set, tokenize};

use crate::GONE;

/// From here on the recordings of TF-IDF leave the weights out.
const LARGE_CORPUS: usize = 10;

/// Runs one case of a file that belongs here.
pub fn run(file: &str, input: &Value) -> Option<Result<Value, String>> {
    let value = match file {
        "tokenize" => {
            let text = text(&input["text"]);
            json!({ "list": tokenize(&text), "set": token_set(&text).words() })
        }
        "jaccard" => {
            let set = |name: &str| match input.get(format!("{name}_text")) {
                Some(words) => token_set(&text(words)),
                None => WordSet::new(texts(&input[name])),
            };
            json!(jaccard(&set("a"), &set("b")))
        }
        "tfidf" => tfidf(input),
        "bm25" => bm25(input),
        "fuzzy" => {
            let scorer = Scorer::fit(ScorerKind::Fuzzy, &texts(&input["documents"]));
            let query = scorer.prepare(&text(&input["query"]));
            json!((0..scorer.len()).map(|index| scorer.score(&query, index)).collect::<Vec<_>>())
        }
        "graph" => scripted(input),
        "graph_load" => load(input),
        "graph_json" => graph_json(input),
        "labeler" if input["op"] == "label" => return Some(Err(GONE.to_owned())),
        "labeler" => labeler(input),
        "clustering" => {
            let items = super::items(&input["items"]);
            let items: Vec<&SelectableItem> = items.iter().collect();
            let clusters = cluster(&items, number(&input["k"]).unwrap_or(0));
            let named = clusters.iter().enumerate().map(|(index, cluster)| {
                let ids: Vec<&str> = cluster.iter().map(|item| item.id.as_str()).collect();
                (format!("cluster_{index:03}"), json!(ids))
            });
            Value::Object(named.collect())
        }
        "tree" => tree(input),
        "path" => return Some(browse_path(input)),
        // Routes are the router's.
        "embeddings" if input["op"] == "router" => return None,
        "embeddings" => embeddings(input),
        "vector_index" | "index_cache" => return Some(Err(GONE.to_owned())),
        _ => return None,
    };
    Some(Ok(value))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().map(|list| list.iter().map(text).collect()).unwrap_or_default()
}

fn number(value: &Value) -> Option<usize> {
    value.as_i64().map(|number| usize::try_from(number).unwrap_or(0))
}

/// The scores of all documents for each query.
fn score_all(scorer: &Scorer, queries: &[String]) -> Map<String, Value> {
    let of_all = |query: &String| {
        let prepared = scorer.prepare(query);
        json!((0..scorer.len()).map(|index| scorer.score(&prepared, index)).collect::<Vec<_>>())
    };
    queries.iter().map(|query| (query.clone(), of_all(query))).collect()
}

fn tfidf(input: &Value) -> Value {
    let fitted = TfIdf::fit(&texts(&input["documents"]));
    if let Some(index) = input.get("doc_index").and_then(Value::as_i64) {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let score = fitted.score(&fitted.prepare(&text(&input["query"])), index);
        return score.map_or_else(|| json!({ "error": "IndexError" }), |score| json!(score));
    }
    let idf: Map<String, Value> =
        fitted.weights().into_iter().map(|(word, weight)| (word.to_owned(), json!(weight))).collect();
    let recorded = fitted.len() < LARGE_CORPUS;
    let mut answer = json!({ "scores": score_all(&Scorer::TfIdf(fitted), &texts(&input["queries"])) });
    if recorded {
        answer["idf"] = json!(idf);
    }
    answer
}

fn bm25(input: &Value) -> Value {
    let scorer = Scorer::fit(ScorerKind::Bm25, &texts(&input["documents"]));
    json!({ "scores": score_all(&scorer, &texts(&input["queries"])) })
}

fn class(error: &Error) -> &'static str {
    match error.code() {
        ErrorCode::MissingField => "KeyError",
        _ => "GraphBuildError",
    }
}

fn detail(error: &Error, key: &str) -> Value {
    error.details().get(key).cloned().unwrap_or(Value::Null)
}

fn outcome(result: Result<(), Error>, details: &[&str]) -> Value {
    let Err(error) = result else { return json!("ok") };
    let mut answer = json!({ "error": class(&error) });
    for key in details {
        answer[*key] = detail(&error, key);
    }
    answer
}

fn scripted(input: &Value) -> Value {
    let mut graph = ChoiceGraph::default();
    let mut answers = Vec::new();
    for step in input["ops"].as_array().cloned().unwrap_or_default() {
        let words: Vec<String> = texts(&step);
        let word = |at: usize| words.get(at).map(String::as_str).unwrap_or_default();
        answers.push(match word(0) {
            "node" => {
                graph.add_node(word(1), word(2), word(3));
                json!("ok")
            }
            "item" => {
                graph.add_item(word(1));
                json!("ok")
            }
            "edge" => outcome(graph.add_edge(word(1), word(2)), &["cycle"]),
            "validate" => outcome(graph.validate(), &["cycle", "edge", "missing_root"]),
            "get" => graph.node_value(word(1)).unwrap_or_else(|error| outcome(Err(error), &[])),
            "succ" => json!(graph.successors(word(1))),
            "pred" => json!(graph.predecessors(word(1))),
            "roots" => json!(graph.roots()),
            "nodes" => json!(graph.nodes()),
            "items" => json!(graph.items()),
            "topo" => json!(graph.topological_order()),
            "stats" => json!(graph.stats()),
            "dict" => json!(graph),
            other => json!(format!("no operation {other}")),
        });
    }
    json!(answers)
}

fn load(input: &Value) -> Value {
    let failed = |stage: &str, error: &Error| {
        let mut answer = outcome(Err(error.clone()), &["cycle"]);
        answer["stage"] = json!(stage);
        if stage == "validate" {
            answer["edge"] = Value::Null;
            answer["missing_root"] = detail(error, "missing_root");
        }
        answer
    };
    match ChoiceGraph::from_value(input["data"].clone(), "") {
        Err(error) => failed("from_dict", &error),
        Ok(graph) => match graph.validate() {
            Err(error) => failed("validate", &error),
            Ok(()) => json!({ "graph": graph }),
        },
    }
}

fn labeler(input: &Value) -> Value {
    let share = input["namespace_threshold"].as_f64().unwrap_or(0.6);
    json!(label_group(&super::items(&input["items"]), number(&input["top_k"]).unwrap_or(3), share))
}

/// Puts tools into at most `count` clusters, those of a cluster by id. The recordings answer one cluster with the list as it came.
fn cluster<'a>(items: &[&'a SelectableItem], count: usize) -> Vec<Vec<&'a SelectableItem>> {
    if count <= 1 && !items.is_empty() {
        return vec![items.to_vec()];
    }
    let mut sorted = items.to_vec();
    sorted.sort_by(|a, b| a.id.cmp(&b.id));
    let mut numbers = Vocabulary::default();
    let words: Vec<Vec<u32>> = sorted.iter().map(|item| numbers.of(item)).collect();
    let words: Vec<&[u32]> = words.iter().map(Vec::as_slice).collect();
    let places = cluster_words(&words, count);
    places.into_iter().map(|places| places.into_iter().map(|place| sorted[place]).collect()).collect()
}

/// The reference's hash of a catalog.
fn catalog_hash(items: &[SelectableItem]) -> String {
    let mut items: Vec<&SelectableItem> = items.iter().collect();
    items.sort_by(|a, b| a.id.cmp(&b.id));
    let line = |item: &&SelectableItem| {
        let mut tags = item.tags.clone();
        tags.sort();
        [&item.id, &item.name, &item.description, &item.namespace, &tags.join(",")].map(String::as_str).join("|")
    };
    let lines: Vec<String> = items.iter().map(line).collect();
    format!("{:x}", Sha256::digest(lines.join("\n")))
}

fn build(input: &Value) -> Result<ChoiceGraph, Error> {
    let items = super::items(input.get("catalog").unwrap_or(&input["items"]));
    let max_children = number(&input["max_children"]).unwrap_or(20);
    let target_group_size = number(&input["target_group_size"]).unwrap_or(max_children);
    let options = BuildOptions { strategy: GroupingStrategy::Auto, max_children, target_group_size };
    graph::build(&items.iter().collect::<Vec<_>>(), options, &catalog_hash(&items))
}

/// The hashing a case asks for.
fn hashing(input: &Value) -> Option<HashingEmbedding> {
    let places = input.get("n_features").map_or(Some(1024), Value::as_u64)?;
    let range = |at: usize, default: u64| {
        let bound = input.get("ngram_range").map_or(Some(default), |range| range[at].as_u64())?;
        usize::try_from(bound).ok()
    };
    let seed = input.get("seed").map_or(Some(0), Value::as_u64)?;
    HashingEmbedding::new(u32::try_from(places).ok()?, range(0, 3)?, range(1, 5)?, seed).ok()
}

fn embeddings(input: &Value) -> Value {
    let Some(hashing) = hashing(input) else { return json!({ "error": "ConfigError" }) };
    match input["op"].as_str() {
        Some("hash") => json!(hashing.hash(&text(&input["token"]))),
        Some("embed") => {
            let vector = hashing.embed(&text(&input["text"]));
            Value::Object(vector.into_iter().map(|(place, value)| (place.to_string(), json!(value))).collect())
        }
        Some("similarity") => json!(similarity(&hashing.embed(&text(&input["a"])), &hashing.embed(&text(&input["b"])))),
        Some("hybrid") => {
            let weight = input["embedding_weight"].as_f64().unwrap_or(0.7);
            let Ok(fitted) = HybridScorer::fit(&texts(&input["documents"]), hashing, weight) else {
                return json!({ "error": "ConfigError" });
            };
            let query = fitted.prepare(&text(&input["query"]));
            json!((0..fitted.len()).map(|index| fitted.score(&query, index)).collect::<Vec<_>>())
        }
        _ => json!("ok"),
    }
}

fn browse_path(input: &Value) -> Result<Value, String> {
    // Pages of a graph are walked otherwise here, see `graph::BrowseIndex`.
    if input["op"] != "parse" {
        return Err(GONE.to_owned());
    }
    let parsed = input["path"].as_str().and_then(|given| path::parse(given).ok().map(|segments| json!(segments)));
    Ok(parsed.unwrap_or_else(|| json!({ "error": "PathInvalidError" })))
}

fn graph_json(input: &Value) -> Value {
    match build(input) {
        Err(error) => outcome(Err(error), &[]),
        Ok(graph) => {
            let again = ChoiceGraph::load(json!(graph), "").map(|again| json!(again));
            json!({ "graph": graph, "round_trip_equal": again.is_ok_and(|again| again == json!(graph)) })
        }
    }
}

fn tree(input: &Value) -> Value {
    let graph = match build(input) {
        Err(error) => return outcome(Err(error), &[]),
        Ok(graph) => json!(graph),
    };
    let empty = Map::new();
    let (nodes, edges) = (graph["nodes"].as_object().unwrap_or(&empty), graph["edges"].as_object().unwrap_or(&empty));
    let filled = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
    let inner: Map<String, Value> =
        edges.iter().filter(|(_, list)| filled(list)).map(|(id, list)| (id.clone(), list.clone())).collect();
    let labels: Map<String, Value> = nodes
        .iter()
        .filter(|(_, node)| node["label"] != "")
        .map(|(id, node)| (id.clone(), json!([node["label"], node["routing_hint"]])))
        .collect();
    let children: Map<String, Value> = inner.keys().map(|id| (id.clone(), nodes[id]["children"].clone())).collect();
    let stats = ChoiceGraph::from_value(graph.clone(), "").map(|graph| json!(graph.stats())).unwrap_or_default();
    json!({
        "edges": inner,
        "labels": labels,
        "children": children,
        "items": graph["items"],
        "max_children": graph["max_children"],
        "build_meta": graph["build_meta"],
        "stats": stats,
    })
}

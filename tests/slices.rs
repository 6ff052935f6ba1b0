//! Promises of slices and views: whole, bounded, and all of it within reach.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver::content::slice::{Selector, Slice, slice};
use contextweaver::content::sniff::shape;
use contextweaver::content::views::views;
use contextweaver::error::Result;
use contextweaver::model::{ArtifactRef, ViewSpec};
use contextweaver::text::tokens::Estimator;
use serde_json::{Value, json};

fn cut(text: &str, media_type: &str, selector: &Value, max_tokens: Option<u64>) -> Result<Slice> {
    slice(text, media_type, &Selector::from_value(selector.clone(), "/selector")?, max_tokens, &Estimator::V2)
}

fn views_of(text: &str, media_type: &str) -> Vec<ViewSpec> {
    let reference = ArtifactRef {
        handle: "artifact:x".into(),
        media_type: media_type.into(),
        size_bytes: text.len() as u64,
        label: String::new(),
        content_hash: String::new(),
    };
    views(&reference, text, shape(media_type, text))
}

fn benchmark() -> Vec<Value> {
    let text = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/firewall/recall_benchmark.json"),
    );
    serde_json::from_str::<Value>(&text.unwrap()).unwrap()["cases"].as_array().unwrap().clone()
}

#[test]
fn one_view_shows_almost_every_planted_fact() {
    let (mut found, mut all, mut lookups) = (0, 0, Vec::new());
    for case in benchmark() {
        let input = &case["input"];
        let (text, media_type) = (input["content"]["utf8"].as_str().unwrap(), input["media_type"].as_str().unwrap());
        let specs = views_of(text, media_type);
        let outputs: Vec<String> = specs
            .iter()
            .map(|view| cut(text, media_type, &Value::Object(view.selector.clone()), None).unwrap().text)
            .collect();
        let small: Vec<&String> = outputs.iter().filter(|text| Estimator::V2.tokens(text) <= 250).collect();
        for needle in input["needles"].as_array().unwrap() {
            let wanted = needle["needle"].as_str().unwrap();
            all += 1;
            if small.iter().any(|text| text.contains(wanted)) {
                found += 1;
            } else {
                println!("not in one view: {} {wanted:?}", case["name"]);
            }
            if needle["class"] == "lookup" {
                let hit = cut(text, media_type, &json!({ "type": "search", "text": wanted }), Some(80)).unwrap();
                assert!(hit.text.contains(wanted), "{wanted}: {}", hit.text);
                lookups.push(Estimator::V2.tokens(&hit.text));
            }
        }
        println!("{}: {} views, {} small", case["name"], specs.len(), small.len());
    }
    let mean = lookups.iter().sum::<u64>() as f64 / lookups.len() as f64;
    println!("one view: {found}/{all}; a search finds a looked-up fact in {mean:.1} tokens");
    assert!(found >= 51 && mean <= 80.0);
}

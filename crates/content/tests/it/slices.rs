//! Promises of slices and views: whole, bounded, and all of it within reach.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_base::{ErrorCode, Result};
use contextweaver_content::{Selector, SliceIndex, TextSlice, slice, slice_indexed, sniff, views};
use contextweaver_model::{ArtifactRef, ViewSpec};
use contextweaver_test_support::property;
use contextweaver_text::tokens::Estimator;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn cut(text: &str, media_type: &str, selector: &Value, max_tokens: Option<u64>) -> Result<TextSlice> {
    slice(text, media_type, &Selector::from_value(selector.clone(), "/selector")?, max_tokens, &Estimator::V2)
}

fn views_of(text: &str, media_type: &str) -> Vec<ViewSpec> {
    let artifact = ArtifactRef {
        handle: "artifact:x".into(),
        media_type: media_type.into(),
        size_bytes: text.len() as u64,
        label: String::new(),
        content_hash: String::new(),
    };
    views(&artifact, text, sniff(media_type, text))
}

fn benchmark() -> Vec<Value> {
    let text = std::fs::read_to_string(
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/firewall/recall_benchmark.json"),
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

/// Follows `next` to the end; returns every slice with the selector that it answers.
fn follow(text: &str, media_type: &str, selector: &Value, max_tokens: u64) -> Vec<(Value, TextSlice)> {
    let mut slices = Vec::new();
    let mut next = Some(selector.clone());
    while let Some(selector) = next {
        let slice = cut(text, media_type, &selector, Some(max_tokens)).unwrap();
        assert!(Estimator::V2.tokens(&slice.text) <= max_tokens, "{selector}: {:?}", slice.text);
        assert_eq!(slice.truncated, slice.next.is_some(), "{selector}");
        next = slice.next.clone().map(Value::Object);
        assert!(slices.len() < 100_000, "{selector} never ends");
        slices.push((selector, slice));
    }
    slices
}

/// Joins units of text that were read a page at a time; what follows a cut unit is the rest of it.
fn joined(slices: &[(Value, TextSlice)], open: &str) -> String {
    let mut out = String::new();
    for (index, (selector, slice)) in slices.iter().enumerate() {
        if index > 0 && selector.get("offset").is_none() {
            out.push('\n');
        }
        let text = if index > 0 { slice.text.strip_prefix(open).unwrap_or(&slice.text) } else { &slice.text };
        out.push_str(text);
    }
    out
}

/// Joins elements of arrays, or members of objects, that were read a page at a time.
fn joined_json(slices: &[(Value, TextSlice)]) -> Vec<(String, Value)> {
    let mut all: Vec<(String, Value)> = Vec::new();
    let mut part: Option<(String, String)> = None;
    for (selector, slice) in slices {
        let page: Value =
            serde_json::from_str(&slice.text).unwrap_or_else(|e| panic!("{selector}: {e}: {}", slice.text));
        let entries: Vec<(String, Value)> = match page {
            Value::Array(list) => list.into_iter().map(|value| (String::new(), value)).collect(),
            Value::Object(map) => map.into_iter().collect(),
            value => vec![(String::new(), value)],
        };
        let begun = selector.get("offset").is_some();
        let cut = slice.next.as_ref().is_some_and(|next| next.contains_key("offset"));
        let last = entries.len().saturating_sub(1);
        for (index, (key, value)) in entries.into_iter().enumerate() {
            let (first, unfinished) = (index == 0 && begun, index == last && cut);
            if !first && !unfinished {
                all.push((key, value));
                continue;
            }
            let (_, mut known) = part.take().unwrap_or_default();
            known.push_str(value.as_str().unwrap());
            if unfinished {
                part = Some((key, known));
            } else {
                // A string in parts is its characters; anything else its source.
                let whole =
                    serde_json::from_str(&known).ok().filter(|value: &Value| value.is_object() || value.is_array());
                all.push((key, whole.unwrap_or(Value::String(known))));
            }
        }
    }
    all
}

const WORDS: &[&str] =
    &["alpha", "error", "žluť", "日本語", "😀", "a,b", "\"q\"", "x=1", "", "0 failed", "…", "\\", "\u{fffd}"];

fn line() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 0..12).prop_map(|words| words.join(" "))
}

fn text() -> impl Strategy<Value = String> {
    let ends = prop::sample::select(vec!["\n", "\r\n", "\r", "\u{2028}", "\n\n"]);
    prop::collection::vec((line(), ends), 0..60).prop_map(|all| all.into_iter().map(|(line, end)| line + end).collect())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        line().prop_map(Value::from),
        Just(json!("failed: connection refused")),
        prop::collection::vec(line(), 20..60).prop_map(|lines| Value::from(lines.join("\n"))),
    ];
    leaf.prop_recursive(4, 200, 30, |inner| {
        let key = prop::sample::select(vec!["a", "b c", "x.y", "", "é", "q\"", "status", "$", "[0]"]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..30).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..12)
                .prop_map(|list| list.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
                .prop_map(Value::Object),
        ]
    })
}

fn table() -> impl Strategy<Value = String> {
    let cell = prop::sample::select(vec![
        "1",
        "2.5",
        "",
        "ann",
        "\"x, y\"",
        "\"two\nlines\"",
        "\"a \"\"b\"\"\"",
        "žluť",
        "failed",
    ]);
    prop::collection::vec(prop::collection::vec(cell, 3), 1..80).prop_map(|rows| {
        let rows: Vec<String> = rows.into_iter().map(|row| row.join(",")).collect();
        format!("id,\"full name\",state\n{}\n", rows.join("\n"))
    })
}

fn leaves(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::Array(list) if !list.is_empty() => list.iter().for_each(|value| leaves(value, out)),
        Value::Object(map) if !map.is_empty() => map.values().for_each(|value| leaves(value, out)),
        Value::String(text) => out.extend(text.split('\n').map(str::to_owned)),
        other => out.push(other.to_string()),
    }
}

proptest! {
    #![proptest_config(property(64))]

    #[test]
    fn following_next_reads_every_line_once(text in text(), max in 16_u64..60) {
        let whole = cut(&text, "text/plain", &json!({ "type": "lines" }), None).unwrap();
        prop_assert!(!whole.truncated && whole.end == whole.total);
        let slices = follow(&text, "text/plain", &json!({ "type": "lines" }), max);
        prop_assert_eq!(joined(&slices, ""), whole.text);
        let head = follow(&text, "text/plain", &json!({ "type": "head", "chars": 100_000 }), max);
        prop_assert_eq!(head.iter().map(|(_, slice)| slice.text.as_str()).collect::<String>(), text.clone());
        let tail = follow(&text, "text/plain", &json!({ "type": "tail", "chars": 100_000 }), max);
        prop_assert_eq!(tail.iter().rev().map(|(_, slice)| slice.text.as_str()).collect::<String>(), text);
    }

    #[test]
    fn following_next_reads_every_row_once(text in table(), max in 16_u64..60) {
        let rows = json!({ "type": "rows" });
        let whole = cut(&text, "text/csv", &rows, None).unwrap();
        prop_assert_eq!(&whole.text, text.trim_end());
        prop_assert_eq!(joined(&follow(&text, "text/csv", &rows, max), "id,\"full name\",state\n"), whole.text);
        let failed = json!({ "type": "rows", "where": [{ "column": "state", "value": "failed" }], "columns": ["state"] });
        let slices = follow(&text, "text/csv", &failed, max);
        let found: usize = slices.iter().map(|(_, slice)| slice.text.matches("failed").count()).sum();
        prop_assert_eq!(found as u64, cut(&text, "text/csv", &failed, None).unwrap().total);
    }

    #[test]
    fn following_next_reads_every_element_once(value in value(), max in 16_u64..60, pretty: bool) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
        let slices = follow(&text, "application/json", &json!({ "type": "json_path", "path": "$" }), max);
        let expected: Vec<(String, Value)> = match &value {
            Value::Array(list) => list.iter().map(|value| (String::new(), value.clone())).collect(),
            Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), value.clone())).collect(),
            other => vec![(String::new(), other.clone())],
        };
        prop_assert_eq!(joined_json(&slices), expected);
    }

    #[test]
    fn following_next_finds_every_hit_once(text in text(), max in 20_u64..60, max_hits in 1_u64..5) {
        let search = json!({ "type": "search", "text": "error", "context": 0, "max_hits": max_hits });
        let slices = follow(&text, "text/plain", &search, max);
        let expected: Vec<String> = contextweaver_text::lines::lines(&text)
            .enumerate()
            .filter(|(_, line)| line.contains("error"))
            .map(|(number, line)| format!("{number}:{line}"))
            .collect();
        prop_assert_eq!(slices[0].1.total, expected.len() as u64);
        let found = joined(&slices, "");
        prop_assert_eq!(found, expected.join("\n"));
    }

    #[test]
    fn views_cover_lines_and_rows(text in text(), table in table()) {
        let whole = |text: &str| contextweaver_text::lines::lines(text).map(str::to_owned).collect::<Vec<_>>();
        for (text, media_type) in [(&text, "text/plain"), (&table, "text/csv")] {
            let shown: String = checked_views(text, media_type).concat();
            for line in whole(text) {
                prop_assert!(shown.contains(&line), "{:?}", line);
            }
        }
    }

    #[test]
    fn views_cover_json(value in value()) {
        let value = json!([value]);
        let text = serde_json::to_string_pretty(&value).unwrap();
        let mut shown = Vec::new();
        for output in checked_views(&text, "application/json") {
            let output: Value = serde_json::from_str(&output).unwrap_or(Value::String(output));
            leaves(&output, &mut shown);
        }
        let mut wanted = Vec::new();
        leaves(&value, &mut wanted);
        let shown = shown.join("\n");
        for leaf in wanted {
            prop_assert!(leaf.split(' ').all(|word| shown.contains(word)), "{}", leaf);
        }
    }
}

/// Runs every view of a text, checks what must hold of each, and returns the outputs.
fn checked_views(text: &str, media_type: &str) -> Vec<String> {
    let specs = views_of(text, media_type);
    assert!(specs.len() <= 80, "{} views", specs.len());
    let mut ids: Vec<&str> = specs.iter().map(|view| view.view_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), specs.len(), "{ids:?}");
    specs
        .iter()
        .map(|view| {
            let selector = Value::Object(view.selector.clone());
            let slice = cut(text, media_type, &selector, None).unwrap();
            assert!(slice.text.len() <= text.len(), "{selector} is larger than its source: {}", slice.text);
            let small = cut(text, media_type, &selector, Some(250)).unwrap();
            assert!(Estimator::V2.tokens(&small.text) <= 250, "{selector}");
            slice.text
        })
        .collect()
}

#[test]
fn hostile_texts_are_handled_in_one_pass() {
    let size = 1 << 17;
    let many = |part: &str| part.repeat(size / part.len());
    let nested = format!("{}{}", "[".repeat(60), "]".repeat(60));
    let texts = [
        many("x"),
        many("\n"),
        many("\""),
        many(","),
        many("a,"),
        many("<h1"),
        many("<"),
        many("😀"),
        many("error\n"),
        many("@@ -1 +1 @@\n"),
        many("[1],").trim_end_matches(',').to_owned(),
        format!("[{}]", many("1,").trim_end_matches(',')),
        format!("[{}]", many("[],").trim_end_matches(',')),
        format!("[{nested}]"),
        format!("{{\"a\":\"{}\"}}", many("\\u0000")),
        format!("{{\"a\":\"{}\"}}", many("w")),
        format!("{{{}}}", many("\"k\":1,").trim_end_matches(',')),
        format!("{{{}}}", many("\"error\":\"failed\",").trim_end_matches(',')),
        many("["),
        many("{\"a\":1}\n"),
        many("a,b\n"),
        many("# h\n"),
        String::new(),
        "\u{fffd}PNG\r\n\u{1a}\n\0\0".to_owned(),
    ];
    for text in texts {
        let shown: String = text.chars().take(20).collect();
        for media_type in ["text/plain", "text/csv", "application/json", "text/html", "text/x-diff"] {
            let specs = views_of(&text, media_type);
            assert!(specs.len() <= 80, "{shown:?}: {}", specs.len());
            for view in specs.iter().take(3).chain(specs.last()) {
                cut(&text, media_type, &Value::Object(view.selector.clone()), Some(250)).unwrap();
            }
            for selector in [
                json!({ "type": "outline" }),
                json!({ "type": "search", "text": "error" }),
                json!({ "type": "search", "pattern": "(a|e)+r*x", "regex": true }),
                json!({ "type": "rows", "start": -5 }),
                json!({ "type": "lines", "start": -5 }),
                json!({ "type": "tail" }),
                json!({ "type": "stats" }),
                json!({ "type": "json_path", "path": "$" }),
            ] {
                match cut(&text, media_type, &selector, Some(100)) {
                    Ok(slice) => assert!(Estimator::V2.tokens(&slice.text) <= 100, "{shown:?} {selector}"),
                    Err(error) => assert!(matches!(
                        error.code(),
                        ErrorCode::Unsupported | ErrorCode::DecodeFailed | ErrorCode::TooLarge
                    )),
                }
            }
        }
    }
}

#[test]
fn slices_show_what_was_asked_for() {
    let table = "id,name\n1,\"x, y\"\n2,\"two\nlines\"\n3,z\n";
    let data =
        r#"{"n": 1.50, "data": [{"id": "a", "v": 1, "s": "ok"}, {"id": "b", "v": 20, "s": "bad"}], "t": "abcdef"}"#;
    let plain = format!("id,name\n{}", "1,x\n".repeat(20));
    let lines = "a\nb\nc\nd\ne\n";
    let nd = "{\"a\":1}\n\n{\"a\":2,\"b\":[1]}\n";
    let cases = [
        (lines, json!({ "type": "lines", "start": -2 }), "d\ne"),
        (lines, json!({ "type": "lines", "end": -3 }), "a\nb"),
        (lines, json!({ "type": "lines", "start": 3, "end": 1 }), ""),
        (lines, json!({ "type": "around", "line": 3, "context": 1 }), "c\nd\ne"),
        (lines, json!({ "type": "around", "line": 99 }), ""),
        (lines, json!({ "type": "rows", "start": 1, "end": 2 }), "b"),
        (lines, json!({ "type": "head", "chars": 3 }), "a\nb"),
        (lines, json!({ "type": "head", "start": 2, "chars": 1 }), "b"),
        (lines, json!({ "type": "tail", "chars": 2 }), "e\n"),
        (lines, json!({ "type": "search", "text": "c", "context": 1 }), "1-b\n2:c\n3-d"),
        (
            lines,
            json!({ "type": "search", "pattern": "^[ae]$", "regex": true, "context": 1 }),
            "0:a\n1-b\n--\n3-d\n4:e",
        ),
        (lines, json!({ "type": "search", "text": "B", "ignore_case": true, "context": 0 }), "1:b"),
        (table, json!({ "type": "rows", "start": 0, "end": 2 }), "id,name\n1,\"x, y\""),
        (table, json!({ "type": "rows", "start": 2, "end": 3 }), "id,name\n2,\"two\nlines\""),
        (table, json!({ "type": "rows", "start": -1, "header": false }), "3,z"),
        (table, json!({ "type": "rows", "columns": ["name"], "start": 1, "end": 2 }), "name\n\"x, y\""),
        (
            table,
            json!({ "type": "rows", "where": [{ "column": "id", "op": ">", "value": 1 }] }),
            "id,name\n2,\"two\nlines\"\n3,z",
        ),
        (&*plain, json!({ "type": "columns" }), "20 rows, 2 columns\nid: integer\nname: string"),
        (nd, json!({ "type": "rows", "start": 1 }), "{\"a\":2,\"b\":[1]}"),
        (nd, json!({ "type": "rows", "where": [{ "column": "b[0]", "value": 1 }], "columns": ["b"] }), "{\"b\": [1]}"),
        (data, json!({ "type": "json_keys", "keys": ["t", "n", "n", "zz"] }), "{\"n\": 1.50, \"t\": \"abcdef\"}"),
        (data, json!({ "type": "json_keys", "keys": [] }), "{}"),
        (data, json!({ "type": "json_path", "path": "data[-1].id" }), "\"b\""),
        (data, json!({ "type": "json_path", "path": "data[*].v" }), "[1, 20]"),
        (data, json!({ "type": "json_path", "path": "data[5:9]" }), "[]"),
        (data, json!({ "type": "json_path", "path": "t[1:3]" }), "\"bc\""),
        (data, json!({ "type": "json_path", "path": "$", "start": 2 }), "{\"t\": \"abcdef\"}"),
        (
            data,
            json!({ "type": "rows", "where": [{ "column": "s", "op": "!=", "value": "ok" }], "columns": ["v", "id"] }),
            "[{\"v\": 20, \"id\": \"b\"}]",
        ),
        (
            data,
            json!({ "type": "search", "text": "abc" }),
            "{\"n\": 1.50, \"data\": [{\"id\": \"a\", \"v\": 1, \"s\": \"ok\"}, {\"id\": \"b\", \"v\": 20, \"s\": \"bad\"}], \"t\": \"abcdef\"}",
        ),
        (data, json!({ "type": "outline", "end": 2 }), "object of 3\nn: 1.50\ndata: array of 2 objects {id, v, s}"),
        ("", json!({ "type": "lines" }), ""),
        ("", json!({ "type": "outline" }), ""),
    ];
    for (text, selector, expected) in cases {
        let media_type = if text == table { "text/csv" } else { "text/plain" };
        let slice = cut(text, media_type, &selector, None).unwrap();
        assert_eq!(slice.text, expected, "{selector}");
        assert!(!slice.truncated && slice.next.is_none(), "{selector}");
    }
}

#[test]
fn what_a_text_cannot_give_is_an_error() {
    let cases = [
        ("x", json!({ "type": "json_keys", "keys": ["a"] }), ErrorCode::DecodeFailed, "/selector"),
        ("[1]", json!({ "type": "json_keys", "keys": ["a"] }), ErrorCode::DecodeFailed, "/selector"),
        ("{\"a\": 1", json!({ "type": "json_path", "path": "a" }), ErrorCode::DecodeFailed, "/selector"),
        ("{\"a\": 1}", json!({ "type": "json_path", "path": "b" }), ErrorCode::NotFound, "/selector/path"),
        ("x", json!({ "type": "stats" }), ErrorCode::Unsupported, "/selector"),
        ("x", json!({ "type": "rows", "columns": ["a"] }), ErrorCode::Unsupported, "/selector"),
        ("a,b\n1,2\n3,4\n", json!({ "type": "rows", "columns": ["c"] }), ErrorCode::NotFound, "/selector/columns"),
        (
            "a,b\n1,2\n3,4\n",
            json!({ "type": "rows", "where": [{ "column": "c" }] }),
            ErrorCode::NotFound,
            "/selector/where",
        ),
        ("a,b\n1,2\n3,4\n", json!({ "type": "stats", "columns": ["c"] }), ErrorCode::NotFound, "/selector/columns"),
        (
            "[{\"a\":1},{\"b\":2}]",
            json!({ "type": "rows", "columns": ["b", "c"] }),
            ErrorCode::NotFound,
            "/selector/columns",
        ),
        (
            "{\"a\":1}\n{\"b\":2}\n",
            json!({ "type": "rows", "where": [{ "column": "b" }, { "column": "c", "value": 1 }] }),
            ErrorCode::NotFound,
            "/selector/where",
        ),
        ("[1,2]", json!({ "type": "rows", "where": [{ "column": "value" }] }), ErrorCode::NotFound, "/selector/where"),
    ];
    for (text, selector, code, path) in cases {
        let error = cut(text, "text/plain", &selector, None).unwrap_err();
        assert_eq!((error.code(), error.path()), (code, path), "{selector}");
    }
}

#[test]
fn rows_with_conditions_say_which_of_how_many_they_are() {
    let kind = |n: usize| if n % 100 == 99 { "held" } else { "sent" };
    let csv = (0..2000).map(|n| format!("{n},{}\n", kind(n))).collect::<Vec<_>>().concat();
    let csv = format!("id,kind\n{csv}");
    let list = json!((0..2000).map(|n| json!({ "id": n, "kind": kind(n) })).collect::<Vec<_>>()).to_string();
    let lines = (0..2000).map(|n| json!({ "id": n, "kind": kind(n) }).to_string() + "\n").collect::<Vec<_>>().concat();
    let held = json!({ "type": "rows", "where": [{ "column": "kind", "value": "held" }], "columns": ["id"] });
    // The header of a table is its row 0.
    for (text, media_type, titled) in
        [(&csv, "text/csv", 1), (&list, "application/json", 0), (&lines, "application/x-ndjson", 0)]
    {
        let (mut shown, pages) = (0, follow(text, media_type, &held, 16));
        assert!(pages.len() > 1, "{media_type}");
        for (selector, page) in &pages {
            let matches = page.matches.unwrap();
            assert_eq!((matches.start, matches.rows, page.total), (shown, 2000, 20), "{media_type} {selector}");
            assert_eq!(page.start, selector.get("start").map_or(0, |start| start.as_u64().unwrap()));
            shown = matches.end;
            // It goes on at the row that matches next, as rows of the text are counted.
            if let Some(next) = &page.next {
                assert_eq!((&next["start"], page.end), (&json!(page.end), shown * 100 + 99 + titled));
            }
        }
        assert_eq!(shown, 20, "{media_type}");
        // A range is one of rows, not of those that match.
        let part = json!({ "type": "rows", "where": held["where"], "start": 150, "end": 350 });
        let part = cut(text, media_type, &part, None).unwrap();
        let matches = part.matches.unwrap();
        assert_eq!((matches.start, matches.end, part.total, part.start, part.end), (1, 3, 20, 150, 350));
        assert_eq!(cut(text, media_type, &json!({ "type": "rows", "end": 3 }), None).unwrap().matches, None);
    }
    // The header itself is none of those that match.
    let not = json!({ "type": "rows", "where": [{ "column": "kind", "op": "!=", "value": "held" }], "start": 1900 });
    let rest = cut(&csv, "text/csv", &not, None).unwrap();
    assert_eq!((rest.total, rest.matches.map(|matches| (matches.start, matches.end))), (1980, Some((1881, 1980))));
}

/// A wrong column of JSON gave no rows, as if none were there.
#[test]
fn a_column_that_no_record_has_is_named_with_those_there_are() {
    let list = json!([{ "id": 1, "user": { "name": "ann" } }, { "id": 2, "state": null }]).to_string();
    let lines = "{\"id\":1,\"user\":{\"name\":\"ann\"}}\n{\"id\":2,\"state\":null}\n";
    let tested = |column: &str| json!({ "type": "rows", "where": [{ "column": column, "value": "ann" }] });
    let media_types = [("application/json", list.as_str()), ("application/x-ndjson", lines)];
    for (media_type, text) in media_types {
        let hint = |selector: &Value| {
            let error = cut(text, media_type, selector, None).unwrap_err();
            assert_eq!(error.code(), ErrorCode::NotFound, "{selector}");
            (error.message().to_owned(), error.hint_text().unwrap().to_owned())
        };
        let there = "there are 3 columns: `id`, `user`, `state`".to_owned();
        assert_eq!(hint(&tested("nope")), ("no column `nope`".to_owned(), there));
        let near = "did you mean `state`? there are 3 columns".to_owned();
        assert_eq!(hint(&json!({ "type": "rows", "columns": ["stat"] })), ("no column `stat`".to_owned(), near));
        // One record that has it is enough, also as null and deeper down.
        for column in ["id", "state", "user", "user.name"] {
            assert!(cut(text, media_type, &tested(column), None).is_ok(), "{column}");
        }
        assert_eq!(cut(text, media_type, &tested("user.name"), None).unwrap().total, 1);
    }
    // Nothing says which columns an empty list would have.
    assert_eq!(cut("[]", "application/json", &tested("nope"), None).unwrap().text, "[]");
}

#[test]
fn a_hit_in_a_long_line_is_shown_with_its_surroundings() {
    let long = format!("{} needle {}", "x".repeat(5000), "y".repeat(5000));
    let text = format!("first\n{long}\nneedle\n");
    let slice = cut(&text, "text/plain", &json!({ "type": "search", "text": "needle" }), Some(120)).unwrap();
    assert_eq!((slice.total, slice.end), (2, 2), "{}", slice.text);
    assert!(slice.text.contains("1:…xxx") && slice.text.ends_with("\n2:needle"), "{}", slice.text);
    let nested = json!({ "log": long, "b": [{ "deep": [1, { "k": "needle 2" }] }] }).to_string();
    let slice = cut(&nested, "application/json", &json!({ "type": "search", "text": "needle" }), None).unwrap();
    assert!(
        slice.text.starts_with("log: …") && slice.text.ends_with("\nb: [{\"deep\":[1,{\"k\":\"needle 2\"}]}]"),
        "{}",
        slice.text
    );
}

#[test]
fn outlines_count_and_name_the_parts() {
    let outline =
        |text: &str, media_type: &str| cut(text, media_type, &json!({ "type": "outline" }), None).unwrap().text;
    let diff = "diff --git a/x.ts b/x.ts\n--- a/x.ts\n+++ b/x.ts\n@@ -1,2 +1,3 @@\n a\n--- gone\n+++ come\n+b\n\
                --- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n";
    assert_eq!(outline(diff, "text/x-diff"), "2 files, +3 -2\nx.ts +2 -1 (line 0)\na/y +1 -1 (line 8)");
    let found = "a/b.rs:1:x x x x x x x x x x x x\na/b.rs:2:y y y y y y y y\nc.rs:3:z\n";
    assert_eq!(outline(found, "text/plain"), "3 matches in 2 files\na/b.rs: 2\nc.rs: 1");
    let page = format!("<html><title>T</title><h1>A <b>b</b>\n c</h1>{}</html>", "<p>words</p>".repeat(20));
    assert_eq!(
        outline(&page, "text/html"),
        format!("2 headings, 24 elements, {} characters: html, title, h1, b, p x20\ntitle: T\nh1: A b c", page.len())
    );
    let notes = "# A\n\nwords words words words words words\n\n```\n# no\n```\n\n## B\n";
    assert_eq!(outline(notes, "text/markdown"), "2 headings, 9 lines\n# A (line 0)\n## B (line 8)");
}

/// Patterns come from models: the work is bounded whatever they are, and refused where it would be more.
#[test]
fn searches_run_under_a_step_budget() {
    let search = |text: &str, media_type: &str, pattern: &str| {
        cut(text, media_type, &json!({ "type": "search", "pattern": pattern, "regex": true }), None)
    };
    let line = "a".repeat(200_000);
    for pattern in ["(?:a{0,30}){0,30}b", r"(?:\w{0,50}){0,30}!"] {
        assert_eq!(search(&line, "text/plain", pattern).unwrap().total, 0, "{pattern}");
    }
    let mut state = 1_u64;
    let letter = |_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 63 == 0 { 'a' } else { 'b' }
    };
    let mixed: String = (0..500_000).map(letter).collect();
    let lines: String =
        mixed.as_bytes().chunks(500).flat_map(|line| [line, b"\n"]).flatten().map(|b| *b as char).collect();
    let values = json!(mixed.as_bytes().chunks(300).map(String::from_utf8_lossy).collect::<Vec<_>>()).to_string();
    for (text, media_type) in [(mixed, "text/plain"), (lines, "text/plain"), (values, "application/json")] {
        let error = search(&text, media_type, "[ab]*a[ab]{200}c").unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::TooLarge, "/selector/pattern"));
    }
}

#[test]
fn selectors_of_many_columns_and_conditions_run_under_a_step_budget() {
    let table = "a,b\n".to_owned() + &"1,2\n".repeat(8000);
    let mut records = vec![json!({}); 9_999];
    records.push(json!({ "a": 1, "b": 2 }));
    let empty = json!(records).to_string();
    let deep = json!(vec![json!({ "a": 1, "b": 2, "c": 3 }); 1500]).to_string();
    let columns = json!({ "type": "rows", "columns": vec!["a"; 8000] });
    let tests = |count: usize| -> Vec<Value> {
        (0..count).map(|n| json!({ "column": if n % 2 == 0 { "a" } else { "b" }, "op": "!=", "value": "x" })).collect()
    };
    let conditions = |count: usize| json!({ "type": "rows", "where": tests(count) });
    let (csv, json) = ("text/csv", "application/json");
    for (text, media_type, selector, field) in [
        (&table, csv, &columns, "columns"),
        (&empty, json, &columns, "columns"),
        (&table, csv, &conditions(800), "where"),
        (&empty, json, &conditions(800), "where"),
        (&deep, json, &conditions(800), "where"),
    ] {
        let error = cut(text, media_type, selector, None).unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::TooLarge, format!("/selector/{field}").as_str()));
        assert!(error.to_json()["hint"].is_string() && error.details()["max_steps"] == 1 << 25, "{error:?}");
    }
    // What a page shows is all that counts for it, and a few conditions are nothing.
    assert!(cut(&table, csv, &columns, Some(500)).is_ok());
    assert_eq!(cut(&empty, json, &conditions(8), None).unwrap().total, 10_000);
}

#[test]
fn a_long_key_is_not_shown_again_and_again() {
    let members: Map<String, Value> = (0..4000).map(|n| (n.to_string(), json!("hit"))).collect();
    let text = json!({ "k".repeat(30_000): members }).to_string();
    for selector in [json!({ "type": "outline" }), json!({ "type": "search", "text": "hit", "max_hits": 1000 })] {
        let shown = cut(&text, "application/json", &selector, None).unwrap();
        assert!(shown.total >= 4000 && shown.text.len() < 1_000_000, "{selector}: {}", shown.text.len());
    }
    let path = json!({ "type": "search", "text": "hit" });
    let short = json!({ "\\😀".repeat(80): members }).to_string();
    let shown = cut(&short, "application/json", &path, None).unwrap().text;
    assert!(shown.starts_with(&format!("[\"{}\"].", "\\\\😀".repeat(80))), "{shown}");
}

/// Follows `next` to the end with one index, as a manager does; returns how much was looked at.
fn units_read(text: &str, media_type: &str, selector: &Value, max_tokens: u64) -> u64 {
    let mut index = SliceIndex::default();
    let mut next = Some(selector.clone());
    while let Some(selector) = next {
        let parsed = Selector::from_value(selector.clone(), "/selector").unwrap();
        let page = slice_indexed(text, media_type, &parsed, Some(max_tokens), &Estimator::V2, &mut index).unwrap();
        assert_eq!(page, cut(text, media_type, &selector, Some(max_tokens)).unwrap(), "{selector}");
        next = page.next.map(Value::Object);
    }
    index.units_read()
}

/// Makes a text of so many units.
type MakeText<'a> = &'a dyn Fn(usize) -> String;

/// Every page was once looked for from the beginning of the text, and every part of a long unit from that of the unit.
#[test]
fn reading_page_by_page_is_linear() {
    let lines = |count: usize| (0..count).map(|n| format!("{n},name {n},{}\n", n % 3)).collect::<Vec<_>>().concat();
    let array =
        |count: usize| json!((0..count).map(|n| json!({ "id": n, "kind": n % 3 })).collect::<Vec<_>>()).to_string();
    let object =
        |count: usize| json!((0..count).map(|n| (format!("key {n}"), json!(n))).collect::<Map<_, _>>()).to_string();
    let keys: Vec<String> = (0..2000).map(|n| format!("key {n}")).collect();
    let records = |count: usize| {
        let named = |n: usize| json!({ "id": n, "text": "words ".repeat(80) });
        json!((0..count / 20).map(named).collect::<Vec<_>>()).to_string()
    };
    let words = |count: usize| "wörter und words ".repeat(count);
    let string = |count: usize| json!({ "long": "a \"quoted\" wörd ".repeat(count) }).to_string();
    let markdown =
        |count: usize| (0..count).map(|n| format!("## Heading {n}\n\nText.\n\n")).collect::<Vec<_>>().concat();
    let some = json!([{ "column": "kind", "value": 1 }]);
    let wide = |count: usize| {
        let row = |name: &str| (0..count).map(|n| format!("{name}{n}")).collect::<Vec<_>>().join(",");
        format!("{}\n{}\n{}\n", row("c"), row("v"), row("w"))
    };
    let (json, csv, plain) = ("application/json", "text/csv", "text/plain");
    let search = |text: &str| json!({ "type": "search", "text": text, "context": 0, "max_hits": 1000 });
    let cases: [(MakeText, &str, Value); 20] = [
        (&lines, plain, json!({ "type": "lines" })),
        (&lines, csv, json!({ "type": "rows" })),
        (&array, json, json!({ "type": "rows" })),
        (&array, json, json!({ "type": "rows", "where": some })),
        (&lines, plain, search("name")),
        (&words, plain, search("words")),
        (&array, json, search("kind")),
        (&records, json, search("words")),
        (&array, json, json!({ "type": "json_path", "path": "[*].id" })),
        (&array, json, json!({ "type": "json_path", "path": "$" })),
        (&object, json, json!({ "type": "json_path", "path": "$" })),
        (&object, json, json!({ "type": "json_keys", "keys": keys })),
        (&words, plain, json!({ "type": "head", "chars": 1_000_000 })),
        (&words, plain, json!({ "type": "tail", "chars": 1_000_000 })),
        (&words, plain, json!({ "type": "lines" })),
        (&string, json, json!({ "type": "json_path", "path": "long" })),
        (&string, json, json!({ "type": "json_path", "path": "long[3:]" })),
        (&wide, csv, json!({ "type": "columns" })),
        (&wide, csv, json!({ "type": "rows", "columns": ["c1", "c0"] })),
        (&markdown, "text/markdown", json!({ "type": "outline" })),
    ];
    for (text, media_type, selector) in cases {
        let (few, many) = (text(1000), text(2000));
        let (less, more) = (units_read(&few, media_type, &selector, 60), units_read(&many, media_type, &selector, 60));
        let (few, many) = (few.len() as u64, many.len() as u64);
        assert!(10 * more * few <= 11 * less * many, "{selector}: {less} of {few}, {more} of {many}");
        assert!(more <= 3 * many, "{selector}: {more} of {many}");
    }
}

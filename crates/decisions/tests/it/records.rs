//! Promises about the records of the decision memory over random and hostile input.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first thing that is wrong")]

use contextweaver_decisions::bridge::general;
use contextweaver_decisions::{DecisionStore, yaml};
use contextweaver_decisions::{ImportConflict, ImportMode, ImportOptions};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// The fields of records, in both spellings, and some that are none.
const KEYS: &[&str] = &[
    "id",
    "summary",
    "decision",
    "category",
    "confidence",
    "stakes",
    "status",
    "date",
    "context",
    "reasons",
    "type",
    "text",
    "strength",
    "trace",
    "step",
    "thought",
    "deliberation",
    "inputs",
    "steps",
    "inputsUsed",
    "conclusion",
    "bridge",
    "purpose",
    "function",
    "related_to",
    "distance",
    "tags",
    "pre_decision",
    "pr",
    "outcome",
    "reviewed_at",
    "review_history",
    "created_at",
    "updatedAt",
    "preserve",
    "__proto__",
    "constructor",
    "x",
];

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("a-1".to_owned()),
        Just("reviewed".to_owned()),
        Just("2026-03-15T12:00:00.250+02:00".to_owned()),
        Just(String::new()),
        "\\PC{0,6}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        prop_oneof![Just(0_i64), Just(1), Just(-1), any::<i64>()].prop_map(Value::from),
        prop_oneof![Just(0.5), Just(-0.0), Just(1e10)].prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 5, |inner| {
        let key = proptest::sample::select(KEYS).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<String, Value>>())),
        ]
    })
}

/// Records that are likely to be good, with anything in some of their fields.
fn record() -> impl Strategy<Value = Value> {
    let fields = prop::collection::vec((proptest::sample::select(KEYS), any_json()), 0..4);
    ("[a-c]{1,2}", "\\PC{1,8}", fields).prop_map(|(id, text, fields)| {
        let mut record = Map::new();
        record.insert("id".to_owned(), id.into());
        record.insert("decision".to_owned(), text.into());
        record.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)));
        Value::Object(record)
    })
}

proptest! {
    #![proptest_config(property(256))]

    #[test]
    fn what_comes_in_comes_out_again(records in prop::collection::vec(record(), 0..8)) {
        let mut store = DecisionStore::default();
        let count = records.len();
        let report = store.import(Value::Array(records), ImportOptions::default()).unwrap();
        prop_assert_eq!(report.imported + report.skipped + report.errors.len(), count);
        let snapshot = store.export().to_value();
        let mut other = DecisionStore::default();
        let options = ImportOptions { mode: ImportMode::Replace, on_conflict: ImportConflict::Error };
        let again = other.import(snapshot.clone(), options).unwrap();
        prop_assert!(again.errors.is_empty(), "{:?}", again.errors);
        let mut back = other.export().to_value();
        back["revision"] = snapshot["revision"].clone();
        prop_assert_eq!(back.to_string(), snapshot.to_string());
    }

    #[test]
    fn anything_can_be_imported_or_refused(value in any_json(), merge in any::<bool>()) {
        let mut store = DecisionStore::default();
        let mode = if merge { ImportMode::Merge } else { ImportMode::Replace };
        let _ = store.import(value, ImportOptions { mode, on_conflict: ImportConflict::Newer });
    }

    #[test]
    fn any_text_can_be_read_or_refused(text in "([ \\-:#'\"\\[\\]{}|>,?&\n\\\\]|\\PC){0,60}") {
        let _ = yaml::parse(&text);
        general(&text);
    }

    #[test]
    fn json_on_one_line_is_yaml(value in any_json()) {
        // What is refused is not misread.
        let text = value.to_string();
        if let Ok(read) = yaml::parse(&text) {
            prop_assert_eq!(strings(&read), strings(&value));
        }
    }
}

/// Returns the texts in a value, keys too.
fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(list) => list.iter().flat_map(strings).collect(),
        Value::Object(map) => {
            map.iter().flat_map(|(key, value)| [vec![key.clone()], strings(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

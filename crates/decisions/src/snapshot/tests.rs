use super::*;
use crate::host::{CallerContext, HostAnswers};
use crate::record::DecisionLimits;
use crate::store::DecisionStoreOptions;
use crate::tools::{get_decision, log_decision, record_thought, review_outcome, update_decision};
use contextweaver_base::ErrorCode;

const NOW: i64 = 1_773_576_000_000;

type ToolFn = fn(&mut DecisionStore, &CallerContext<'_>, &JsonMap) -> contextweaver_base::Result<Value>;

/// Runs a tool so many seconds after the beginning, with an id made of them.
fn run(store: &mut DecisionStore, tool: ToolFn, seconds: i64, arguments: &Value) -> Value {
    let mut answers = HostAnswers::default();
    answers.add_id(format!("{seconds:08x}"));
    let call = CallerContext { agent: "a", trace: None, now: NOW + seconds * 1000, answers: &answers };
    tool(store, &call, arguments.as_object().unwrap()).unwrap()
}

fn log(store: &mut DecisionStore, seconds: i64, text: &str) -> Value {
    run(store, log_decision, seconds, &json!({ "decision": text, "confidence": 0.5, "category": "process" }))
}

/// A store with something in every part.
fn full() -> DecisionStore {
    let mut store = DecisionStore::default();
    store.rules.add_all(&json!([{ "id": "r", "condition_stakes": "high", "action": "block" }]), "").unwrap();
    store.breakers.add(json!({ "scope": "global" }), "").unwrap();
    log(&mut store, 1, "use PostgreSQL for the new service");
    log(&mut store, 2, "write migrations by hand");
    run(&mut store, review_outcome, 3, &json!({ "id": "00000001", "outcome": "failure", "lessons": "none" }));
    run(&mut store, record_thought, 4, &json!({ "text": "next time" }));
    let edge = json!({ "source_id": "00000002", "target_id": "00000001", "edge_type": "supersedes", "weight": 0.5 });
    store.graph.link(crate::graph::DecisionEdge::from_record(edge, "").unwrap()).unwrap();
    store.changes.touch_edge("00000002");
    store
}

fn import(store: &mut DecisionStore, value: Value, mode: ImportMode, on_conflict: ImportConflict) -> ImportReport {
    store.import(value, ImportOptions { mode, on_conflict }).unwrap()
}

#[test]
fn stores_come_back() {
    let store = full();
    let mut snapshot = store.export().to_value();
    snapshot["later"] = json!({ "x": 1 });
    snapshot["decisions"][0]["later"] = json!([null]);
    let mut other = full();
    log(&mut other, 9, "this goes");
    let report = import(&mut other, snapshot.clone(), ImportMode::Replace, ImportConflict::Newer);
    assert_eq!((report.imported, report.skipped, report.errors.len()), (2, 0, 0));
    let mut back = other.export().to_value();
    assert!(other.revision() > store.revision());
    for own in ["revision", "changed"] {
        back[own] = snapshot[own].clone();
    }
    assert_eq!(back, snapshot);
}

#[test]
fn a_new_store_goes_on_with_the_numbers_of_the_one_before() {
    let mut store = full();
    let seen = store.revision();
    log(&mut store, 20, "this is news");
    let snapshot = store.export().to_value();
    let ids = |store: &DecisionStore| {
        let news = store.export_since(seen, None).to_value();
        news["decisions"].as_array().unwrap().iter().map(|it| it["id"].clone()).collect::<Vec<Value>>()
    };
    let mut other = DecisionStore::default();
    import(&mut other, snapshot.clone(), ImportMode::Merge, ImportConflict::Newer);
    assert_eq!(other.export().to_value(), snapshot);
    assert_eq!((ids(&other), other.revision()), (ids(&store), store.revision()));
    log(&mut other, 30, "and more");
    assert_eq!(ids(&other).len(), 2);

    // A snapshot without numbers tells who follows of too much rather than too little.
    let mut older = snapshot.clone();
    older.as_object_mut().unwrap().remove("changed");
    let mut other = DecisionStore::default();
    import(&mut other, older, ImportMode::Merge, ImportConflict::Newer);
    assert_eq!(ids(&other).len(), 3);

    // What a replacement removed cannot be told.
    let mut other = DecisionStore::default();
    import(&mut other, snapshot.clone(), ImportMode::Merge, ImportConflict::Newer);
    let before = other.revision();
    import(&mut other, json!([{ "id": "d1", "decision": "Use Postgres" }]), ImportMode::Replace, ImportConflict::Newer);
    let news = other.export_since(before, None).to_value();
    assert_eq!((news.get("since"), news["decisions"].as_array().map(Vec::len)), (None, Some(1)));
    let after = other.revision();
    assert_eq!(other.export_since(after, None).to_value()["since"], json!(after));

    // What happened to breakers is taken; how they are set is said by who makes the store.
    let set = |threshold: u64| json!({ "scope": "global", "failure_threshold": threshold });
    let mut open = set(5);
    open["state"] = json!("open");
    open["opened_at"] = json!(NOW);
    let mut broken = snapshot.clone();
    broken["breakers"] = json!([open, { "scope": "tag:x" }]);
    let mut other = DecisionStore::default();
    other.breakers.add(set(2), "").unwrap();
    import(&mut other, broken.clone(), ImportMode::Merge, ImportConflict::Newer);
    let state = |store: &DecisionStore| {
        let breakers = store.breakers.snapshot();
        (breakers[0]["state"].clone(), breakers[0]["failure_threshold"].clone(), breakers.len())
    };
    assert_eq!(state(&other), (json!("open"), json!(2), 2));
    let mut other = full();
    import(&mut other, broken, ImportMode::Merge, ImportConflict::Newer);
    assert_eq!(state(&other), (json!("closed"), json!(5), 2));

    // No number is so large that it cannot be counted on from.
    let mut other = DecisionStore::default();
    let largest = json!({ "format": "cstp-snapshot", "revision": 1_u64 << 53, "decisions": [] });
    import(&mut other, largest, ImportMode::Merge, ImportConflict::Newer);
    log(&mut other, 40, "one");
    let wrong = json!({ "format": "cstp-snapshot", "decisions": [], "changed": { "decisions": { "a/b": -1 } } });
    let error = other.import(wrong, ImportOptions::default()).unwrap_err();
    assert_eq!(error.path(), "/changed/decisions/a~1b");
}

#[test]
fn bad_records_are_reported_and_the_others_come_in() {
    let mut store = DecisionStore::default();
    let records = json!([
        { "id": "a", "decision": "good" },
        { "id": "a/b", "decision": "bad id" },
        { "id": "c", "decision": "bad", "reasons": [{ "text": 1 }] },
        { "id": "d", "decision": "x".repeat(20_000) },
        "no record"
    ]);
    let report = import(&mut store, records, ImportMode::Merge, ImportConflict::Newer);
    let rejected: Vec<(&str, &str)> = report.errors.iter().map(|error| (error.path.as_str(), error.code)).collect();
    let wanted = [
        ("/1/id", "INVALID_INPUT"),
        ("/2/reasons/0/text", "INVALID_INPUT"),
        ("/3/decision", "TOO_LARGE"),
        ("/4", "INVALID_INPUT"),
    ];
    assert_eq!((report.imported, rejected), (1, wanted.to_vec()));
    let limits = DecisionLimits { decisions: 1, ..DecisionLimits::default() };
    let mut small = DecisionStore::new(DecisionStoreOptions { limits, ..DecisionStoreOptions::default() });
    let records = json!({ "decisions": [{ "id": "a", "decision": "d" }, { "id": "b", "decision": "d" }] });
    let report = import(&mut small, records, ImportMode::Merge, ImportConflict::Newer);
    assert_eq!((report.errors[0].path.as_str(), report.errors[0].code), ("/decisions/1", "TOO_LARGE"));
}

#[test]
fn conflicts_are_settled_as_asked() {
    let record = |text: &str, day: &str| json!([{ "id": "a", "decision": text, "date": day, "updated_at": day }]);
    let cases = [
        (ImportConflict::Newer, "2026-03-16", (1, 0, 0), "theirs"),
        (ImportConflict::Newer, "2026-03-15", (0, 1, 0), "ours"),
        (ImportConflict::Newer, "2026-03-15T01:00:00+02:00", (0, 1, 0), "ours"),
        (ImportConflict::Keep, "2026-03-16", (0, 1, 0), "ours"),
        (ImportConflict::Error, "2026-03-16", (0, 0, 1), "ours"),
    ];
    for (on_conflict, day, counts, left) in cases {
        let mut store = DecisionStore::default();
        import(&mut store, record("ours", "2026-03-15"), ImportMode::Merge, on_conflict);
        let report = import(&mut store, record("theirs", day), ImportMode::Merge, on_conflict);
        assert_eq!((report.imported, report.skipped, report.errors.len()), counts, "{on_conflict:?} {day}");
        assert_eq!(store.records.get("a").unwrap().decision, left);
        let report = import(&mut store, record("theirs", "2020-01-01"), ImportMode::Replace, on_conflict);
        assert_eq!((report.imported, store.records.get("a").unwrap().decision.as_str()), (1, "theirs"));
    }
}

#[test]
fn edges_of_compat_files_are_read_line_by_line() {
    let mut store = DecisionStore::default();
    let lines = concat!(
        "{\"source_id\":\"a\",\"target_id\":\"b\",\"edge_type\":\"relates_to\",\"weight\":0.5,\"created_at\":\"\"}\n",
        "\n{\"source_id\":\"a\",\n",
        "{\"source_id\":\"a\",\"target_id\":\"z\",\"edge_type\":\"relates_to\"}\r\n",
        "{\"source_id\":\"a\",\"target_id\":\"b\",\"edge_type\":\"likes\"}",
    );
    let records = json!([{ "id": "a", "decision": "d" }, { "id": "b", "decision": "d" }]);
    let snapshot = json!({ "decisions": records, "edges": lines });
    let report = import(&mut store, snapshot, ImportMode::Merge, ImportConflict::Newer);
    let rejected: Vec<(&str, &str)> = report.errors.iter().map(|error| (error.path.as_str(), error.code)).collect();
    let wanted =
        [("/edges/2", "DECODE_FAILED"), ("/edges/3/target_id", "NOT_FOUND"), ("/edges/4/edge_type", "INVALID_INPUT")];
    assert_eq!((store.graph.len(), rejected), (1, wanted.to_vec()));
}

#[test]
fn a_snapshot_that_cannot_be_used_changes_nothing() {
    let bad_rule = json!([{ "id": "x", "nonsense": 1 }]);
    let cases = [
        (json!(1), "", ErrorCode::InvalidInput),
        (json!({}), "/id", ErrorCode::MissingField),
        (json!({ "error": "not found" }), "/id", ErrorCode::MissingField),
        (json!({ "format": "cstp-snapshot", "version": 1 }), "/decisions", ErrorCode::MissingField),
        (json!({ "format": "other" }), "/format", ErrorCode::InvalidInput),
        (json!({ "format": "cstp-snapshot", "version": 2 }), "/version", ErrorCode::SnapshotVersion),
        (json!({ "format": "cstp-snapshot", "decisions": 1 }), "/decisions", ErrorCode::InvalidInput),
        (json!({ "format": "cstp-snapshot", "decisions": [], "edges": 1 }), "/edges", ErrorCode::InvalidInput),
        (json!({ "format": "cstp-snapshot", "decisions": [], "tracker": [] }), "/tracker", ErrorCode::InvalidInput),
        (
            json!({ "format": "cstp-snapshot", "decisions": [], "breakers": [{ "scope": "x" }] }),
            "/breakers/0/scope",
            ErrorCode::InvalidInput,
        ),
        (
            json!({ "format": "cstp-snapshot", "decisions": [], "guardrails": bad_rule }),
            "/guardrails/0/nonsense",
            ErrorCode::InvalidInput,
        ),
    ];
    for (snapshot, path, code) in cases {
        for mode in [ImportMode::Merge, ImportMode::Replace] {
            let mut store = full();
            let before = store.export().to_value();
            let options = ImportOptions { mode, on_conflict: ImportConflict::Newer };
            let error = store.import(snapshot.clone(), options).unwrap_err();
            assert_eq!((error.path(), error.code()), (path, code), "{snapshot}");
            assert_eq!(store.export().to_value(), before);
        }
    }
}

#[test]
fn what_is_new_can_be_exported_alone() {
    let mut store = full();
    let copy = store.export().to_value();
    let revision = store.revision();
    store.take_events();
    run(&mut store, update_decision, 20, &json!({ "id": "00000001", "tags": ["t"] }));
    log(&mut store, 21, "one more decision");
    let kinds: Vec<Value> = store.take_events().iter().map(|event| json!(event)["type"].clone()).collect();
    assert_eq!(kinds, ["updated", "recorded"]);
    let news = store.export_since(revision, None).to_value();
    let ids: Vec<&str> = news["decisions"].as_array().unwrap().iter().filter_map(|it| it["id"].as_str()).collect();
    assert_eq!((ids, news["since"].as_u64()), (vec!["00000015", "00000001"], Some(revision)));
    let mut other = DecisionStore::default();
    import(&mut other, copy, ImportMode::Replace, ImportConflict::Newer);
    import(&mut other, news, ImportMode::Merge, ImportConflict::Newer);
    assert_eq!(other.export().to_value()["decisions"], store.export().to_value()["decisions"]);
}

#[test]
fn reviews_and_lookups_keep_what_was() {
    let mut store = full();
    run(&mut store, review_outcome, 30, &json!({ "id": "00000001", "outcome": "success" }));
    let found = run(&mut store, get_decision, 31, &json!({ "id": "00000001" }));
    assert_eq!(found["decision"]["review_history"][0]["outcome"], "failure");
    assert_eq!(found["decision"]["review_history"][0]["lessons"], "none");
    assert_eq!((&found["decision"]["outcome"], found["decision"].get("lessons")), (&json!("success"), None));
    let several = run(&mut store, get_decision, 32, &json!({ "id": "0000" }));
    assert_eq!((&several["found"], &several["candidates"]), (&json!(false), &json!(["00000001", "00000002"])));
    let none = run(&mut store, get_decision, 33, &json!({ "id": "000" }));
    assert_eq!((&none["found"], none.get("candidates")), (&json!(false), None));
    assert_eq!(run(&mut store, update_decision, 34, &json!({ "id": "00000001" }))["error"], "No fields to update");
    let answers = HostAnswers::default();
    let call = CallerContext { agent: "a", trace: None, now: NOW, answers: &answers };
    let arguments = json!({ "id": "00000001", "confidence": 0.1 });
    let error = update_decision(&mut store, &call, arguments.as_object().unwrap()).unwrap_err();
    assert_eq!(error.path(), "/confidence");
}

#[test]
fn a_record_that_guardrails_refuse_changes_nothing() {
    let mut store = full();
    store.options.enforce_record_guardrails = true;
    run(&mut store, record_thought, 40, &json!({ "text": "kept for the next attempt" }));
    let before = store.export().to_value();
    let mut answers = HostAnswers::default();
    answers.add_id("new".to_owned());
    let call = CallerContext { agent: "a", trace: None, now: NOW + 41_000, answers: &answers };
    let arguments = json!({ "decision": "d", "confidence": 0.5, "category": "process", "stakes": "high" });
    let error = log_decision(&mut store, &call, arguments.as_object().unwrap()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::PolicyViolation);
    assert_eq!(store.export().to_value(), before);
    store.options.enforce_record_guardrails = false;
    let out = log_decision(&mut store, &call, arguments.as_object().unwrap()).unwrap();
    assert_eq!(out["guardrail_warnings"][0]["severity"], "block");
    assert_eq!(out["path"], "2026/03/2026-03-15-decision-new.yaml");
}

#[test]
fn compat_files_come_in() {
    let mut store = DecisionStore::default();
    let files = json!({ "files": {
        "2026/03/2026-03-15-decision-0000abcd.yaml": "summary: x\ndate: '2026-03-15T12:00:00+00:00'\nconfidence: 1.0\n",
        "2026/03/2026-03-15-decision-b.yaml": "id: own\ndecision: 'yes: no # comment'\n",
        "broken.yaml": "a: 'b",
        "list.yaml": "- 1"
    } });
    let report = import(&mut store, files, ImportMode::Merge, ImportConflict::Newer);
    let rejected: Vec<(&str, &str)> = report.errors.iter().map(|error| (error.path.as_str(), error.code)).collect();
    let wanted = [("/files/broken.yaml", "DECODE_FAILED"), ("/files/list.yaml", "INVALID_INPUT")];
    assert_eq!((report.imported, rejected), (2, wanted.to_vec()));
    assert_eq!(store.records.get("0000abcd").unwrap().decision, "x");
    assert_eq!(store.records.get("own").unwrap().decision, "yes: no # comment");
}

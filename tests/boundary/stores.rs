//! The stores against simple models of them, round trips of their snapshots, and a long run under limits.
#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    clippy::panic,
    reason = "a property that cannot be checked is a failed test"
)]

use crate::support;

use std::collections::{BTreeMap, BTreeSet};

use contextweaver::api;
use contextweaver_base::{Error, ErrorCode};
use contextweaver_context::store::{ArtifactStore, Eviction, NewArtifact, StoreOptions};
use contextweaver_context::{ContextManager, ManagerOptions};
use contextweaver_test_support::property;
use proptest::prelude::*;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
enum Step {
    Put { handle: u8, size: usize, fill: u8, live: Option<u8>, beside: Option<u8> },
    Get(u8),
    Delete(u8),
    Pin(u8),
    Unpin(u8),
    Wait(u8),
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let handle = 0..6_u8;
    prop_oneof![
        6 => (handle.clone(), 0..9_usize, 0..2_u8, proptest::option::of(handle.clone()), proptest::option::of(handle.clone()))
            .prop_map(|(handle, size, fill, live, beside)| Step::Put { handle, size, fill, live, beside }),
        3 => handle.clone().prop_map(Step::Get),
        1 => handle.clone().prop_map(Step::Delete),
        1 => handle.clone().prop_map(Step::Pin),
        1 => handle.clone().prop_map(Step::Unpin),
        1 => (0..4_u8).prop_map(Step::Wait),
        1 => Just(Step::Restore),
    ]
}

fn options() -> impl Strategy<Value = StoreOptions> {
    (0..5_usize, 4..20_usize, proptest::option::of(0..6_u8), any::<bool>()).prop_map(|(count, bytes, ttl, lru)| {
        StoreOptions {
            artifact_bytes: 7,
            store_bytes: bytes,
            max_artifacts: count,
            ttl_seconds: ttl.map(f64::from),
            eviction: if lru { Eviction::Lru } else { Eviction::None },
        }
    })
}

fn name(handle: u8) -> String {
    format!("h{handle}")
}

#[derive(Debug, Clone)]
struct Kept {
    bytes: Vec<u8>,
    used: usize,
    expires: Option<f64>,
    pinned: bool,
}

/// What an artifact store should do, the simple way.
struct Model {
    options: StoreOptions,
    kept: BTreeMap<String, Kept>,
    gone: BTreeMap<String, &'static str>,
    now: f64,
    time: usize,
}

type Answer = Result<(), (ErrorCode, Option<&'static str>)>;

fn answer<T>(result: Result<T, Error>) -> Answer {
    result.map(drop).map_err(|error| {
        let reason = error.details().get("reason").and_then(Value::as_str);
        (error.code(), reason.map(|reason| if reason == "ttl" { "ttl" } else { "lru" }))
    })
}

impl Model {
    fn total(&self) -> usize {
        self.kept.values().map(|kept| kept.bytes.len()).sum()
    }

    fn missing(&self, handle: &str) -> (ErrorCode, Option<&'static str>) {
        match self.gone.get(handle) {
            Some(reason) => (ErrorCode::ArtifactExpired, Some(*reason)),
            None => (ErrorCode::ArtifactNotFound, None),
        }
    }

    fn lose(&mut self, handle: &str, reason: &'static str) {
        self.kept.remove(handle);
        self.gone.insert(handle.to_owned(), reason);
    }

    fn sweep(&mut self) {
        let is_over = |kept: &Kept| kept.expires.is_some_and(|expires| self.now >= expires);
        let over: Vec<String> =
            self.kept.iter().filter(|(_, kept)| is_over(kept)).map(|(name, _)| name.clone()).collect();
        for handle in over {
            self.lose(&handle, "ttl");
        }
    }

    fn put(&mut self, handle: &str, bytes: Vec<u8>, live: &str, beside: &str) -> Answer {
        let full = (ErrorCode::QuotaExceeded, None);
        if bytes.len() > self.options.artifact_bytes {
            return Err(full);
        }
        let old = self.kept.get(handle).cloned();
        let mut rest = Self { kept: self.kept.clone(), gone: self.gone.clone(), ..*self };
        rest.kept.remove(handle);
        let fits = |rest: &Self| {
            (old.is_some() || rest.kept.len() < rest.options.max_artifacts)
                && rest.total() + bytes.len() <= rest.options.store_bytes
        };
        while !fits(&rest) {
            let may_go = |(name, kept): &(&String, &Kept)| !kept.pinned && name.as_str() != beside;
            let order = |(name, kept): &(&String, &Kept)| (name.as_str() == live, kept.used);
            let oldest = rest.kept.iter().filter(may_go).min_by_key(order);
            let Some((oldest, _)) = oldest.filter(|_| self.options.eviction == Eviction::Lru) else {
                return Err(full);
            };
            let oldest = oldest.clone();
            rest.lose(&oldest, "lru");
        }
        (self.kept, self.gone) = (rest.kept, rest.gone);
        self.time += 1;
        let expires = self.options.ttl_seconds.map(|seconds| self.now + seconds);
        let pinned = old.is_some_and(|old| old.pinned);
        self.kept.insert(handle.to_owned(), Kept { bytes, used: self.time, expires, pinned });
        self.gone.remove(handle);
        self.sweep();
        Ok(())
    }

    fn with(&mut self, handle: &str, change: impl FnOnce(&mut Kept, usize)) -> Answer {
        self.time += 1;
        let missing = self.missing(handle);
        self.kept.get_mut(handle).map(|kept| change(kept, self.time)).ok_or(missing)
    }
}

/// Runs a step on both and returns their answers.
fn run(store: &mut ArtifactStore, model: &mut Model, step: &Step) -> (Answer, Answer) {
    match step {
        Step::Put { handle, size, fill, live, beside } => {
            let (handle, bytes) = (name(*handle), vec![*fill; *size]);
            let [live, beside] = [live, beside].map(|handle| handle.map(name).unwrap_or_default());
            let new = NewArtifact {
                handle: &handle,
                bytes: bytes.as_slice().into(),
                media_type: "t",
                label: "",
                live: &[live.as_str()],
                beside: &[beside.as_str()],
            };
            (answer(store.put_new(new)), model.put(&handle, bytes.clone(), &live, &beside))
        }
        Step::Get(handle) => {
            let expected = model.with(&name(*handle), |kept, time| kept.used = time);
            let bytes = store.get(&name(*handle)).map(<[u8]>::to_vec);
            if let Ok(bytes) = &bytes {
                assert_eq!(bytes, &model.kept[&name(*handle)].bytes);
            }
            (answer(bytes), expected)
        }
        Step::Delete(handle) => {
            let expected = model.with(&name(*handle), |_, _| ());
            model.kept.remove(&name(*handle));
            (answer(store.delete(&name(*handle))), expected)
        }
        Step::Pin(handle) => {
            (answer(store.pin(&name(*handle))), model.with(&name(*handle), |kept, _| kept.pinned = true))
        }
        Step::Unpin(handle) => {
            (answer(store.unpin(&name(*handle))), model.with(&name(*handle), |kept, _| kept.pinned = false))
        }
        Step::Wait(seconds) => {
            model.now += f64::from(*seconds);
            model.sweep();
            store.set_now(model.now);
            (Ok(()), Ok(()))
        }
        Step::Restore => {
            let snapshot = json!(store);
            *store = ArtifactStore::from_value(snapshot.clone(), "").unwrap();
            store.set_options(model.options);
            store.set_now(model.now);
            assert_eq!(json!(store), snapshot);
            model.kept.values_mut().for_each(|kept| kept.expires = None);
            (Ok(()), Ok(()))
        }
    }
}

fn check(store: &ArtifactStore, model: &Model) {
    let handles: Vec<&String> = store.list().map(|reference| &reference.handle).collect();
    assert_eq!(handles, model.kept.keys().collect::<Vec<_>>());
    let pinned: Vec<&str> = model.kept.iter().filter(|(_, kept)| kept.pinned).map(|(name, _)| name.as_str()).collect();
    assert_eq!(store.pinned().collect::<Vec<_>>(), pinned);
    assert_eq!(store.total_bytes(), model.total());
    assert!(store.total_bytes() <= model.options.store_bytes && store.len() <= model.options.max_artifacts);
    let distinct: BTreeSet<&Vec<u8>> = model.kept.values().map(|kept| &kept.bytes).collect();
    assert_eq!(store.resident_bytes(), distinct.iter().map(|bytes| bytes.len()).sum::<usize>());
}

/// Adds fields of a later release everywhere a snapshot has a record.
fn with_unknown(mut snapshot: Value, marks: &[bool]) -> Value {
    let mut marks = marks.iter().copied().cycle();
    let mut mark = |record: &mut Value| {
        if marks.next() == Some(true) {
            record["later"] = json!({ "note": [1, null, "ü"] });
        }
    };
    for store in ["artifact_store", "event_log", "episodic_store", "fact_store"] {
        mark(&mut snapshot[store]);
        for list in ["refs", "items", "episodes", "facts"] {
            for record in snapshot[store].get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                mark(record);
                if let Some(reference) = record.get_mut("artifact_ref").filter(|value| !value.is_null()) {
                    mark(reference);
                }
            }
        }
    }
    mark(&mut snapshot);
    snapshot
}

proptest! {
    #![proptest_config(property(2_000))]

    #[test]
    fn an_artifact_store_does_as_its_model(
        options in options(),
        steps in proptest::collection::vec(step(), 0..60),
    ) {
        let mut store = ArtifactStore::with_options(options);
        let mut model = Model { options, kept: BTreeMap::new(), gone: BTreeMap::new(), now: 0.0, time: 0 };
        for step in &steps {
            let before = json!(store);
            let (actual, expected) = run(&mut store, &mut model, step);
            prop_assert_eq!(actual, expected, "{:?}", step);
            if expected.is_err() {
                prop_assert_eq!(json!(store), before, "a failed {:?} changed something", step);
            }
            check(&store, &model);
        }
    }

    #[test]
    fn snapshots_keep_what_they_do_not_know(
        log in support::log(),
        marks in proptest::collection::vec(any::<bool>(), 1..40),
    ) {
        let mut manager = ContextManager::new(ManagerOptions::default());
        manager.ingest_all(log.items.clone()).unwrap();
        for fact in &log.facts {
            manager.add_fact(None, fact.clone()).unwrap();
        }
        for episode in &log.episodes {
            manager.add_episode(episode.clone()).unwrap();
            manager.put_artifact(&episode.episode_id, episode.summary.as_bytes(), "text/plain", "").unwrap();
        }
        let snapshot = with_unknown(json!(manager.snapshot()), &marks);
        let restored = ContextManager::from_json(snapshot.clone(), ManagerOptions::default()).unwrap();
        prop_assert_eq!(json!(restored.snapshot()), snapshot);
    }
}

fn call(manager: &mut ContextManager, operation: &str, arguments: &Value) -> Result<Value, Error> {
    let answer = api::manager::call(manager, operation, &arguments.to_string())?;
    Ok(serde_json::from_str::<Value>(&answer).unwrap()["done"].take())
}

#[test]
fn unknown_fields_go_with_their_records() {
    let snapshot = json!({
        "schema_version": 1, "event_log": { "items": [] },
        "fact_store": { "facts": [
            { "fact_id": "a", "key": "k", "value": "1", "x": 1 }, { "fact_id": "b", "key": "k", "value": "2", "x": 2 }
        ] },
        "episodic_store": { "episodes": [
            { "episode_id": "e", "summary": "one", "x": 1 }, { "episode_id": "e", "summary": "two", "x": 2 }
        ] },
        "artifact_store": { "refs": [
            { "handle": "h", "media_type": "t", "size_bytes": 1, "x": 1 }
        ], "data": { "h": "eA==" } }
    });
    let mut manager = ContextManager::from_json(snapshot, ManagerOptions::default()).unwrap();
    call(&mut manager, "fact_delete", &json!({ "id": "a" })).unwrap();
    call(&mut manager, "fact_put", &json!({ "fact_id": "b", "key": "k", "value": "3" })).unwrap();
    call(&mut manager, "episode_delete", &json!({ "id": "e" })).unwrap();
    manager.put_artifact("h", b"y", "t", "").unwrap();
    let after = json!(manager.snapshot());
    assert_eq!(after["fact_store"]["facts"][0].get("x"), None);
    assert_eq!(after["episodic_store"]["episodes"][0]["x"], 2);
    assert_eq!(after["artifact_store"]["refs"][0].get("x"), None);
}

#[test]
fn what_is_no_snapshot_is_refused() {
    let refused = |value: Value| {
        let error = ContextManager::from_json(value, ManagerOptions::default()).unwrap_err();
        let says_how = error.to_json().to_string().contains("event_log: {items}");
        assert!(error.code() != ErrorCode::MissingField || says_how, "{error}");
        (error.code(), error.path().to_owned())
    };
    let items = json!([{ "id": "u", "kind": "user_turn", "text": "x" }]);
    let missing = |path: &str| (ErrorCode::MissingField, path.to_owned());
    assert_eq!(refused(json!({})), missing("/schema_version"));
    assert_eq!(refused(json!({ "error": "not found" })), missing("/schema_version"));
    assert_eq!(refused(json!({ "items": items })), missing("/schema_version"));
    assert_eq!(refused(json!({ "event_log": { "items": items } })), missing("/schema_version"));
    assert_eq!(refused(json!({ "schema_version": null, "event_log": { "items": items } })), missing("/schema_version"));
    assert_eq!(refused(json!({ "schema_version": 1 })), missing("/event_log"));
    assert_eq!(refused(json!({ "schema_version": 1, "event_log": null })), missing("/event_log"));
    assert_eq!(refused(json!({ "schema_version": 1, "event_log": {} })), missing("/event_log/items"));
    let list = json!({ "schema_version": 1, "event_log": items });
    assert_eq!(refused(list), (ErrorCode::InvalidInput, "/event_log".to_owned()));
    assert_eq!(refused(json!({ "schema_version": 2 })), (ErrorCode::SnapshotVersion, "/schema_version".to_owned()));
    assert_eq!(refused(json!([])).0, ErrorCode::InvalidInput);
}

#[test]
fn earlier_snapshots_and_stores_of_the_python_library_are_read() {
    let restored = |value: Value| ContextManager::from_json(value, ManagerOptions::default()).unwrap();
    // As the first release of the format wrote it.
    let first = json!({
        "schema_version": 1,
        "event_log": { "items": [
            { "id": "u", "kind": "user_turn", "text": "x", "token_estimate": 0, "sensitivity": "public", "metadata": {},
              "parent_id": null, "artifact_ref": null }
        ] },
        "artifact_store": { "refs": [], "data": {} }, "episodic_store": { "episodes": [] },
        "fact_store": { "facts": [] }, "fact_sequence": null, "envelopes": {}, "append": {}
    });
    assert_eq!(restored(first.clone()).events().len(), 1);
    let mut python =
        json!({ "artifact_store": null, "event_log": first["event_log"], "episodic_store": {}, "fact_store": null });
    assert_eq!(restored(python.clone()).events().len(), 1);
    python["event_log"] = json!(null);
    assert_eq!(restored(python).events().len(), 0);
}

#[test]
fn numbers_of_facts_are_never_used_twice() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let fact = json!({ "key": "k", "value": "v" });
    for (operation, arguments, wanted) in [
        ("fact_put", json!({ "fact_id": "fact:k:4", "key": "k", "value": "v" }), ""),
        // Before the counter was used for the first time.
        ("fact_delete", json!({ "id": "fact:k:4" }), ""),
        ("add_fact", fact.clone(), "fact:k:5"),
        ("fact_delete", json!({ "id": "fact:k:5" }), ""),
        ("add_fact", fact.clone(), "fact:k:6"),
        ("fact_put", json!({ "fact_id": "fact:other:7", "key": "other", "value": "v" }), ""),
        ("add_fact", fact.clone(), "fact:k:8"),
        ("fact_put", json!({ "fact_id": "fact:k:18446744073709551615", "key": "k", "value": "v" }), ""),
        ("add_fact", fact, "fact:k:9"),
    ] {
        let answer = call(&mut manager, operation, &arguments).unwrap();
        assert_eq!(answer.get("fact_id").and_then(Value::as_str).unwrap_or(""), wanted);
        manager = ContextManager::from_json(json!(manager.snapshot()), ManagerOptions::default()).unwrap();
    }
}

#[test]
fn deleted_bytes_are_not_quoted_again() {
    // The digest is the item's own text and stays; the needle must not be in it.
    let raw: String = (0..800).map(|n| format!("row {n} of {}\n", n * 7)).collect();
    let needle = "row 350 of 2450";
    let mut manager = ContextManager::new(ManagerOptions::default());
    let items = json!([
        { "id": "u", "kind": "user_turn", "text": "Which row is of 2450?" },
        { "id": "c1", "kind": "tool_call", "text": "rows()", "parent_id": "u" }
    ]);
    call(&mut manager, "ingest", &json!({ "items": items })).unwrap();
    let ingested = support::ingest_result(&mut manager, "c1", &raw).unwrap();
    assert!(!ingested.item.text.contains(needle));
    // The last item of a log is not quoted in part.
    let last = json!({ "id": "v", "kind": "user_turn", "text": "Is it row 350?" });
    call(&mut manager, "ingest", &json!({ "items": [last] })).unwrap();
    let request = json!({ "phase": "answer", "query": "row 350 of 2450" });
    let build = |manager: &mut ContextManager| call(manager, "build", &request).unwrap()["prompt"].to_string();
    assert!(build(&mut manager).contains(needle));
    call(&mut manager, "artifact_delete", &json!({ "handle": "artifact:result:c1" })).unwrap();
    let after = build(&mut manager);
    assert!(!after.contains(needle));
    let mut restored = ContextManager::from_json(json!(manager.snapshot()), ManagerOptions::default()).unwrap();
    assert_eq!(build(&mut restored), after);
}

#[test]
fn large_artifacts_survive_a_snapshot() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    // In base64 it is longer than any string that an argument may hold.
    manager.put_artifact("big", &vec![7; 9 << 20], "application/octet-stream", "").unwrap();
    let restored = api::manager::restore_manager(&json!(manager.snapshot()).to_string(), "{}").unwrap();
    assert_eq!(restored.artifacts().total_bytes(), 9 << 20);
}

#[test]
fn artifacts_of_a_manager_expire_by_the_clock_it_is_told() {
    let options = json!({ "limits": { "artifact_ttl_seconds": 10 } });
    let mut manager = api::manager::new_manager(&options.to_string()).unwrap();
    let clock = |manager: &mut ContextManager, now: i64| call(manager, "clock", &json!({ "now": now })).unwrap();
    clock(&mut manager, 100);
    crate::with_bytes(&mut manager, "put_artifact", "{\"handle\":\"a\"}", b"x").unwrap();
    clock(&mut manager, 105);
    // Half its time is over when the manager moves; the times of a snapshot's artifacts are kept apart from it.
    let state = call(&mut manager, "clock", &json!({})).unwrap();
    assert_eq!(state, json!({ "now": 105.0, "expires": [["a", 110.0]] }));
    let mut moved =
        api::manager::restore_manager(&json!(manager.snapshot()).to_string(), &options.to_string()).unwrap();
    call(&mut moved, "clock", &state).unwrap();
    for manager in [&mut manager, &mut moved] {
        clock(manager, 109);
        assert!(manager.artifacts().exists("a"));
        clock(manager, 110);
        let error = call(manager, "artifact_ref", &json!({ "handle": "a" })).unwrap_err();
        assert_eq!((error.code(), error.details()["reason"].as_str()), (ErrorCode::ArtifactExpired, Some("ttl")));
    }
    let restored = api::manager::restore_manager(&json!(manager.snapshot()).to_string(), "{}").unwrap();
    assert_eq!(restored.artifacts().get("a").unwrap_err().code().as_str(), "ARTIFACT_EXPIRED");
}

#[test]
fn operations_on_stores_answer_and_refuse() {
    let mut manager = ContextManager::new(ManagerOptions::default());
    let item =
        |id: &str, kind: &str, parent: Option<&str>| json!({ "id": id, "kind": kind, "text": id, "parent_id": parent });
    let items = [item("u", "user_turn", None), item("c", "tool_call", Some("u")), item("r", "tool_result", Some("c"))];
    call(&mut manager, "ingest", &json!({ "items": items })).unwrap();
    for (number, summary) in ["restarted the billing service", "rotated keys"].iter().enumerate() {
        call(&mut manager, "add_episode", &json!({ "episode_id": format!("e{number}"), "summary": summary })).unwrap();
    }
    call(&mut manager, "fact_put", &json!({ "fact_id": "f", "key": "env.region", "value": "eu" })).unwrap();
    crate::with_bytes(&mut manager, "put_artifact", "{\"handle\":\"a\",\"label\":\"l\"}", b"bytes").unwrap();
    for (operation, arguments, pointer, wanted) in [
        ("event_parent", json!({ "id": "c" }), "/item/id", json!("u")),
        ("event_parent", json!({ "id": "u" }), "/item", json!(null)),
        ("event_children", json!({ "id": "u" }), "/items/0/id", json!("c")),
        ("event_tail", json!({ "n": 1 }), "/items/0/id", json!("r")),
        ("event_count", json!({ "kinds": ["tool_call", "tool_result"] }), "/count", json!(2)),
        ("event_count", json!({}), "/count", json!(3)),
        ("artifact_ref", json!({ "handle": "a" }), "/label", json!("l")),
        ("artifact_exists", json!({ "handle": "b" }), "/exists", json!(false)),
        ("artifact_pin", json!({ "handle": "a" }), "", json!({})),
        ("artifact_unpin", json!({ "handle": "a" }), "", json!({})),
        ("artifact_use", json!({ "handle": "a" }), "", json!({})),
        ("fact_get", json!({ "id": "f" }), "/value", json!("eu")),
        ("fact_get_by_key", json!({ "key": "env.region" }), "/facts/0/fact_id", json!("f")),
        ("fact_list_keys", json!({ "prefix": "env." }), "/keys", json!(["env.region"])),
        ("fact_list_keys", json!({ "prefix": "x" }), "/keys", json!([])),
        ("episode_get", json!({ "id": "e1" }), "/episode/summary", json!("rotated keys")),
        ("episode_get", json!({ "id": "none" }), "/episode", json!(null)),
        ("episode_search", json!({ "query": "key rotation: keys" }), "/episodes/0/episode_id", json!("e1")),
        ("episode_search", json!({ "query": "weather" }), "/episodes", json!([])),
        ("episode_latest", json!({ "n": 1 }), "/episodes/0/episode_id", json!("e1")),
    ] {
        let answer = call(&mut manager, operation, &arguments).unwrap();
        assert_eq!(answer.pointer(pointer), Some(&wanted), "{operation} {arguments}");
    }
    let before = json!(manager.snapshot());
    for (operation, arguments, code, path) in [
        ("event_parent", json!({ "id": "x" }), ErrorCode::NotFound, ""),
        ("event_tail", json!({ "n": -1 }), ErrorCode::OutOfRange, "/n"),
        ("event_count", json!({ "kinds": ["tool"] }), ErrorCode::InvalidInput, "/kinds/0"),
        ("event_get", json!({ "id": "u", "deep": 1 }), ErrorCode::UnknownField, "/deep"),
        ("event_drop", json!({}), ErrorCode::Unsupported, ""),
        ("artifact_delete", json!({ "handle": "x" }), ErrorCode::ArtifactNotFound, ""),
        ("artifact_pin", json!({ "handle": "x" }), ErrorCode::ArtifactNotFound, ""),
        ("fact_get", json!({ "id": "x" }), ErrorCode::NotFound, ""),
        ("fact_delete", json!({}), ErrorCode::MissingField, "/id"),
        ("episode_delete", json!({ "id": "x" }), ErrorCode::NotFound, ""),
        ("episode_search", json!({ "query": 1 }), ErrorCode::InvalidInput, "/query"),
        ("clock", json!({ "now": "noon" }), ErrorCode::InvalidInput, "/now"),
        ("clock", json!({ "now": 1, "expires": [["a"]] }), ErrorCode::InvalidInput, "/expires/0"),
    ] {
        let error = call(&mut manager, operation, &arguments).unwrap_err();
        assert_eq!((error.code(), error.path()), (code, path), "{operation} {arguments}");
    }
    assert_eq!(json!(manager.snapshot()), before);
}

const RESULTS: usize = 10_000;
const STORE_BYTES: usize = 1 << 20;

/// Ingests results until the store is full, or all of them; returns how many were taken.
fn soak(manager: &mut ContextManager, mut each: impl FnMut(&mut ContextManager, usize)) -> usize {
    for number in 0..RESULTS {
        let raw = format!("result {number}: {}", "x".repeat(1000 + number % 100));
        let arguments = json!({ "tool_call_id": format!("c{number}"), "tool_name": "t" });
        if let Err(error) = crate::with_bytes(manager, "ingest_tool_result", &arguments.to_string(), raw.as_bytes()) {
            assert_eq!(error.code(), ErrorCode::QuotaExceeded);
            return number;
        }
        assert!(manager.artifacts().total_bytes() <= STORE_BYTES);
        each(manager, number);
    }
    RESULTS
}

fn handle(number: usize) -> String {
    format!("artifact:result:c{number}")
}

#[test]
fn a_full_store_refuses_and_loses_nothing() {
    let mut manager =
        api::manager::new_manager(&json!({ "limits": { "max_store_bytes": STORE_BYTES } }).to_string()).unwrap();
    let taken = soak(&mut manager, |_, _| ());
    assert!((900..1_100).contains(&taken), "{taken}");
    assert_eq!(manager.events().len(), taken);
    for number in 0..taken {
        let bytes = manager.artifacts().get(&handle(number)).unwrap();
        assert!(bytes.starts_with(format!("result {number}: ").as_bytes()));
    }
    let before = json!(manager.snapshot());
    let refused = crate::with_bytes(&mut manager, "put_artifact", "{\"handle\":\"more\"}", &[0; 2048]).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::QuotaExceeded);
    assert_eq!(json!(manager.snapshot()), before);
    assert_eq!(manager.artifacts().get("more").unwrap_err().code(), ErrorCode::ArtifactNotFound);
}

#[test]
fn an_evicting_store_takes_ten_thousand_results_and_says_what_went() {
    let options = json!({ "limits": { "max_store_bytes": STORE_BYTES, "eviction": "lru" } });
    let mut manager = api::manager::new_manager(&options.to_string()).unwrap();
    let taken = soak(&mut manager, |manager, number| {
        if number == 0 {
            call(manager, "artifact_pin", &json!({ "handle": handle(0) })).unwrap();
        }
        // What is read stays.
        assert!(number < 5 || manager.artifacts().get(&handle(5)).is_ok());
    });
    assert_eq!(taken, RESULTS);
    let kept: BTreeSet<String> = manager.artifacts().list().map(|reference| reference.handle.clone()).collect();
    let newest = kept.len() - 2;
    assert!(newest > 900, "{newest}");
    for number in 0..RESULTS {
        let stays = number == 0 || number == 5 || number >= RESULTS - newest;
        assert_eq!(kept.contains(&handle(number)), stays, "{number}");
        if !stays {
            let error = manager.artifacts().get(&handle(number)).unwrap_err();
            assert_eq!((error.code(), error.details()["reason"].as_str()), (ErrorCode::ArtifactExpired, Some("lru")));
        }
    }
    let before = json!(manager.snapshot());
    let too_large = manager.put_artifact("more", &vec![0; STORE_BYTES], "t", "").unwrap_err();
    assert_eq!(too_large.code(), ErrorCode::QuotaExceeded);
    assert_eq!(json!(manager.snapshot()), before, "what cannot fit evicts nothing");
}

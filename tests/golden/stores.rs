//! Scripts of operations on the stores, and the value types they hold.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_content::{Selector, slice};
use contextweaver_context::store::{ArtifactStore, EpisodicStore, EventLog, FactStore, StoreBundle, StoreOptions};
use contextweaver_model::json::Fields;
use contextweaver_model::{
    ArtifactRef, ContextItem, Episode, Fact, FirewallStats, HydrationResult, ItemKind, ResultEnvelope, ViewSpec,
};
use contextweaver_text::tokens::Estimator;
use serde_json::{Value, json};

use crate::context::{strings, text};

pub fn run(file: &str, input: &Value) -> std::result::Result<Value, String> {
    match file {
        "artifact_store" => Ok(script(input, &mut Artifacts::default())),
        "artifact_quota_ttl" => Ok(quota(input)),
        "event_log" => Ok(script(input, &mut EventLog::new())),
        "episodic" => Ok(script(input, &mut EpisodicStore::new())),
        "facts" => Ok(script(input, &mut FactStore::new())),
        "bundle" => Ok(or_error(bundle(input))),
        "value_types" => Ok(or_error(value_type(input))),
        other => Err(format!("no runner for stores/{other}")),
    }
}

/// The answer recorded for an error: the reference's class and, where it is one of its own, its code.
fn failure(error: &Error) -> Value {
    let (class, code) = match error.code() {
        ErrorCode::MissingField => ("KeyError", ""),
        ErrorCode::DuplicateId => ("DuplicateItemError", "CW_DUPLICATE_ITEM"),
        ErrorCode::NotFound => ("ItemNotFoundError", "CW_ITEM_NOT_FOUND"),
        ErrorCode::ArtifactNotFound | ErrorCode::ArtifactExpired => ("ArtifactNotFoundError", "CW_ARTIFACT_NOT_FOUND"),
        ErrorCode::QuotaExceeded => ("ArtifactStoreQuotaError", "CW_ARTIFACT_STORE_QUOTA"),
        ErrorCode::Unsupported => ("ContextWeaverError", "CW_ERROR"),
        ErrorCode::InvalidInput if error.path() == "/handle" => ("ContextWeaverError", "CW_ERROR"),
        _ => ("ValueError", ""),
    };
    if code.is_empty() { json!({ "error": class }) } else { json!({ "error": class, "code": code }) }
}

fn or_error(result: Result<Value>) -> Value {
    result.unwrap_or_else(|error| failure(&error))
}

/// A store driven by a recorded script.
trait Scripted {
    fn step(&mut self, op: &Value) -> Result<Value>;
    fn snapshot(&self) -> Value;
}

fn run_steps(input: &Value, store: &mut impl Scripted) -> Vec<Value> {
    let steps = input["ops"].as_array().into_iter().flatten();
    steps
        .map(|op| match store.step(op) {
            Ok(value) => json!({ "ok": value }),
            Err(error) => failure(&error),
        })
        .collect()
}

fn script(input: &Value, store: &mut impl Scripted) -> Value {
    let results = run_steps(input, store);
    json!({ "results": results, "snapshot": store.snapshot() })
}

/// An artifact store and its caller's clock.
#[derive(Default)]
struct Artifacts {
    store: ArtifactStore,
    now: f64,
}

fn bytes(content: &Value) -> Vec<u8> {
    match content["base64"].as_str() {
        Some(encoded) => STANDARD.decode(encoded).expect("a case holds base64"),
        None => text(content, "utf8").as_bytes().to_vec(),
    }
}

impl Artifacts {
    fn handles(&self) -> Value {
        json!(self.store.list().map(|reference| &reference.handle).collect::<Vec<_>>())
    }

    fn restore(&mut self, snapshot: Value) -> Result<Value> {
        let options = *self.store.options();
        self.store = ArtifactStore::read(snapshot, "", false)?;
        self.store.set_options(options);
        self.store.set_now(self.now);
        Ok(self.handles())
    }
}

impl Scripted for Artifacts {
    fn step(&mut self, op: &Value) -> Result<Value> {
        let handle = text(op, "handle");
        match text(op, "op") {
            "put" => {
                let media_type = op["media_type"].as_str().unwrap_or("application/octet-stream");
                Ok(json!(self.store.put(handle, &bytes(&op["content"]), media_type, text(op, "label"))?))
            }
            "get" => Ok(json!({ "base64": STANDARD.encode(self.store.get(handle)?) })),
            "ref" | "metadata" => Ok(json!(self.store.artifact_ref(handle)?)),
            "exists" => Ok(json!(self.store.exists(handle))),
            "delete" => self.store.delete(handle).map(|()| Value::Null),
            "list_refs" => Ok(self.handles()),
            "drilldown" => {
                // Not found comes before a bad selector.
                self.store.get(handle)?;
                let text = String::from_utf8_lossy(self.store.get(handle)?).into_owned();
                let media_type = self.store.artifact_ref(handle)?.media_type.clone();
                let selector = Selector::from_value(op["selector"].clone(), "/selector")?;
                Ok(json!(slice(&text, &media_type, &selector, None, &Estimator::V3)?.text))
            }
            "restore" => self.restore(op["snapshot"].clone()),
            "roundtrip" | "reopen" => self.restore(json!(self.store)),
            "advance" => {
                self.now += op["seconds"].as_f64().unwrap_or(0.0);
                self.store.set_now(self.now);
                Ok(json!(self.now))
            }
            other => panic!("no runner for step {other:?}"),
        }
    }

    fn snapshot(&self) -> Value {
        json!(self.store)
    }
}

/// The reference has limits in its file store only, which the cases make directly: zero is a limit there.
fn quota(input: &Value) -> Value {
    let config = &input["config"];
    let bound = |key: &str, default: usize| config[key].as_u64().map_or(default, |number| number as usize);
    let default = StoreOptions::default();
    let options = StoreOptions {
        store_bytes: bound("max_bytes", default.store_bytes),
        max_artifacts: bound("max_artifacts", default.max_artifacts),
        ttl_seconds: config["ttl_seconds"].as_f64(),
        ..default
    };
    let mut artifacts = Artifacts { store: ArtifactStore::with_options(options), now: 0.0 };
    let results = run_steps(input, &mut artifacts);
    json!({ "results": results, "final_handles": artifacts.handles() })
}

fn ids<'a>(items: impl IntoIterator<Item = &'a ContextItem>) -> Value {
    json!(items.into_iter().map(|item| &item.id).collect::<Vec<_>>())
}

fn kinds(value: &Value) -> Result<Option<Vec<ItemKind>>> {
    (!value.is_null()).then(|| strings(value).iter().map(|name| ItemKind::parse(name)).collect()).transpose()
}

impl Scripted for EventLog {
    fn step(&mut self, op: &Value) -> Result<Value> {
        let id = text(op, "id");
        match text(op, "op") {
            "append" => self.append(ContextItem::from_value(op["item"].clone(), "")?).map(|()| Value::Null),
            "get" => Ok(json!(self.get(id)?)),
            "all" => Ok(ids(self.items())),
            "count" => Ok(json!(self.len())),
            "filter_by_kind" => Ok(ids(self.filter_by_kind(&kinds(&op["kinds"])?.unwrap_or_default()))),
            "tail" => Ok(ids(self.tail(op["n"].as_i64().map_or(0, |n| n.max(0) as usize)))),
            "children" => Ok(ids(self.children(id))),
            "parent" => Ok(json!(self.parent(id)?.map(|item| &item.id))),
            "query" => {
                // Counting from the end is Python's; here positions and limits are whole numbers from 0.
                let since = op["since"].as_i64().unwrap_or(0);
                let from_end = self.len().saturating_sub(since.unsigned_abs() as usize);
                let since = usize::try_from(since).unwrap_or(from_end);
                let mut found = self.query(kinds(&op["kinds"])?.as_deref(), since, usize::MAX);
                let limit = op["limit"].as_i64().unwrap_or(i64::MAX);
                let from_end = found.len().saturating_sub(limit.unsigned_abs() as usize);
                found.truncate(usize::try_from(limit).unwrap_or(from_end));
                Ok(ids(found))
            }
            "close" => Ok(Value::Null),
            "restore" => {
                *self = Self::from_value(op["snapshot"].clone(), "")?;
                Ok(json!(self.len()))
            }
            "roundtrip" => {
                *self = Self::from_value(json!(self), "")?;
                Ok(json!(self.len()))
            }
            other => panic!("no runner for step {other:?}"),
        }
    }

    fn snapshot(&self) -> Value {
        json!(self)
    }
}

impl Scripted for EpisodicStore {
    fn step(&mut self, op: &Value) -> Result<Value> {
        let id = text(op, "id");
        let names = |found: Vec<&Episode>| json!(found.iter().map(|found| &found.episode_id).collect::<Vec<_>>());
        match text(op, "op") {
            "add" => self.add(Episode::from_value(op["episode"].clone(), "")?).map(|()| Value::Null),
            "get" => Ok(json!(self.get(id))),
            "all" => Ok(names(self.all().iter().collect())),
            "search" => {
                Ok(names(self.search(text(op, "query"), op["top_k"].as_i64().map_or(5, |count| count.max(0) as usize))))
            }
            "latest" => {
                let count = op["n"].as_i64().map_or(3, |n| n.max(0) as usize);
                let latest = self.latest(count).map(|found| json!([found.episode_id, found.summary, found.metadata]));
                Ok(json!(latest.collect::<Vec<_>>()))
            }
            "delete" => self.delete(id).map(|()| Value::Null),
            "restore" => {
                *self = Self::from_value(op["snapshot"].clone(), "")?;
                Ok(json!(self.all().len()))
            }
            "roundtrip" => {
                *self = Self::from_value(json!(self), "")?;
                Ok(json!(self.all().len()))
            }
            other => panic!("no runner for step {other:?}"),
        }
    }

    fn snapshot(&self) -> Value {
        json!(self)
    }
}

impl Scripted for FactStore {
    fn step(&mut self, op: &Value) -> Result<Value> {
        let id = text(op, "id");
        match text(op, "op") {
            "put" => self.put(Fact::from_value(op["fact"].clone(), "")?).map(|()| Value::Null),
            "get" => Ok(json!(self.get(id)?)),
            "all" => Ok(json!(self.all().map(|fact| &fact.fact_id).collect::<Vec<_>>())),
            "get_by_key" => Ok(json!(self.get_by_key(text(op, "key")).map(|fact| &fact.fact_id).collect::<Vec<_>>())),
            "list_keys" => Ok(json!(self.list_keys(text(op, "prefix")))),
            "delete" => self.delete(id).map(|()| Value::Null),
            "restore" => {
                *self = Self::from_value(op["snapshot"].clone(), "")?;
                Ok(json!(self.len()))
            }
            "roundtrip" => {
                *self = Self::from_value(json!(self), "")?;
                Ok(json!(self.len()))
            }
            other => panic!("no runner for step {other:?}"),
        }
    }

    fn snapshot(&self) -> Value {
        json!(self)
    }
}

/// The names under which the reference knows the stores of a bundle; it forgets any other.
const STORES: [&str; 4] = ["artifact_store", "event_log", "episodic_store", "fact_store"];

fn bundle(input: &Value) -> Result<Value> {
    let bundle = StoreBundle::take(&mut Fields::open(input.clone(), "")?, false)?;
    let snapshot = json!(bundle);
    let present: serde_json::Map<String, Value> =
        STORES.iter().map(|name| ((*name).to_owned(), json!(!snapshot[name].is_null()))).collect();
    Ok(json!({ "snapshot": snapshot, "present": present }))
}

fn value_type(input: &Value) -> Result<Value> {
    let data = input["data"].clone();
    let record = match text(input, "type") {
        "ArtifactRef" => json!(ArtifactRef::from_value(data, "")?),
        "ContextItem" => json!(ContextItem::from_value(data, "")?),
        "ViewSpec" => json!(ViewSpec::from_value(data, "")?),
        "Episode" => json!(Episode::from_value(data, "")?),
        "Fact" => json!(Fact::from_value(data, "")?),
        "ResultEnvelope" => json!(ResultEnvelope::from_value(data, "")?),
        "HydrationResult" => json!(HydrationResult::from_value(data, "")?),
        "FirewallStats" => {
            let stats = FirewallStats::from_value(data, "")?;
            let (chars, tokens) = (stats.chars_saved(), stats.tokens_saved());
            return Ok(json!({ "to_dict": stats, "chars_saved": chars, "tokens_saved": tokens }));
        }
        other => panic!("no runner for type {other:?}"),
    };
    Ok(json!({ "to_dict": record }))
}

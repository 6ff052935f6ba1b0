//! Operations on the stores of a manager: the log, artifacts, facts, episodes.

use serde_json::{Value, json};

use super::{One, done, unknown};
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_context::ContextManager;
use contextweaver_model::json::{self, Fields, as_number, wrong_type};
use contextweaver_model::{Episode, Fact, ItemKind};

/// Largest count that an argument may ask for.
const MANY: u64 = u32::MAX as u64;

/// Stores bytes under a handle of the caller's choosing.
pub fn put_artifact(manager: &mut ContextManager, arguments: &str, bytes: &[u8]) -> Result<String> {
    let mut fields = Fields::open(json::parse(arguments)?, "")?;
    let handle = fields.string("handle")?;
    let media_type = fields.string_or("media_type", "application/octet-stream")?;
    let label = fields.string_or("label", "")?;
    fields.finish()?;
    done(&manager.put_artifact(&handle, bytes, &media_type, &label)?)
}

/// Returns the bytes of an artifact, for the caller's own use; the policy governs prompts and drilldowns.
pub fn artifact_bytes(manager: &ContextManager, handle: &str) -> Result<Vec<u8>> {
    manager.artifacts().get(handle).map(<[u8]>::to_vec)
}

/// The operations with their arguments; any other argument is an error.
const OPERATIONS: &[(&str, &[&str])] = &[
    ("artifact_absent", &["handle"]),
    ("artifact_delete", &["handle"]),
    ("artifact_exists", &["handle"]),
    ("artifact_pin", &["handle"]),
    ("artifact_ref", &["handle"]),
    ("artifact_unpin", &["handle"]),
    ("artifact_use", &["handle"]),
    ("artifact_hashes", &[]),
    ("artifacts", &[]),
    ("clock", &["now", "expires"]),
    ("episode_delete", &["id"]),
    ("episode_get", &["id"]),
    ("episode_latest", &["n"]),
    ("episode_search", &["query", "top_k"]),
    ("episodes", &[]),
    ("event_children", &["id"]),
    ("event_count", &["kinds"]),
    ("event_get", &["id"]),
    ("event_parent", &["id"]),
    ("event_tail", &["n"]),
    ("events", &["kinds", "since", "limit"]),
    ("fact_delete", &["id"]),
    ("fact_get", &["id"]),
    ("fact_get_by_key", &["key"]),
    ("fact_list_keys", &["prefix"]),
    ("facts", &[]),
];

/// Runs an operation on a store.
pub(super) fn call(manager: &mut ContextManager, operation: &str, arguments: Value) -> Result<String> {
    match operation {
        "add_fact" => {
            let (id, fact) = Fact::with_optional_id(arguments, "")?;
            return done(&json!({ "fact_id": manager.add_fact(id, fact)? }));
        }
        "fact_put" => {
            manager.put_fact(Fact::from_value(arguments, "")?)?;
            return done(&json!({}));
        }
        "add_episode" => {
            manager.add_episode(Episode::from_value(arguments, "")?)?;
            return done(&json!({}));
        }
        _ => {}
    }
    let known = OPERATIONS.iter().find(|(name, _)| *name == operation).ok_or_else(|| unknown(operation))?.1;
    let mut fields = Fields::open_closed(arguments, "", known)?;
    let fields = &mut fields;
    match operation.split('_').next() {
        Some("clock") => clock(manager, fields),
        Some("event" | "events") => events(manager, operation, fields),
        Some("artifact" | "artifacts") => artifacts(manager, operation, fields),
        Some("fact" | "facts") => facts(manager, operation, fields),
        _ => episodes(manager, operation, fields),
    }
}

fn count(fields: &mut Fields, key: &'static str, default: u64) -> Result<usize> {
    Ok(fields.uint_or(key, default, MANY)? as usize)
}

fn kinds(fields: &mut Fields) -> Result<Option<Vec<ItemKind>>> {
    let read = |value: Value, at: &str| ItemKind::parse(&json::as_string(value, at)?).map_err(|error| error.at(at));
    fields.has("kinds").then(|| fields.records("kinds", read)).transpose()
}

fn events(manager: &ContextManager, operation: &str, fields: &mut Fields) -> Result<String> {
    let log = manager.events();
    match operation {
        "event_get" => done(log.get(&fields.string("id")?)?),
        "event_parent" => done(&One("item", &log.parent(&fields.string("id")?)?)),
        "event_children" => done(&One("items", &log.children(&fields.string("id")?).collect::<Vec<_>>())),
        "event_tail" => done(&One("items", log.tail(count(fields, "n", 1)?))),
        "event_count" => {
            let kinds = kinds(fields)?;
            let count = kinds.map_or(log.len(), |kinds| log.filter_by_kind(&kinds).len());
            done(&json!({ "count": count }))
        }
        "events" => {
            let (kinds, since, limit) = (kinds(fields)?, count(fields, "since", 0)?, count(fields, "limit", MANY)?);
            done(&One("items", &log.query(kinds.as_deref(), since, limit)))
        }
        other => Err(unknown(other)),
    }
}

fn artifacts(manager: &mut ContextManager, operation: &str, fields: &mut Fields) -> Result<String> {
    if operation == "artifacts" {
        return done(&One("artifacts", &manager.artifacts().list().collect::<Vec<_>>()));
    }
    if operation == "artifact_hashes" {
        return done(&One("hashes", &manager.artifacts().content_hashes()));
    }
    let handle = fields.string("handle")?;
    match operation {
        "artifact_absent" => return done(&One("artifact", &manager.artifacts().absent(&handle))),
        "artifact_ref" => return done(manager.artifacts().artifact_ref(&handle)?),
        "artifact_exists" => return done(&json!({ "exists": manager.artifacts().exists(&handle) })),
        // A use without the bytes, for a journal that must repeat the order of use. What was read may be an item.
        "artifact_use" => drop(manager.artifacts().get(&handle)),
        "artifact_delete" => manager.artifacts_mut().delete(&handle)?,
        "artifact_pin" => manager.artifacts_mut().pin(&handle)?,
        "artifact_unpin" => manager.artifacts_mut().unpin(&handle)?,
        other => return Err(unknown(other)),
    }
    done(&json!({}))
}

fn facts(manager: &mut ContextManager, operation: &str, fields: &mut Fields) -> Result<String> {
    let store = manager.facts();
    match operation {
        "facts" => done(&One("facts", &store.all().collect::<Vec<_>>())),
        "fact_get" => done(store.get(&fields.string("id")?)?),
        "fact_get_by_key" => {
            let key = fields.string("key")?;
            done(&One("facts", &store.get_by_key(&key).collect::<Vec<_>>()))
        }
        "fact_list_keys" => done(&One("keys", &store.list_keys(&fields.string_or("prefix", "")?))),
        "fact_delete" => {
            manager.delete_fact(&fields.string("id")?)?;
            done(&json!({}))
        }
        other => Err(unknown(other)),
    }
}

fn episodes(manager: &mut ContextManager, operation: &str, fields: &mut Fields) -> Result<String> {
    let store = manager.episodes();
    match operation {
        "episodes" => done(&One("episodes", store.all())),
        "episode_get" => done(&One("episode", &store.get(&fields.string("id")?))),
        "episode_latest" => {
            let count = count(fields, "n", limits::HEADER_EPISODES as u64)?;
            done(&One("episodes", &store.latest(count).collect::<Vec<_>>()))
        }
        "episode_search" => {
            let top_k = fields.uint_or("top_k", limits::SEARCH_EPISODES, MANY)? as u32;
            done(&One("episodes", &manager.search_episodes(&fields.string("query")?, top_k)))
        }
        "episode_delete" => {
            manager.delete_episode(&fields.string("id")?)?;
            done(&json!({}))
        }
        other => Err(unknown(other)),
    }
}

/// Tells the artifact store the time in seconds, or asks it for the time and for when artifacts will expire, which are
/// in no snapshot. The answer is an argument.
fn clock(manager: &mut ContextManager, fields: &mut Fields) -> Result<String> {
    let Some(now) = fields.opt_number("now", f64::MIN, f64::MAX)? else {
        let (now, expires) = manager.artifacts().expiries();
        return done(&json!({ "now": now, "expires": expires }));
    };
    let expires = fields.records("expires", |pair, at| match pair.as_array().map(Vec::as_slice) {
        Some([Value::String(handle), seconds]) => Ok((handle.clone(), as_number(seconds, at, f64::MIN, f64::MAX)?)),
        _ => Err(wrong_type(at, "a handle and a time", &pair)),
    })?;
    let store = manager.artifacts_mut();
    for (handle, seconds) in expires {
        store.set_expiry(&handle, seconds);
    }
    store.set_now(now);
    done(&json!({}))
}

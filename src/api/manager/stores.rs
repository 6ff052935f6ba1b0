//! Operations on the stores of a manager: the log, artifacts, facts, episodes.

use serde_json::{Value, json};

use super::super::operation::Effect::{Changes, Reads, Removes, Replaces};
use super::super::operation::{Beside, Operation};
use super::super::{One, done};
use super::{nothing, one};
use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_context::ContextManager;
use contextweaver_model::json::{self, Fields, as_number, wrong_type};
use contextweaver_model::{Episode, Fact, ItemKind};

/// Largest count that an argument may ask for.
const MANY: u64 = u32::MAX as u64;

pub(super) const OPERATIONS: &[Operation<ContextManager>] = &[
    Operation::beside("put_artifact", Replaces, put_artifact),
    Operation::new("artifact_absent", Reads, |manager, arguments| {
        done(&One("artifact", &manager.artifacts().absent(&one(arguments, "handle")?)))
    }),
    Operation::new("artifact_exists", Reads, |manager, arguments| {
        done(&json!({ "exists": manager.artifacts().exists(&one(arguments, "handle")?) }))
    }),
    Operation::new("artifact_ref", Reads, |manager, arguments| {
        done(manager.artifacts().artifact_ref(&one(arguments, "handle")?)?)
    }),
    Operation::new("artifact_hashes", Reads, |manager, arguments| {
        nothing(arguments)?;
        done(&One("hashes", &manager.artifacts().content_hashes()))
    }),
    Operation::new("artifacts", Reads, |manager, arguments| {
        nothing(arguments)?;
        done(&One("artifacts", &manager.artifacts().list().collect::<Vec<_>>()))
    }),
    Operation::silent("artifact_delete", Removes, |manager, arguments| {
        manager.artifacts_mut().delete(&one(arguments, "handle")?)
    }),
    Operation::silent("artifact_pin", Changes, |manager, arguments| {
        manager.artifacts_mut().pin(&one(arguments, "handle")?)
    }),
    Operation::silent("artifact_unpin", Changes, |manager, arguments| {
        manager.artifacts_mut().unpin(&one(arguments, "handle")?)
    }),
    // A use without the bytes, for a journal that must repeat the order of use. What was read may be an item.
    Operation::silent("artifact_use", Changes, |manager, arguments| {
        let _ = manager.artifacts().used(&one(arguments, "handle")?);
        Ok(())
    }),
    Operation::new("clock", Replaces, clock),
    Operation::new("event_get", Reads, |manager, arguments| done(manager.events().get(&one(arguments, "id")?)?)),
    Operation::new("event_parent", Reads, |manager, arguments| {
        done(&One("item", &manager.events().parent(&one(arguments, "id")?)?))
    }),
    Operation::new("event_children", Reads, |manager, arguments| {
        done(&One("items", &manager.events().children(&one(arguments, "id")?).collect::<Vec<_>>()))
    }),
    Operation::new("event_tail", Reads, |manager, arguments| {
        let n = count(&mut Fields::open_closed(arguments, "", &["n"])?, "n", 1)?;
        done(&One("items", manager.events().tail(n)))
    }),
    Operation::new("event_count", Reads, event_count),
    Operation::new("events", Reads, events),
    Operation::new("add_fact", Changes, |manager, arguments| {
        let (id, fact) = Fact::with_optional_id(arguments, "")?;
        done(&json!({ "fact_id": manager.add_fact(id, fact)? }))
    }),
    Operation::silent("fact_put", Changes, |manager, arguments| manager.put_fact(Fact::from_value(arguments, "")?)),
    Operation::silent("fact_delete", Removes, |manager, arguments| manager.delete_fact(&one(arguments, "id")?)),
    Operation::new("fact_get", Reads, |manager, arguments| done(manager.facts().get(&one(arguments, "id")?)?)),
    Operation::new("fact_get_by_key", Reads, |manager, arguments| {
        done(&One("facts", &manager.facts().get_by_key(&one(arguments, "key")?).collect::<Vec<_>>()))
    }),
    Operation::new("fact_list_keys", Reads, |manager, arguments| {
        let prefix = Fields::open_closed(arguments, "", &["prefix"])?.string_or("prefix", "")?;
        done(&One("keys", &manager.facts().list_keys(&prefix)))
    }),
    Operation::new("facts", Reads, |manager, arguments| {
        nothing(arguments)?;
        done(&One("facts", &manager.facts().all().collect::<Vec<_>>()))
    }),
    Operation::silent("add_episode", Changes, |manager, arguments| {
        manager.add_episode(Episode::from_value(arguments, "")?)
    }),
    Operation::silent("episode_delete", Removes, |manager, arguments| manager.delete_episode(&one(arguments, "id")?)),
    Operation::new("episode_get", Reads, |manager, arguments| {
        done(&One("episode", &manager.episodes().get(&one(arguments, "id")?)))
    }),
    Operation::new("episode_latest", Reads, |manager, arguments| {
        let n = count(&mut Fields::open_closed(arguments, "", &["n"])?, "n", limits::HEADER_EPISODES as u64)?;
        done(&One("episodes", &manager.episodes().latest(n).collect::<Vec<_>>()))
    }),
    Operation::new("episode_search", Reads, |manager, arguments| {
        let mut fields = Fields::open_closed(arguments, "", &["query", "top_k"])?;
        let top_k = fields.uint_or("top_k", limits::SEARCH_EPISODES, MANY)? as u32;
        done(&One("episodes", &manager.search_episodes(&fields.string("query")?, top_k)))
    }),
    Operation::new("episodes", Reads, |manager, arguments| {
        nothing(arguments)?;
        done(&One("episodes", manager.episodes().all()))
    }),
];

/// Stores bytes under a handle of the caller's choosing.
fn put_artifact(manager: &mut ContextManager, arguments: Value, beside: Beside) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let handle = fields.string("handle")?;
    let media_type = fields.string_or("media_type", "application/octet-stream")?;
    let label = fields.string_or("label", "")?;
    fields.finish()?;
    done(&manager.put_artifact(&handle, &beside.into_first(), &media_type, &label)?)
}

/// Returns the bytes of an artifact, for the caller's own use; the policy governs prompts and drilldowns.
pub fn artifact_bytes(manager: &ContextManager, handle: &str) -> Result<Vec<u8>> {
    manager.artifacts().get(handle).map(<[u8]>::to_vec)
}

fn count(fields: &mut Fields, key: &'static str, default: u64) -> Result<usize> {
    Ok(fields.uint_or(key, default, MANY)? as usize)
}

fn kinds(fields: &mut Fields) -> Result<Option<Vec<ItemKind>>> {
    let read = |value: Value, at: &str| ItemKind::parse(&json::as_string(value, at)?).map_err(|error| error.at(at));
    fields.has("kinds").then(|| fields.records("kinds", read)).transpose()
}

fn event_count(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let kinds = kinds(&mut Fields::open_closed(arguments, "", &["kinds"])?)?;
    let log = manager.events();
    let count = kinds.map_or(log.len(), |kinds| log.filter_by_kind(&kinds).len());
    done(&json!({ "count": count }))
}

fn events(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open_closed(arguments, "", &["kinds", "since", "limit"])?;
    let fields = &mut fields;
    let (kinds, since, limit) = (kinds(fields)?, count(fields, "since", 0)?, count(fields, "limit", MANY)?);
    done(&One("items", &manager.events().query(kinds.as_deref(), since, limit)))
}

/// Tells the artifact store the time in seconds, or asks it for the time and for when artifacts will expire, which are
/// in no snapshot. The answer is an argument.
fn clock(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open_closed(arguments, "", &["now", "expires"])?;
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

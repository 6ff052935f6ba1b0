//! Operations on the context of tool calls. The facade keeps the values; here are the rules for keys and flags.

use serde_json::{Value, json};

use super::{done, unknown};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::tools::call_context::{
    ContextEntry, EntryFlags, ForwardPolicy, FromMetaOptions, MAX_META_BYTES, OnInvalidKey, OnSealedKey, ToMetaOptions,
    check_key, forwarded_entries, from_meta, is_secret_name, merge_levels, open_meta, to_meta,
};
use contextweaver_model::json::{Fields, as_string, as_uint, wrong_type};

/// The operations.
pub const OPERATIONS: &[&str] =
    &["context_keys", "context_merge", "context_gate", "context_to_meta", "context_from_meta"];

/// Runs an operation.
pub fn call(operation: &str, mut fields: Fields) -> Result<String> {
    let open = &mut fields;
    let result = match operation {
        "context_keys" => keys(open),
        "context_merge" => merged(open),
        "context_gate" => through(open),
        "context_to_meta" => outbound(open),
        "context_from_meta" => inbound(open),
        other => Err(unknown(other)),
    }?;
    fields.finish()?;
    done(&result)
}

/// Checks keys, and says of each whether it is called like a secret.
fn keys(fields: &mut Fields) -> Result<Value> {
    let keys = fields.strings("keys")?;
    for (place, key) in keys.iter().enumerate() {
        check_key(key).map_err(|error| error.at(format!("/keys/{place}")).detail("place", place))?;
    }
    Ok(json!({ "secret": keys.iter().map(|key| is_secret_name(key)).collect::<Vec<bool>>() }))
}

/// Reads `[key, flags]`.
fn entry(value: Value, path: &str) -> Result<ContextEntry> {
    match value {
        Value::Array(pair) => {
            let [key, flags] = <[Value; 2]>::try_from(pair)
                .map_err(|pair| wrong_type(path, "a key and its flags", &Value::Array(pair)))?;
            let flags = as_uint(&flags, &format!("{path}/1"), u64::from(EntryFlags::ALL))?;
            Ok(ContextEntry { key: as_string(key, &format!("{path}/0"))?, flags: EntryFlags(flags as u8) })
        }
        other => Err(wrong_type(path, "a key and its flags", &other)),
    }
}

fn merged(fields: &mut Fields) -> Result<Value> {
    let levels = fields.records("levels", |level, path| match level {
        Value::Array(list) => {
            list.into_iter().enumerate().map(|(at, value)| entry(value, &format!("{path}/{at}"))).collect()
        }
        other => Err(wrong_type(path, "an array", &other)),
    })?;
    let on_conflict = fields.parsed_or("onConflict", OnSealedKey::default(), OnSealedKey::parse)?;
    let merged = merge_levels(&levels, on_conflict)?;
    let entries: Vec<Value> = merged.iter().map(|entry| json!([entry.level, entry.index, entry.flags.0])).collect();
    Ok(json!({ "entries": entries }))
}

fn through(fields: &mut Fields) -> Result<Value> {
    let entries = fields.records("entries", entry)?;
    let policy = policy(fields.require("policy")?, "/policy")?;
    Ok(json!({ "through": forwarded_entries(&entries, &policy)? }))
}

/// Reads a policy; the parser bounds how deep they nest.
fn policy(value: Value, path: &str) -> Result<ForwardPolicy> {
    let mut fields = Fields::open(value, path)?;
    let kind = fields.string("kind")?;
    let policy = match kind.as_str() {
        "none" => ForwardPolicy::None,
        "allow" => ForwardPolicy::Allow { keys: fields.strings("keys")?, secrets: fields.strings("secrets")? },
        "deny" => ForwardPolicy::Deny(fields.strings("keys")?),
        "passThrough" => ForwardPolicy::PassThrough { include_secrets: fields.bool_or("includeSecrets", false)? },
        "compose" => ForwardPolicy::Compose(fields.records("parts", policy)?),
        _ => {
            return Err(Error::new(ErrorCode::InvalidInput, "expected a policy").at(fields.at("kind")));
        }
    };
    fields.finish()?;
    Ok(policy)
}

fn outbound(fields: &mut Fields) -> Result<Value> {
    let (values, existing) = (fields.object("values")?, fields.object("existing")?);
    let options = ToMetaOptions {
        prefix: fields.string_or("prefix", "")?,
        on_invalid: fields.parsed_or("onInvalidKey", OnInvalidKey::default(), OnInvalidKey::parse)?,
        max_bytes: fields.uint_or("maxBytes", MAX_META_BYTES, limits::MAX_INPUT_BYTES as u64)?,
    };
    let (meta, warnings) = to_meta(values, existing, &options)?;
    Ok(json!({ "meta": meta, "warnings": warnings }))
}

fn inbound(fields: &mut Fields) -> Result<Value> {
    if !fields.has("allow") {
        return Err(Error::new(ErrorCode::MissingField, "missing field `allow`")
            .at("/allow")
            .hint("name the keys that a client may set"));
    }
    let (meta, mut warnings) = open_meta(fields.take("meta"));
    let inbound = FromMetaOptions {
        allow: fields.strings("allow")?,
        prefix: fields.string_or("prefix", "")?,
        trust_identity: fields.bool_or("trustIdentity", false)?,
    };
    let (values, more) = from_meta(&meta, &inbound)?;
    warnings.extend(more);
    Ok(json!({ "values": values, "warnings": warnings }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(operation: &str, arguments: Value) -> Result<Value> {
        let answer = call(operation, Fields::open(arguments, "")?)?;
        Ok(serde_json::from_str::<Value>(&answer).unwrap()["done"].clone())
    }

    #[test]
    fn operations_answer() {
        for (operation, arguments, wanted) in [
            ("context_keys", json!({"keys": ["tenantId", "authToken"]}), json!({"secret": [false, true]})),
            (
                "context_merge",
                json!({"levels": [[["a", 0], ["b", 16]], [["b", 1], ["c", 2]]], "onConflict": "keep-upper"}),
                json!({"entries": [[0, 0, 0], [0, 1, 16], [1, 1, 2]]}),
            ),
            (
                "context_gate",
                json!({"entries": [["a", 0], ["b", 2]], "policy": {"kind": "compose", "parts": [
                    {"kind": "passThrough", "includeSecrets": true}, {"kind": "deny", "keys": []}]}}),
                json!({"through": [0]}),
            ),
            ("context_gate", json!({"entries": [["a", 0]], "policy": {"kind": "none"}}), json!({"through": []})),
            (
                "context_to_meta",
                json!({"values": {"a": 1}, "existing": {"progressToken": 1}, "prefix": "com.example/"}),
                json!({"meta": {"progressToken": 1, "com.example/a": 1}, "warnings": []}),
            ),
            (
                "context_from_meta",
                json!({"meta": {"a": 1, "b": 2}, "allow": ["a"]}),
                json!({"values": {"a": 1}, "warnings": []}),
            ),
        ] {
            assert_eq!(run(operation, arguments).unwrap(), wanted, "{operation}");
        }
        assert!(OPERATIONS.iter().all(|operation| run(operation, json!({"x": 1})).is_err()));
        assert_eq!(run("context", json!({})).unwrap_err().code(), ErrorCode::Unsupported);
    }

    #[test]
    fn wrong_arguments_are_refused_where_they_are() {
        for (operation, arguments, code, path) in [
            ("context_keys", json!({"keys": ["a", ""]}), ErrorCode::InvalidInput, "/keys/1"),
            ("context_merge", json!({"levels": [[["a"]]]}), ErrorCode::InvalidInput, "/levels/0/0"),
            ("context_merge", json!({"levels": [[["a", 128]]]}), ErrorCode::OutOfRange, "/levels/0/0/1"),
            ("context_merge", json!({"levels": [{}]}), ErrorCode::InvalidInput, "/levels/0"),
            ("context_merge", json!({"onConflict": "x"}), ErrorCode::InvalidInput, "/onConflict"),
            ("context_gate", json!({}), ErrorCode::MissingField, "/policy"),
            ("context_gate", json!({"policy": {"kind": "all"}}), ErrorCode::InvalidInput, "/policy/kind"),
            ("context_gate", json!({"policy": {"kind": "none", "keys": []}}), ErrorCode::UnknownField, "/policy/keys"),
            (
                "context_gate",
                json!({"policy": {"kind": "compose", "parts": [{"kind": "deny", "keys": [1]}]}}),
                ErrorCode::InvalidInput,
                "/policy/parts/0/keys/0",
            ),
            ("context_to_meta", json!({"values": {"a": 1}, "maxBytes": -1}), ErrorCode::OutOfRange, "/maxBytes"),
            ("context_to_meta", json!({"onInvalidKey": "x"}), ErrorCode::InvalidInput, "/onInvalidKey"),
            ("context_from_meta", json!({"meta": {}}), ErrorCode::MissingField, "/allow"),
        ] {
            let error = run(operation, arguments).unwrap_err();
            assert_eq!((error.code(), error.path()), (code, path), "{operation}");
        }
    }
}

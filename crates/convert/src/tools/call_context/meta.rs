//! Forwarded entries of a context as `_meta` of a request, legal under every revision of the protocol, and entries that a
//! receiver takes from `_meta`.

use serde_json::Value;

use super::meta_name::{self, OnInvalidKey};
use super::trace;
use super::{check_key, is_secret_name, refused};
use crate::mcp::{MetaKeyProblem, Revision, check_meta_key};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::Warning;
use contextweaver_model::json::{JsonMap, pointer, type_name};
use contextweaver_text::quote::quote;

/// Bytes of JSON that a context may add to `_meta` by default.
pub const MAX_META_BYTES: u64 = 8 * 1024;
/// Bytes of one string that is taken from `_meta`.
pub const MAX_INBOUND_STRING_BYTES: usize = 4 * 1024;

/// Options of [`to_meta`].
#[derive(Debug, Clone, Default)]
pub struct ToMetaOptions {
    /// Prefix of keys that have none, with its `/`.
    pub prefix: String,
    /// What happens to keys outside the grammar.
    pub on_invalid: OnInvalidKey,
    /// Bytes that may be added.
    pub max_bytes: u64,
}

/// Puts entries beside what `_meta` has; a key that is taken keeps its value.
///
/// # Errors
/// `POLICY_VIOLATION` with the reason `ReservedMetaKey`, `INVALID_INPUT` with `InvalidMetaKey`, `TOO_LARGE` with
/// `MetaTooLarge`.
///
/// ```
/// use contextweaver_convert::tools::call_context::{MAX_META_BYTES, ToMetaOptions, to_meta};
/// use contextweaver_model::JsonMap;
///
/// let values = JsonMap::from_iter([("tenant".to_owned(), "acme".into())]);
/// let options = ToMetaOptions { prefix: "com.example/".to_owned(), max_bytes: MAX_META_BYTES, ..ToMetaOptions::default() };
/// let (meta, warnings) = to_meta(values, JsonMap::new(), &options)?;
/// assert_eq!(meta["com.example/tenant"], "acme");
/// assert!(warnings.is_empty());
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn to_meta(values: JsonMap, existing: JsonMap, options: &ToMetaOptions) -> Result<(JsonMap, Vec<Warning>)> {
    check_prefix(&options.prefix)?;
    let (mut meta, mut added, mut warnings) = (existing, JsonMap::new(), Vec::new());
    for (key, value) in values {
        let is_trace = match trace::check(&key, value.as_str()) {
            Some(false) => {
                warnings.push(dropped("invalid_trace_context", &key, "does not have the form of the W3C standard"));
                continue;
            }
            form => form.is_some(),
        };
        let name = if is_trace { Some(key.clone()) } else { wire_name(&key, options)? };
        let Some(name) = name else {
            warnings.push(dropped("invalid_meta_key", &key, "is outside the grammar of keys"));
            continue;
        };
        if is_lonely(&name) {
            warnings.push(dropped("lonely_prefix", &key, "looks like one of the protocol's"));
        } else if meta.contains_key(&name) || added.contains_key(&name) {
            warnings.push(dropped("meta_key_taken", &key, "is taken, and what was there stays"));
        } else {
            added.insert(name, value);
        }
    }
    check_size(&added, options.max_bytes)?;
    meta.extend(added);
    Ok((meta, warnings))
}

fn dropped(code: &'static str, key: &str, why: &str) -> Warning {
    Warning::new(code, format!("the key {} {why}", quote(key)), pointer("", key))
}

/// Returns the name a key has in `_meta`; none when it has none and is to be dropped.
fn wire_name(key: &str, options: &ToMetaOptions) -> Result<Option<String>> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) if meta_name::is_prefix(prefix) => (prefix, name),
        // What stands before a stroke and is no prefix is part of the name, which cannot be one as it is.
        _ => (options.prefix.trim_end_matches('/'), key),
    };
    let Some(name) = meta_name::spelled(prefix, name, options.on_invalid)? else {
        return Ok(None);
    };
    let full = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
    check_reserved(&full, key)?;
    Ok(Some(full))
}

/// Refuses a name that one of the revisions keeps for itself: a server of any may be at the other end.
fn check_reserved(name: &str, key: &str) -> Result<()> {
    for revision in Revision::ALL {
        match check_meta_key(name, *revision) {
            // The three of the trace have been looked at.
            Ok(()) => {}
            Err(MetaKeyProblem::Malformed) => return Err(meta_name::invalid(key)),
            Err(MetaKeyProblem::ReservedPrefix | MetaKeyProblem::ReservedName) => {
                let message = format!("the key {} belongs to the protocol", quote(key));
                return Err(refused(ErrorCode::PolicyViolation, "ReservedMetaKey", message, key)
                    .hint("leave the key out of the policy, or give it a prefix of your own"));
            }
        }
    }
    Ok(())
}

/// Refuses a prefix that cannot stand before a key.
fn check_prefix(prefix: &str) -> Result<()> {
    if prefix.is_empty() {
        return Ok(());
    }
    let labels = prefix.strip_suffix('/').filter(|labels| meta_name::is_prefix(labels));
    let is_free = || Revision::ALL.iter().all(|revision| check_meta_key(prefix, *revision).is_ok());
    if labels.is_none() || !is_free() || is_lonely(prefix) {
        let message = format!("{} is no prefix that may be used", quote(prefix));
        return Err(Error::new(ErrorCode::InvalidInput, message)
            .at("/prefix")
            .hint("labels joined by dots and a stroke, such as `com.example/`"));
    }
    Ok(())
}

/// Tells whether the prefix is a word of the protocol alone, which no revision reserves and no one should use.
fn is_lonely(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(prefix, _)| ["mcp", "modelcontextprotocol"].iter().any(|own| prefix.eq_ignore_ascii_case(own)))
}

fn check_size(added: &JsonMap, limit: u64) -> Result<()> {
    if added.is_empty() {
        return Ok(());
    }
    let bytes = serde_json::to_string(added).map_or(u64::MAX, |text| text.len() as u64);
    if bytes <= limit {
        return Ok(());
    }
    Err(Error::new(
        ErrorCode::TooLarge,
        format!("the context would add {bytes} bytes to `_meta`, the limit is {limit}"),
    )
    .detail("reason", "MetaTooLarge")
    .hint("send less, or raise maxBytes"))
}

/// Options of [`from_meta`].
#[derive(Debug, Clone, Default)]
pub struct FromMetaOptions {
    /// Keys of the context that are asked for.
    pub allow: Vec<String>,
    /// Prefix of keys that have none, with its `/`.
    pub prefix: String,
    /// Whether a client may say who it is.
    pub trust_identity: bool,
}

/// Names that say who asks, in lower case and without separators.
#[rustfmt::skip]
const IDENTITY: &[&str] = &[
    "user", "userid", "username", "userinfo", "uid", "sub", "subject", "principal", "principalid", "actor", "actorid",
    "email", "useremail", "identity", "login", "loginid", "tenant", "tenantid", "org", "orgid", "organization",
    "organizationid", "organisation", "organisationid", "workspace", "workspaceid", "account", "accountid", "customer",
    "customerid", "client", "clientid", "role", "roles", "scope", "scopes", "group", "groups", "permission", "permissions",
    "isadmin", "admin", "impersonate", "onbehalfof",
];

fn is_identity(key: &str) -> bool {
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).map(|ch| ch.to_ascii_lowercase()).collect();
    IDENTITY.contains(&plain.as_str()) || is_secret_name(name)
}

/// Takes the allowed keys from the `_meta` of a client, which is not authenticated.
///
/// Keys that say who the client is are refused, as that comes from the transport. Unusable values are left out with a
/// warning.
///
/// # Errors
/// `POLICY_VIOLATION` with the reason `IdentityNotTrusted`, `INVALID_INPUT` for a bad key or prefix.
///
/// ```
/// use contextweaver_convert::tools::call_context::{FromMetaOptions, from_meta};
/// use contextweaver_model::JsonMap;
///
/// let meta = JsonMap::from_iter([("locale".to_owned(), "nb-NO".into()), ("other".to_owned(), 1.into())]);
/// let options = FromMetaOptions { allow: vec!["locale".to_owned()], ..FromMetaOptions::default() };
/// let (values, _) = from_meta(&meta, &options)?;
/// assert_eq!(values.len(), 1);
/// // Who asks comes from the transport, not from the client.
/// let options = FromMetaOptions { allow: vec!["userId".to_owned()], ..FromMetaOptions::default() };
/// assert!(from_meta(&meta, &options).is_err());
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn from_meta(meta: &JsonMap, inbound: &FromMetaOptions) -> Result<(JsonMap, Vec<Warning>)> {
    check_prefix(&inbound.prefix)?;
    let (mut found, mut warnings) = (JsonMap::new(), Vec::new());
    for (place, key) in inbound.allow.iter().enumerate() {
        let at = || format!("/allow/{place}");
        check_key(key).map_err(|error| error.at(at()))?;
        if !inbound.trust_identity && is_identity(key) {
            let message = format!("{} says who asks, which a client must not say itself", quote(key));
            return Err(refused(ErrorCode::PolicyViolation, "IdentityNotTrusted", message, key)
                .at(at())
                .hint("take it from the authorization of the transport, or set trustIdentity"));
        }
        let form = trace::check(key, None).is_some();
        let name = if form || key.contains('/') { key.clone() } else { inbound_name(key, &inbound.prefix) };
        let Some(value) = meta.get(&name) else { continue };
        match unusable(key, &name, value) {
            None => drop(found.insert(key.clone(), value.clone())),
            Some((code, why)) => warnings.push(dropped(code, key, why)),
        }
    }
    Ok((found, warnings))
}

/// Returns how a key is called in `_meta` by who sends it with the same prefix.
fn inbound_name(key: &str, prefix: &str) -> String {
    let labels = prefix.trim_end_matches('/');
    let name =
        meta_name::spelled(labels, key, OnInvalidKey::Encode).ok().flatten().filter(|_| labels == meta_name::MARKER);
    [prefix, name.as_deref().unwrap_or(key)].concat()
}

fn unusable(key: &str, name: &str, value: &Value) -> Option<(&'static str, &'static str)> {
    let reserved = |revision: &Revision| {
        matches!(check_meta_key(name, *revision), Err(MetaKeyProblem::ReservedPrefix | MetaKeyProblem::ReservedName))
    };
    match trace::check(key, value.as_str()) {
        Some(true) => return None,
        Some(false) => return Some(("invalid_trace_context", "does not have the form of the W3C standard")),
        None => {}
    }
    if Revision::ALL.iter().any(reserved) {
        Some(("reserved_meta_key", "belongs to the protocol"))
    } else if value.is_null() {
        Some(("null_value", "is null, which a context does not hold"))
    } else if has_long_string(value) {
        Some(("string_too_long", "has a string that is too long"))
    } else {
        None
    }
}

/// Nesting is bounded by the parser.
fn has_long_string(value: &Value) -> bool {
    let is_long = |text: &str| text.len() > MAX_INBOUND_STRING_BYTES;
    match value {
        Value::String(text) => is_long(text),
        Value::Array(list) => list.iter().any(has_long_string),
        Value::Object(map) => map.iter().any(|(key, value)| is_long(key) || has_long_string(value)),
        _ => false,
    }
}

/// Reads `_meta` as a client sent it; anything but an object holds nothing.
pub fn open_meta(meta: Option<Value>) -> (JsonMap, Vec<Warning>) {
    match meta {
        None => (JsonMap::new(), Vec::new()),
        Some(Value::Object(map)) => (map, Vec::new()),
        Some(other) => {
            let message = format!("`_meta` is no object but {}", type_name(&other));
            (JsonMap::new(), vec![Warning::new("invalid_meta", message, "")])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: &Value) -> JsonMap {
        value.as_object().cloned().unwrap_or_default()
    }

    fn options(prefix: &str, on_invalid: OnInvalidKey) -> ToMetaOptions {
        ToMetaOptions { prefix: prefix.to_owned(), on_invalid, max_bytes: MAX_META_BYTES }
    }

    /// The result and the codes of the warnings, or the reason of the error.
    fn sent(
        values: &Value,
        prefix: &str,
        on_invalid: OnInvalidKey,
    ) -> std::result::Result<(Value, Vec<&'static str>), String> {
        match to_meta(map(values), JsonMap::new(), &options(prefix, on_invalid)) {
            Ok((meta, warnings)) => Ok((Value::Object(meta), warnings.iter().map(|warning| warning.code).collect())),
            Err(error) => Err(error.details().get("reason").and_then(Value::as_str).unwrap_or(error.path()).to_owned()),
        }
    }

    #[test]
    fn entries_become_meta() {
        use OnInvalidKey::{Drop, Encode, Error};
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        for (values, prefix, on_invalid, wanted) in [
            (
                json!({"tenantId": "a", "n": {"x": [1]}}),
                "",
                Error,
                Ok((json!({"tenantId": "a", "n": {"x": [1]}}), vec![])),
            ),
            (
                json!({"tenantId": "a", "org.x/y": 1}),
                "com.example/",
                Error,
                Ok((json!({"com.example/tenantId": "a", "org.x/y": 1}), vec![])),
            ),
            (json!({"traceparent": parent}), "com.example/", Error, Ok((json!({"traceparent": parent}), vec![]))),
            (json!({"traceparent": "secret", "a": 1}), "", Error, Ok((json!({"a": 1}), vec!["invalid_trace_context"]))),
            (json!({"baggage": 5}), "", Error, Ok((json!({}), vec!["invalid_trace_context"]))),
            (json!({"naïve": 1}), "", Error, Err("InvalidMetaKey")),
            (json!({"naïve": 1}), "", Drop, Ok((json!({}), vec!["invalid_meta_key"]))),
            (json!({"naïve": 1}), "", Encode, Ok((json!({"na.C3.AFve": 1}), vec![]))),
            (json!({"naïve": 1}), "com.example/", Encode, Ok((json!({"com.example/na.C3.AFve": 1}), vec![]))),
            (json!({"com.example/é": 1}), "", Encode, Ok((json!({"com.example/x.C3.A9": 1}), vec![]))),
            (json!({"9x/y": 1}), "", Encode, Ok((json!({"9x.2Fy": 1}), vec![]))),
            (
                json!({"a.b": 1}),
                "contextweaver.encoded/",
                Encode,
                Ok((json!({"contextweaver.encoded/xa.2Eb": 1}), vec![])),
            ),
            (json!({"a b": 1, "a.20b": 2}), "", Encode, Ok((json!({"a.20b": 1}), vec!["meta_key_taken"]))),
            (json!({"mcp/x": 1, "MCP/y": 2}), "", Error, Ok((json!({}), vec!["lonely_prefix", "lonely_prefix"]))),
            (json!({"__proto__": 1}), "", Error, Err("InvalidMetaKey")),
            (json!({"constructor": 1}), "", Error, Ok((json!({"constructor": 1}), vec![]))),
            (json!({"progressToken": 1}), "", Error, Err("ReservedMetaKey")),
            (json!({"progressToken": 1}), "com.example/", Error, Ok((json!({"com.example/progressToken": 1}), vec![]))),
            (json!({"io.modelcontextprotocol/related-task": 1}), "", Error, Err("ReservedMetaKey")),
            (json!({"io.modelcontextprotocol/serverInfo": 1}), "", Drop, Err("ReservedMetaKey")),
            (json!({"dev.mcp/x": 1}), "", Encode, Err("ReservedMetaKey")),
            (json!({"modelcontextprotocol.io/x": 1}), "", Error, Err("ReservedMetaKey")),
            (json!({"api.modelcontextprotocol.org/x": 1}), "", Error, Err("ReservedMetaKey")),
            (json!({"com.example.mcp/x": 1}), "", Error, Ok((json!({"com.example.mcp/x": 1}), vec![]))),
            (json!({"dev.mcp/é": 1}), "", Drop, Ok((json!({}), vec!["invalid_meta_key"]))),
            (json!({"x": 1}), "com.example", Error, Err("/prefix")),
            (json!({"x": 1}), "1a/", Error, Err("/prefix")),
            (json!({"x": 1}), "/", Error, Err("/prefix")),
            (json!({"x": 1}), "a/b/", Error, Err("/prefix")),
            (json!({"x": 1}), "io.mcp/", Error, Err("/prefix")),
            (json!({"x": 1}), "mcp/", Error, Err("/prefix")),
        ] {
            let name = format!("{values} {prefix} {on_invalid:?}");
            assert_eq!(sent(&values, prefix, on_invalid), wanted.map_err(str::to_owned), "{name}");
        }
    }

    #[test]
    fn what_was_there_stays() {
        let existing = map(&json!({"progressToken": 7, "tenantId": "theirs"}));
        let values = map(&json!({"tenantId": "ours", "locale": "de"}));
        let (meta, warnings) = to_meta(values, existing, &options("", OnInvalidKey::Error)).unwrap();
        assert_eq!(Value::Object(meta), json!({"progressToken": 7, "tenantId": "theirs", "locale": "de"}));
        assert_eq!((warnings[0].code, warnings[0].path.as_str()), ("meta_key_taken", "/tenantId"));
        assert!(!warnings[0].message.contains("ours"));
    }

    #[test]
    fn the_size_is_bounded() {
        let of = |bytes: usize| map(&json!({"k": "x".repeat(bytes - r#"{"k":""}"#.len())}));
        let all = options("", OnInvalidKey::Error);
        assert!(to_meta(of(8192), map(&json!({"big": "x".repeat(9000)})), &all).is_ok());
        let error = to_meta(of(8193), JsonMap::new(), &all).unwrap_err();
        assert_eq!((error.code(), &error.details()["reason"]), (ErrorCode::TooLarge, &"MetaTooLarge".into()));
        assert!(to_meta(JsonMap::new(), JsonMap::new(), &ToMetaOptions { max_bytes: 0, ..all }).is_ok());
    }

    fn taken(meta: &Value, allow: &[&str], prefix: &str) -> (Value, Vec<&'static str>) {
        let allow = allow.iter().map(|key| (*key).to_owned()).collect();
        let inbound = FromMetaOptions { allow, prefix: prefix.to_owned(), trust_identity: false };
        let (found, warnings) = from_meta(&map(meta), &inbound).unwrap();
        (Value::Object(found), warnings.iter().map(|warning| warning.code).collect())
    }

    #[test]
    fn only_what_was_asked_for_comes_in() {
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let long = "x".repeat(4097);
        for (meta, allow, prefix, wanted, codes) in [
            (json!({"locale": "de", "x": 1}), vec!["locale", "absent"], "", json!({"locale": "de"}), vec![]),
            (
                json!({"locale": "de", "com.example/locale": "fr"}),
                vec!["locale"],
                "com.example/",
                json!({"locale": "fr"}),
                vec![],
            ),
            (json!({"locale": "de"}), vec!["locale"], "com.example/", json!({}), vec![]),
            (
                json!({"traceparent": parent}),
                vec!["traceparent"],
                "com.example/",
                json!({"traceparent": parent}),
                vec![],
            ),
            (json!({"traceparent": "x"}), vec!["traceparent"], "", json!({}), vec!["invalid_trace_context"]),
            (json!({"org.x/y": 1}), vec!["org.x/y"], "com.example/", json!({"org.x/y": 1}), vec![]),
            (json!({"dev.mcp/x": 1}), vec!["dev.mcp/x"], "", json!({}), vec!["reserved_meta_key"]),
            (json!({"a": null}), vec!["a"], "", json!({}), vec!["null_value"]),
            (json!({"a": {"b": [long]}}), vec!["a"], "", json!({}), vec!["string_too_long"]),
            (json!({"a": {long.clone(): 1}}), vec!["a"], "", json!({}), vec!["string_too_long"]),
            (json!({"a": "x".repeat(4096)}), vec!["a"], "", json!({"a": "x".repeat(4096)}), vec![]),
            (
                json!({"contextweaver.encoded/xa.2Eb": 1}),
                vec!["a.b"],
                "contextweaver.encoded/",
                json!({"a.b": 1}),
                vec![],
            ),
            (json!({"__proto__": 1}), vec!["__proto__"], "", json!({"__proto__": 1}), vec![]),
        ] {
            assert_eq!(taken(&meta, &allow, prefix), (wanted, codes), "{allow:?} {prefix}");
        }
    }

    #[test]
    fn nobody_says_who_they_are() {
        let of = |key: &str, trust_identity| FromMetaOptions {
            allow: vec![key.into()],
            prefix: String::new(),
            trust_identity,
        };
        for key in
            ["userId", "tenantId", "tenant_id", "authToken", "com.example/userId", "role", "sessionId", "onBehalfOf"]
        {
            let meta = map(&json!({key: "x"}));
            let error = from_meta(&meta, &of(key, false)).unwrap_err();
            assert_eq!((error.path(), &error.details()["reason"]), ("/allow/0", &"IdentityNotTrusted".into()), "{key}");
            assert_eq!(from_meta(&meta, &of(key, true)).unwrap().0, meta, "{key}");
        }
        assert_eq!(from_meta(&JsonMap::new(), &of(&"k".repeat(257), true)).unwrap_err().path(), "/allow/0");
    }

    #[test]
    fn meta_of_another_kind_holds_nothing() {
        assert_eq!(open_meta(None).1, []);
        assert_eq!(open_meta(Some(json!({"a": 1}))).0, map(&json!({"a": 1})));
        assert_eq!(open_meta(Some(json!([1]))).1[0].code, "invalid_meta");
    }
}

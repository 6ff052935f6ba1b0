//! Results of read-only tools that are given again without asking the server.

use serde_json::{Value, json};

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result, limits};
use contextweaver_model::json::{Fields, Record, to_sorted_compact};
use contextweaver_text::hash::sha256_hex;

use crate::glob::Glob;

/// Seconds that a result is kept unless the policy says otherwise.
pub const CACHE_TTL_SECONDS: f64 = 60.0;
/// Results that are kept unless the policy says otherwise.
pub const CACHE_ENTRIES: u64 = 256;
/// Most results that may be kept.
pub const MAX_CACHE_ENTRIES: u64 = 10_000;
/// Bytes of all results together unless the policy says otherwise.
pub const CACHE_BYTES: u64 = 8 * 1024 * 1024;

/// What is kept, how long and how much of it.
#[derive(Debug, Clone, PartialEq, Record)]
#[record(default, closed)]
pub struct CachePolicy {
    /// Seconds that a result is kept.
    #[record(range = 0.0..=limits::MAX_TTL_SECONDS)]
    pub ttl_seconds: f64,
    /// Results that are kept.
    #[record(with = max_entries)]
    pub max_entries: u64,
    /// Bytes of all results together.
    #[record(with = max_bytes)]
    pub max_bytes: u64,
    /// The tools whose results are kept, by globs of ids and names; none for all that are read-only.
    #[record(with = tools)]
    pub tools: Option<Vec<Glob>>,
}

impl Default for CachePolicy {
    fn default() -> Self {
        Self { ttl_seconds: CACHE_TTL_SECONDS, max_entries: CACHE_ENTRIES, max_bytes: CACHE_BYTES, tools: None }
    }
}

impl CachePolicy {
    /// Returns the policy as [`Self::from_value`] reads it.
    pub fn to_json(&self) -> Value {
        let mut record =
            json!({ "ttl_seconds": self.ttl_seconds, "max_entries": self.max_entries, "max_bytes": self.max_bytes });
        if let Some(tools) = &self.tools {
            record["tools"] = tools.iter().map(Glob::as_str).collect();
        }
        record
    }

    /// Tells whether results of a tool are kept. The caller makes sure that it is read-only.
    pub fn covers(&self, tool_id: &str, tool_name: &str) -> bool {
        let matches = |glob: &Glob| glob.matches(tool_id) || glob.matches(tool_name);
        self.tools.as_ref().is_none_or(|tools| tools.iter().any(matches))
    }
}

fn max_entries(fields: &mut Fields, key: &'static str, base: u64) -> Result<u64> {
    at_least_one(fields, key, base, MAX_CACHE_ENTRIES)
}

fn max_bytes(fields: &mut Fields, key: &'static str, base: u64) -> Result<u64> {
    at_least_one(fields, key, base, limits::MAX_STORE_BYTES as u64)
}

fn at_least_one(fields: &mut Fields, key: &'static str, base: u64, max: u64) -> Result<u64> {
    match fields.uint_or(key, base, max)? {
        0 => Err(Error::new(ErrorCode::OutOfRange, "expected a number from 1 on, got 0")
            .at(fields.at(key))
            .hint("leave the cache out to keep nothing")),
        count => Ok(count),
    }
}

fn tools(fields: &mut Fields, key: &'static str, base: Option<Vec<Glob>>) -> Result<Option<Vec<Glob>>> {
    let at = fields.at(key);
    match fields.get::<Option<Vec<String>>>(key)? {
        None => Ok(base),
        Some(tools) => Glob::read_all(&tools, &at).map(Some),
    }
}

/// Returns the key of a call: the same for the same tool with the same arguments, whatever the order of their keys.
pub fn cache_key(tool_id: &str, args: &Value) -> String {
    sha256_hex(&format!("{tool_id}\0{}", to_sorted_compact(args)))
}

/// A result that is kept.
#[derive(Debug, Clone, PartialEq)]
struct CachedResult {
    result: Value,
    bytes: u64,
    /// When it is too old, in milliseconds.
    until_ms: f64,
    /// Counts up with each use.
    used: u64,
}

/// Results that are kept for some time, those longest not used leaving first.
///
/// One belongs to one session: what a server answers may be meant for this user only. Errors are not put in, and all
/// of it is cleared when the server's tools change.
///
/// ```
/// use contextweaver_gateway::{CachePolicy, ResultCache, cache_key};
/// use serde_json::json;
///
/// let mut cache = ResultCache::new(CachePolicy::default());
/// let key = cache_key("weather:get", &json!({ "city": "Oslo" }));
/// cache.insert(&key, json!("rain"), 4, 0.0);
/// assert_eq!(cache.get(&key, 59_999.0), Some(&json!("rain")));
/// assert_eq!(cache.get(&key, 60_000.0), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct ResultCache {
    policy: CachePolicy,
    entries: SortedMap<String, CachedResult>,
    /// Keys in the order of use.
    order: SortedMap<u64, String>,
    bytes: u64,
    uses: u64,
}

impl ResultCache {
    /// Makes an empty cache.
    pub fn new(policy: CachePolicy) -> Self {
        Self { policy, entries: SortedMap::new(), order: SortedMap::new(), bytes: 0, uses: 0 }
    }

    /// Returns the policy.
    pub fn policy(&self) -> &CachePolicy {
        &self.policy
    }

    /// Returns the number of results that are kept.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the bytes of all results that are kept.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the result of a key, unless it is too old.
    pub fn get(&mut self, key: &str, now_ms: f64) -> Option<&Value> {
        if self.entries.get(key)?.until_ms <= now_ms {
            self.remove(key);
            return None;
        }
        self.uses += 1;
        let (uses, entry) = (self.uses, self.entries.get_mut(key)?);
        self.order.remove(&entry.used);
        entry.used = uses;
        self.order.insert(uses, key.to_owned());
        Some(&entry.result)
    }

    /// Keeps a result of so many bytes; one that is larger than the cache is not kept.
    pub fn insert(&mut self, key: &str, result: Value, bytes: usize, now_ms: f64) {
        self.remove(key);
        let bytes = (bytes as u64).saturating_add(key.len() as u64);
        if bytes > self.policy.max_bytes {
            return;
        }
        while self.entries.len() as u64 >= self.policy.max_entries || self.bytes + bytes > self.policy.max_bytes {
            let Some(oldest) = self.order.first().map(|(_, key)| key.clone()) else { break };
            self.remove(&oldest);
        }
        self.uses += 1;
        let until_ms = now_ms + self.policy.ttl_seconds * 1000.0;
        self.entries.insert(key.to_owned(), CachedResult { result, bytes, until_ms, used: self.uses });
        self.order.insert(self.uses, key.to_owned());
        self.bytes += bytes;
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.order.clear();
        self.bytes = 0;
    }

    fn remove(&mut self, key: &str) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.used);
            self.bytes -= entry.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use contextweaver_test_support::property;
    use proptest::prelude::*;

    use super::*;

    fn cache(policy: Value) -> ResultCache {
        ResultCache::new(CachePolicy::from_value(policy, "").unwrap())
    }

    #[test]
    fn keys_tell_tools_and_arguments_apart() {
        let key = cache_key("t", &json!({ "a": 1, "b": [2] }));
        assert_eq!(key, cache_key("t", &json!({ "b": [2], "a": 1 })));
        for (tool, args) in
            [("u", json!({ "a": 1, "b": [2] })), ("t", json!({ "a": "1", "b": [2] })), ("t", json!({ "a": 1 }))]
        {
            assert_ne!(key, cache_key(tool, &args));
        }
    }

    #[test]
    fn what_was_not_used_longest_leaves_first() {
        let mut cache = cache(json!({ "max_entries": 2 }));
        cache.insert("a", json!(1), 1, 0.0);
        cache.insert("b", json!(2), 1, 0.0);
        assert!(cache.get("a", 1.0).is_some());
        cache.insert("c", json!(3), 1, 1.0);
        for (key, wanted) in [("a", Some(json!(1))), ("b", None), ("c", Some(json!(3)))] {
            assert_eq!(cache.get(key, 2.0), wanted.as_ref(), "{key}");
        }
        cache.clear();
        assert!(cache.is_empty() && cache.bytes() == 0 && cache.get("a", 2.0).is_none());
    }

    #[test]
    fn policies_of_another_shape_are_refused() {
        for (given, code, path) in [
            (json!({ "ttl": 1 }), "UNKNOWN_FIELD", "/c/ttl"),
            (json!({ "max_entries": 0 }), "OUT_OF_RANGE", "/c/max_entries"),
            (json!({ "ttl_seconds": -1 }), "OUT_OF_RANGE", "/c/ttl_seconds"),
            (json!({ "tools": ["a", ""] }), "INVALID_INPUT", "/c/tools/1"),
        ] {
            let error = CachePolicy::from_value(given.clone(), "/c").unwrap_err();
            assert_eq!((error.code().as_str(), error.path()), (code, path), "{given}");
        }
        let given = json!({ "tools": ["weather:*", "read_*"], "ttl_seconds": 1.5, "max_entries": 3, "max_bytes": 9 });
        let policy = CachePolicy::from_value(given.clone(), "").unwrap();
        assert_eq!(policy.to_json(), given);
        assert!(policy.covers("weather:get#0", "get") && policy.covers("fs:read_file", "read_file"));
        assert!(!policy.covers("fs:write_file", "write_file") && CachePolicy::default().covers("a", "b"));
    }

    proptest! {
        #![proptest_config(property(1_000))]

        #[test]
        fn it_never_holds_more_than_it_may_and_nothing_old(
            steps in prop::collection::vec((0_u8..8, 0_usize..60, 0_u16..2_000, any::<bool>()), 0..80),
        ) {
            let mut cache = cache(json!({ "max_entries": 3, "max_bytes": 100, "ttl_seconds": 2 }));
            let mut now = 0.0;
            let mut last: SortedMap<u8, (f64, usize)> = SortedMap::new();
            for (name, bytes, wait, is_insert) in steps {
                now += f64::from(wait);
                let key = name.to_string();
                if is_insert {
                    cache.insert(&key, json!(bytes), bytes, now);
                    last.insert(name, (now, bytes));
                } else if let Some(found) = cache.get(&key, now) {
                    let (at, bytes) = last.get(&name).copied().unwrap();
                    prop_assert!(*found == json!(bytes) && now < at + 2_000.0);
                }
                let sum: u64 = cache.entries.values().map(|entry| entry.bytes).sum();
                prop_assert!(cache.len() <= 3 && sum == cache.bytes() && sum <= 100);
                prop_assert_eq!(cache.order.len(), cache.len());
            }
        }
    }
}

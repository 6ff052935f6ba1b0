//! Snapshots of what tools can do, and differences between snapshots, in the form and with the digests of version 0.18.
//!
//! Digests are taken of JSON text, in which `0` and `0.0` differ and whole numbers have any length. Everything here
//! therefore starts from text.

mod numbers;

use serde::Serialize;
use serde_json::{Value, json};

use super::load::{InvalidTools, load_catalog};
use super::risk::{assess, same_value, worst};
use contextweaver_base::order::{self, SortedMap};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::mcp::{mcp_tool_to_capability, tool_list};
use contextweaver_model::SelectableItem;
use contextweaver_model::json::{pointer, wrong_type};
use contextweaver_text::hash::sha256_hex;
use contextweaver_text::quote::quote;

/// The name and version of a snapshot's form.
pub const SNAPSHOT_SCHEMA: &str = "contextweaver.capability-snapshot@1";
/// The name and version of a difference's form.
pub const CAPABILITY_DIFF_SCHEMA: &str = "contextweaver.capability-diff@1";
/// Types of sources that a snapshot may name. [`CapabilitySnapshot::build`] reads only the first two.
pub const SOURCE_TYPES: &[&str] = &["native", "mcp", "openapi"];

const DIGEST_PREFIX: &str = "sha256:";

/// What the tools of a source could do at one point in time.
#[derive(Debug, Clone, PartialEq)]
pub struct CapabilitySnapshot {
    source_type: String,
    content_digest: String,
    capability_digest: String,
    /// One record for each capability, sorted by id. Whole numbers beyond 64 bits are marked as in [`numbers`].
    capabilities: Vec<Value>,
}

/// A capability that differs between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CapabilityChange {
    /// Id of the capability.
    pub id: String,
    /// `documentation_only`, `contract_changed` or `metadata_or_behavior_changed`.
    #[cfg_attr(
        feature = "ts",
        ts(type = "\"documentation_only\" | \"contract_changed\" | \"metadata_or_behavior_changed\"")
    )]
    pub classification: &'static str,
    /// `none`, `review_required` or `potentially_breaking`, judged by `paths` alone.
    #[cfg_attr(feature = "ts", ts(type = "\"none\" | \"potentially_breaking\" | \"review_required\""))]
    pub risk: &'static str,
    /// JSON pointers of the fields that differ.
    pub paths: Vec<String>,
    /// What the change may break, judged by the values before and after; null when either is no valid tool.
    #[cfg_attr(
        feature = "ts",
        ts(type = "\"none\" | \"documentation\" | \"compatible\" | \"review\" | \"breaking\" | null")
    )]
    pub effect: Option<&'static str>,
}

/// What changed between two snapshots.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CapabilityDiff {
    /// Name of this record's form.
    pub schema: &'static str,
    /// Digest of the capabilities before.
    pub before_digest: String,
    /// Digest of the capabilities after.
    pub after_digest: String,
    /// Whether the source differs in any byte.
    pub source_changed: bool,
    /// Ids only the later snapshot has.
    pub added: Vec<String>,
    /// Ids only the earlier snapshot has.
    pub removed: Vec<String>,
    /// Capabilities of both that differ.
    pub changed: Vec<CapabilityChange>,
    /// Whether anything was added, removed or changed.
    pub has_changes: bool,
}

fn digest(text: &str) -> String {
    format!("{DIGEST_PREFIX}{}", sha256_hex(text))
}

impl CapabilitySnapshot {
    /// Takes a snapshot of a source: a catalog of contextweaver (`native`), or the tools of a `tools/list` capture (`mcp`).
    /// An unusable tool is an error; in a catalog, so is a dependency that no tool provides.
    ///
    /// # Errors
    ///
    /// Fails with `UNSUPPORTED` for another type of source, as [`validate_snapshot`] does for text that cannot be read, with
    /// `INVALID_INPUT` or `MISSING_FIELD` for JSON of another shape, `DUPLICATE_ID` for two capabilities with one id, and
    /// with the first finding about a tool.
    pub fn build(source_text: &str, source_type: &str) -> Result<Self> {
        let value = match source_type {
            "native" | "mcp" => numbers::parse(source_text)?,
            other => {
                let message = format!("capabilities cannot be read from {}", quote(other));
                return Err(Error::new(ErrorCode::Unsupported, message).at("/source_type").hint("one of: native mcp"));
            }
        };
        let mut capabilities = if source_type == "mcp" { from_mcp(value)? } else { from_catalog(value)? };
        order::sort_by(&mut capabilities, |a, b| id(a).cmp(id(b)));
        if let Some((first, _)) =
            capabilities.iter().zip(&capabilities[1.min(capabilities.len())..]).find(|(a, b)| id(a) == id(b))
        {
            let message = format!("two capabilities have the id {}", quote(id(first)));
            return Err(Error::new(ErrorCode::DuplicateId, message));
        }
        Ok(Self {
            source_type: source_type.to_owned(),
            content_digest: digest(source_text),
            capability_digest: digest(&numbers::canonical(&capabilities)),
            capabilities,
        })
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    ///
    /// Fails as [`validate_snapshot`] does, and with `INVALID_INPUT` when that finds a problem.
    pub fn load(text: &str) -> Result<Self> {
        let value = numbers::parse(text)?;
        let problems = problems(&value);
        if let Some(first) = problems.first() {
            return Err(Error::new(ErrorCode::InvalidInput, first.clone()).detail("problems", problems.clone()));
        }
        let text = |at: &str| value.pointer(at).and_then(Value::as_str).unwrap_or_default().to_owned();
        Ok(Self {
            source_type: text("/source/type"),
            content_digest: text("/source/content_digest"),
            capability_digest: text("/capability_digest"),
            capabilities: value["capabilities"].as_array().cloned().unwrap_or_default(),
        })
    }

    fn record(&self) -> Value {
        json!({
            "schema": SNAPSHOT_SCHEMA,
            "source": { "type": self.source_type, "content_digest": self.content_digest },
            "capability_digest": self.capability_digest,
            "capabilities": self.capabilities,
        })
    }

    /// Writes the snapshot with sorted keys; reading it gives the same snapshot.
    pub fn to_text(&self) -> String {
        numbers::canonical(&[self.record()]).trim_start_matches('[').trim_end_matches(']').to_owned()
    }

    /// Returns the snapshot as JSON. Whole numbers beyond 64 bits become floats; [`CapabilitySnapshot::to_text`]
    /// keeps them.
    pub fn to_value(&self) -> Value {
        numbers::unmark(self.record())
    }

    /// Returns the snapshot with the number and the ids of its capabilities in place of the capabilities themselves.
    pub fn inspect(&self) -> Value {
        json!({
            "schema": SNAPSHOT_SCHEMA,
            "source": { "type": self.source_type, "content_digest": self.content_digest },
            "capability_digest": self.capability_digest,
            "capability_count": self.capabilities.len(),
            "capability_ids": self.capabilities.iter().map(id).collect::<Vec<_>>(),
        })
    }
}

fn id(capability: &Value) -> &str {
    capability.get("id").and_then(Value::as_str).unwrap_or_default()
}

fn from_mcp(value: Value) -> Result<Vec<Value>> {
    if value.get("result").is_some() {
        return Err(Error::new(ErrorCode::InvalidInput, "expected a list of tools, got a response").at("/result"));
    }
    let tools = tool_list(value)?;
    if tools.is_empty() {
        return Err(Error::new(ErrorCode::InvalidInput, "there are no tools").at("/tools"));
    }
    let tools = tools.into_iter().enumerate().map(|(index, tool)| {
        let item = mcp_tool_to_capability(tool, &format!("/tools/{index}"))?;
        let mut record = json!(item);
        record["id"] = format!("mcp:{}", item.name).into();
        record["normalized_id"] = item.id.into();
        Ok(record)
    });
    tools.collect()
}

fn from_catalog(value: Value) -> Result<Vec<Value>> {
    if !value.is_array() {
        return Err(wrong_type("", "an array of tools", &value));
    }
    let loaded = load_catalog(value, InvalidTools::Raise)?;
    Ok(loaded.catalog.items().map(|item| json!(item)).collect())
}

/// Lists what is wrong with the text of a snapshot. The list of a valid one is empty.
///
/// # Errors
///
/// Fails with `DECODE_FAILED` for text that is no JSON, `TOO_LARGE` or `TOO_DEEP` for text beyond the limits, and
/// `UNSUPPORTED` for text that has the escaped control character U+0001 beside a whole number beyond 64 bits or `-0`.
pub fn validate_snapshot(text: &str) -> Result<Vec<String>> {
    numbers::parse(text).map(|value| problems(&value))
}

fn problems(snapshot: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let mut need = |holds: bool, problem: &str| {
        if !holds {
            found.push(problem.to_owned());
        }
        holds
    };
    if !need(snapshot.is_object(), "snapshot must be a JSON object") {
        return found;
    }
    let text = |at: &str| snapshot.pointer(at).and_then(Value::as_str);
    need(text("/schema") == Some(SNAPSHOT_SCHEMA), &format!("schema must be '{SNAPSHOT_SCHEMA}'"));
    if need(snapshot.get("source").is_some_and(Value::is_object), "source must be an object") {
        let known = text("/source/type").is_some_and(|kind| SOURCE_TYPES.contains(&kind));
        need(known, "source.type must be native, mcp, or openapi");
        let has_digest = text("/source/content_digest").is_some_and(|digest| digest.starts_with(DIGEST_PREFIX));
        need(has_digest, "source.content_digest must be a sha256 digest");
    }
    let list = snapshot.get("capabilities").and_then(Value::as_array);
    need(list.is_some(), "capabilities must be a list");
    let Some(list) = list else { return found };
    let mut ids = Vec::new();
    for (index, entry) in list.iter().enumerate() {
        if need(entry.is_object(), &format!("capabilities[{index}] must be an object"))
            && need(!id(entry).is_empty(), &format!("capabilities[{index}].id must be a non-empty string"))
        {
            ids.push(id(entry));
        }
    }
    need(ids.is_sorted(), "capabilities must be sorted by id");
    order::sort(&mut ids);
    need(ids.windows(2).all(|pair| pair[0] != pair[1]), "capability ids must be unique");
    let matches = text("/capability_digest") == Some(&digest(&numbers::canonical(list)));
    need(matches, "capability_digest does not match capabilities");
    found
}

/// Compares two snapshots.
///
/// # Examples
///
/// ```
/// use contextweaver_routing::{CapabilitySnapshot, diff_snapshots};
///
/// let before = r#"{"tools":[{"name":"read","description":"Read a file.","inputSchema":{"type":"object"}}]}"#;
/// let after = before.replace("Read a file.", "Read or delete a file.");
/// let diff = diff_snapshots(&CapabilitySnapshot::build(before, "mcp")?, &CapabilitySnapshot::build(&after, "mcp")?);
/// assert!(diff.added.is_empty() && diff.removed.is_empty());
/// assert_eq!(diff.changed.len(), 1);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn diff_snapshots(before: &CapabilitySnapshot, after: &CapabilitySnapshot) -> CapabilityDiff {
    let (old, new) = (by_id(before), by_id(after));
    let without = |some: &SortedMap<&str, &Value>, other: &SortedMap<&str, &Value>| -> Vec<String> {
        some.keys().filter(|id| !other.contains_key(*id)).map(|id| (*id).to_owned()).collect()
    };
    let mut changed = Vec::new();
    for (id, was) in old.iter() {
        let Some(is) = new.get(id) else { continue };
        let mut paths = Vec::new();
        changed_paths(was, is, "", &mut paths);
        if !paths.is_empty() {
            let (classification, risk) = classify(&paths);
            changed.push(CapabilityChange {
                id: (*id).to_owned(),
                classification,
                risk,
                effect: effect(was, is),
                paths,
            });
        }
    }
    let (added, removed) = (without(&new, &old), without(&old, &new));
    CapabilityDiff {
        schema: CAPABILITY_DIFF_SCHEMA,
        before_digest: before.capability_digest.clone(),
        after_digest: after.capability_digest.clone(),
        source_changed: before.content_digest != after.content_digest,
        has_changes: !(added.is_empty() && removed.is_empty() && changed.is_empty()),
        added,
        removed,
        changed,
    }
}

fn by_id(snapshot: &CapabilitySnapshot) -> SortedMap<&str, &Value> {
    let mut map = SortedMap::new();
    map.extend(snapshot.capabilities.iter().map(|capability| (id(capability), capability)));
    map
}

/// Returns what a change may break, as in [`CapabilityChange::effect`].
fn effect(was: &Value, is: &Value) -> Option<&'static str> {
    let read = |value: &Value| SelectableItem::from_value(numbers::unmark(value.clone()), "").ok();
    Some(worst(&assess(&read(was)?, &read(is)?)))
}

/// Collects JSON pointers of the differences. Objects are compared key by key, lists as a whole. The parser has bounded the
/// depth of the recursion.
fn changed_paths(was: &Value, is: &Value, at: &str, paths: &mut Vec<String>) {
    match (was, is) {
        (Value::Object(was), Value::Object(is)) => {
            let mut keys: Vec<&String> = was.keys().chain(is.keys()).collect();
            order::sort_distinct(&mut keys);
            for key in keys {
                let at = pointer(at, key);
                match (was.get(key), is.get(key)) {
                    (Some(was), Some(is)) => changed_paths(was, is, &at, paths),
                    _ => paths.push(at),
                }
            }
        }
        (Value::Number(a), Value::Number(b)) if a.is_f64() != b.is_f64() => paths.push(at.to_owned()),
        _ if same_value(was, is) => {}
        _ => paths.push(at.to_owned()),
    }
}

fn classify(paths: &[String]) -> (&'static str, &'static str) {
    let is_below = |path: &str, tops: &[&str]| tops.iter().any(|top| path.starts_with(top));
    let visible: Vec<&str> = paths.iter().map(String::as_str).filter(|path| *path != "/normalized_id").collect();
    let classification = if !visible.is_empty() && visible.iter().all(|path| is_below(path, &["/description"])) {
        "documentation_only"
    } else if visible.iter().any(|path| is_below(path, &["/args_schema", "/output_schema", "/constraints"])) {
        "contract_changed"
    } else {
        "metadata_or_behavior_changed"
    };
    let mut schemas = paths.iter().filter(|path| is_below(path, &["/args_schema", "/output_schema"])).peekable();
    let risk = if schemas.peek().is_none() {
        "none"
    } else if schemas.any(|path| path.split('/').any(|part| matches!(part, "required" | "type" | "enum"))) {
        "potentially_breaking"
    } else {
        "review_required"
    };
    (classification, risk)
}

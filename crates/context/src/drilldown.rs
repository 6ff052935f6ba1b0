//! Looking into what the prompt leaves out.

use std::borrow::Cow;
use std::sync::{Arc, Weak};

use serde::Serialize;
use serde_json::Value;

use super::callbacks::Outcome;
use super::digest_note::HANDLE_FIELD;
use super::firewall::{self, artifact_ref_of, readable};
use super::ingest_mcp;
use super::manager::ContextManager;
use super::sensitivity;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_content::{Selector, SliceIndex, SniffedText, slice_indexed, views_sniffed};
use contextweaver_model::json::{self, Fields};
use contextweaver_model::{ContextItem, ItemKind, JsonMap, SelectableItem, Sensitivity, ViewSpec};
use contextweaver_text::unicode::quote;

/// A part of an artifact.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Slice {
    /// Handle of the artifact.
    pub handle: String,
    /// The selector, as given.
    pub selector: Value,
    /// The text, secrets masked.
    pub text: String,
    /// Tokens of `text`, by the estimator of the manager.
    pub tokens: u64,
    /// What `total`, `start` and `end` count: `chars`, `lines`, `rows`, `items`, `keys`, `hits`.
    pub unit: &'static str,
    /// Units that the whole artifact has; of rows with conditions, those that fulfil them.
    pub total: u64,
    /// The first one shown, from 0.
    pub start: u64,
    /// The one after the last shown.
    pub end: u64,
    /// Whether `max_tokens` cut the text.
    pub truncated: bool,
    /// The selector that goes on where this one stopped.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub next: Option<JsonMap>,
    /// The item that was added to the log, on request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(optional))]
    pub item_id: Option<String>,
}

/// An artifact that is read page by page: its text with secrets masked, and what is known of it. Without this, every page
/// would be searched for secrets, parsed and counted from the beginning.
#[derive(Debug)]
pub(crate) struct ArtifactReading {
    /// The stored bytes, which are not kept alive; nothing for a text of the log, which may change.
    bytes: Option<Weak<Vec<u8>>>,
    text: String,
    media_type: String,
    index: SliceIndex,
}

impl ArtifactReading {
    /// Tells whether these are the bytes that are stored under a handle now.
    fn is_of(&self, manager: &ContextManager, handle: &str) -> bool {
        let stored = manager.artifacts.shared(handle);
        let media_type = manager.artifacts.artifact_ref(handle).map(|known| known.media_type.as_str());
        let same_bytes = self
            .bytes
            .as_ref()
            .zip(stored)
            .is_some_and(|(bytes, stored)| std::ptr::eq(bytes.as_ptr(), Arc::as_ptr(stored)));
        same_bytes && media_type.is_ok_and(|known| known == self.media_type)
    }
}

/// A request for a part of an artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct DrilldownRequest {
    /// Handle of the artifact.
    pub handle: String,
    /// The part, as the caller wrote it.
    pub selector: Value,
    /// Whether to add the part to the log.
    pub inject: bool,
    /// Parent of the added item.
    pub parent_id: Option<String>,
    /// Most tokens of the text.
    pub max_tokens: Option<u64>,
}

impl DrilldownRequest {
    /// Makes a request for a part of any size, which is not added to the log.
    pub fn new(handle: &str, selector: Value) -> Self {
        Self { handle: handle.to_owned(), selector, inject: false, parent_id: None, max_tokens: None }
    }

    /// Reads a closed request: an unknown field is an error. The selector is read when it is used.
    ///
    /// # Errors
    /// `MISSING_FIELD`, `UNKNOWN_FIELD` and `INVALID_INPUT`, at the path of the field.
    pub fn from_value(value: Value) -> Result<Self> {
        let mut fields = Fields::open(value, "")?;
        let request = Self {
            handle: fields.string("handle")?,
            selector: fields.require("selector")?,
            inject: fields.bool_or("inject", false)?,
            parent_id: fields.opt_string("parent_id")?,
            max_tokens: fields.opt_uint("max_tokens", limits::MAX_BUDGET_TOKENS)?,
        };
        fields.finish()?;
        Ok(request)
    }
}

impl ContextManager {
    /// Reads a part of an artifact. Refused when any item that refers to it is at or above the floor, or redacted.
    ///
    /// Secrets are masked before the part is cut out, as a cut may leave half of one. Lines, rows and characters are
    /// those of the masked text.
    ///
    /// # Errors
    /// `ARTIFACT_NOT_FOUND` and `ARTIFACT_EXPIRED` at `/handle`; `POLICY_VIOLATION` at `/handle` when the artifact belongs to
    /// an item that is withheld; `UNSUPPORTED` for bytes that are no text, for an unknown selector, and for rows of what has
    /// none; `NOT_FOUND` for a column or path that does not exist; `INVALID_INPUT` and the like, below `/selector`, for a
    /// selector that cannot be read.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, DrilldownRequest, ManagerOptions};
    /// use serde_json::json;
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.put_artifact("orders", b"id,state\n1,paid\n2,open\n3,paid\n", "text/csv", "")?;
    /// let selector = json!({ "type": "rows", "where": [{ "column": "state", "value": "open" }] });
    /// let slice = manager.drilldown(&DrilldownRequest::new("orders", selector))?.done().unwrap();
    /// assert_eq!((slice.text.as_str(), slice.unit, slice.total), ("id,state\n2,open", "rows", 1));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn drilldown(&mut self, request: &DrilldownRequest) -> Result<Outcome<Slice>> {
        self.answers.reset();
        let sensitivity = self.owner_sensitivity(&request.handle)?;
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        let mut slice = match self.options.strategy {
            Some(strategy) => strategy.part(self, request)?,
            None => self.part(request)?,
        };
        if request.inject {
            slice.item_id = Some(self.inject(request, &slice.text, sensitivity)?);
        }
        self.answers.settle(self.events.len());
        Ok(Outcome::Done(slice))
    }

    fn part(&mut self, request: &DrilldownRequest) -> Result<Slice> {
        let selector = Selector::from_value(request.selector.clone(), "/selector")?;
        let mut reading = match self.reading.take().filter(|reading| reading.is_of(self, &request.handle)) {
            Some(reading) => {
                // What is read counts as used, also where the text is known.
                self.artifacts.get(&request.handle)?;
                reading
            }
            None => self.open(&request.handle)?,
        };
        let (text, media_type) = (&reading.text, &reading.media_type);
        let estimator = &self.options.estimator;
        let part = slice_indexed(text, media_type, &selector, request.max_tokens, estimator, &mut reading.index)?;
        let slice = Slice {
            handle: request.handle.clone(),
            selector: request.selector.clone(),
            tokens: self.options.estimator.tokens(&part.text),
            text: part.text,
            unit: part.unit,
            total: part.total,
            start: part.start,
            end: part.end,
            truncated: part.truncated,
            next: part.next,
            item_id: None,
        };
        // Who reads page by page is likely to go on.
        self.reading = slice.next.is_some().then_some(reading);
        Ok(slice)
    }

    fn open(&self, handle: &str) -> Result<Box<ArtifactReading>> {
        let (raw, media_type) = self.stored_text(handle)?;
        let text = firewall::mask_secrets(&raw, &self.options).into_owned();
        let bytes = self.artifacts.shared(handle).map(Arc::downgrade);
        Ok(Box::new(ArtifactReading { bytes, text, media_type, index: SliceIndex::default() }))
    }

    /// Returns the views of an artifact: selectors that show all of it page by page, and what to look at first. Bytes that
    /// are no text have none.
    ///
    /// # Errors
    /// `ARTIFACT_NOT_FOUND` and `ARTIFACT_EXPIRED`; `POLICY_VIOLATION` at `/handle` when the artifact belongs to an item that
    /// is withheld.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, ManagerOptions};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// let csv: String = (0..1000).map(|n| format!("{n},paid\n")).collect();
    /// manager.put_artifact("orders", csv.as_bytes(), "text/csv", "")?;
    /// let views = manager.views("orders")?.done().unwrap();
    /// assert!(views.iter().any(|view| view.view_id.starts_with("orders:rows:")));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn views(&mut self, handle: &str) -> Result<Outcome<Vec<ViewSpec>>> {
        self.answers.reset();
        self.owner_sensitivity(handle)?;
        if self.answers.is_waiting() {
            return Ok(Outcome::Need(self.answers.take_needs()));
        }
        self.answers.settle(self.events.len());
        let Ok((raw, media_type)) = self.stored_text(handle) else {
            // Bytes that are no text have no views; a handle that is not known is an error all the same.
            return self.artifacts.get(handle).map(|_| Outcome::Done(Vec::new()));
        };
        let text = firewall::mask_secrets(&raw, &self.options);
        let artifact_ref = match self.artifacts.artifact_ref(handle) {
            Ok(known) => known.clone(),
            Err(_) => artifact_ref_of(handle, &media_type, text.len()),
        };
        Ok(Outcome::Done(views_sniffed(&artifact_ref, &SniffedText::new(&media_type, &text))))
    }

    /// Returns the text behind a handle and its media type: of an artifact, or of a result that the caller put into the
    /// log itself, whose handle is `artifact:` and the item's id.
    fn stored_text(&self, handle: &str) -> Result<(Cow<'_, str>, String)> {
        let missing = match self.artifacts.get(handle) {
            Ok(bytes) => {
                let media_type = &self.artifacts.artifact_ref(handle)?.media_type;
                return match readable(bytes, media_type) {
                    Some(text) => Ok((text, media_type.clone())),
                    None => Err(Error::new(ErrorCode::Unsupported, format!("artifact {} is no text", quote(handle)))
                        .at("/handle")
                        .hint("read its bytes instead")),
                };
            }
            Err(error) => error,
        };
        let item = handle.strip_prefix("artifact:").and_then(|id| self.events.get(id).ok());
        match item.filter(|item| item.kind == ItemKind::ToolResult && item.artifact_ref.is_none()) {
            Some(item) if missing.code() == ErrorCode::ArtifactNotFound => {
                Ok((Cow::Borrowed(&item.text), item.metadata_str("media_type").unwrap_or("text/plain").to_owned()))
            }
            _ => Err(missing.at("/handle")),
        }
    }

    /// Returns the highest label of the items that refer to an artifact, or the policy's refusal.
    fn owner_sensitivity(&self, handle: &str) -> Result<Sensitivity> {
        let policy = &self.options.policy;
        let mut highest = Sensitivity::Public;
        let own = handle.strip_prefix("artifact:");
        let is_owner = |item: &&ContextItem| match &item.artifact_ref {
            Some(artifact) => artifact.handle == handle || ingest_mcp::owns(item, handle),
            None => own == Some(item.id.as_str()),
        };
        for owner in self.events.items().iter().filter(is_owner) {
            let level = sensitivity::classified(owner, &self.options, &self.answers);
            let forbidden = level >= policy.sensitivity_floor || owner.metadata_flag("redacted");
            if forbidden && !policy.allow_redacted_drilldown {
                let message = format!("artifact {} belongs to an item that is withheld", quote(handle));
                return Err(Error::new(ErrorCode::PolicyViolation, message)
                    .at("/handle")
                    .hint("policy.allow_redacted_drilldown permits it"));
            }
            highest = highest.max(level);
            if self.options.is_compat() {
                break;
            }
        }
        Ok(highest)
    }

    fn inject(&mut self, request: &DrilldownRequest, text: &str, sensitivity: Sensitivity) -> Result<String> {
        let kind = request.selector.get("type").and_then(Value::as_str).unwrap_or("");
        let id = format!("drilldown:{}:{kind}:{}", request.handle, self.events.len());
        let mut item = ContextItem::new(id.clone(), ItemKind::ToolResult, text);
        item.sensitivity = sensitivity;
        item.token_estimate = self.options.estimator.tokens(text);
        item.parent_id.clone_from(&request.parent_id);
        item.metadata.insert(HANDLE_FIELD.into(), request.handle.clone().into());
        item.metadata.insert("selector".into(), request.selector.clone());
        self.ingest(item)?;
        Ok(id)
    }
}

/// Returns `drilldown` as a tool for models: its `args_schema` names every selector. To be offered while a model reads
/// results.
///
/// ```
/// let tool = contextweaver_context::drilldown_tool();
/// assert_eq!(tool.name, "drilldown");
/// assert!(tool.args_schema["properties"].get("selector").is_some());
/// ```
pub fn drilldown_tool() -> SelectableItem {
    let text = str::to_owned;
    // As text, because a literal of this size costs more as code; a test reads it.
    let schema = json::parse(include_str!("drilldown_schema.json")).ok();
    let mut metadata = JsonMap::new();
    metadata.insert("builtin".into(), true.into());
    metadata.insert("phase".into(), "interpret".into());
    SelectableItem {
        id: text("contextweaver:drilldown"),
        kind: text("internal"),
        name: text("drilldown"),
        description: text(
            "Fetch a specific slice of a stored artifact. Provide an artifact handle and a selector to retrieve only \
             the data you need.",
        ),
        tags: ["progressive-disclosure", "drilldown", "artifact"].map(str::to_owned).to_vec(),
        namespace: String::new(),
        args_schema: schema.and_then(|schema| schema.as_object().cloned()).unwrap_or_default(),
        metadata,
        ..SelectableItem::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contextweaver_content::SELECTORS;

    #[test]
    fn pages_are_those_of_what_is_stored_now() {
        let mut manager = ContextManager::new(crate::ManagerOptions::default());
        let text =
            |name: &str| (0..200).map(|n| format!("{name} {n} token=hunter22{n}")).collect::<Vec<_>>().join("\n");
        let read = |manager: &mut ContextManager, handle: &str, selector: &Value| {
            let mut request = DrilldownRequest::new(handle, selector.clone());
            request.max_tokens = Some(40);
            manager.drilldown(&request).unwrap().done().unwrap()
        };
        manager.put_artifact("a", text("old").as_bytes(), "text/plain", "").unwrap();
        let first = read(&mut manager, "a", &serde_json::json!({ "type": "lines" }));
        assert!(first.text.starts_with("old 0 token=[") && manager.reading.is_some());
        let next = Value::Object(first.next.unwrap());
        // Read on, from the beginning, of another artifact, and after it was overwritten.
        let second = read(&mut manager, "a", &next);
        manager.reading = None;
        assert_eq!(read(&mut manager, "a", &next), second);
        manager.put_artifact("b", text("other").as_bytes(), "text/plain", "").unwrap();
        assert!(read(&mut manager, "b", &next).text.starts_with("other "));
        assert_eq!(read(&mut manager, "a", &next), second);
        manager.put_artifact("a", text("new").as_bytes(), "text/plain", "").unwrap();
        let renewed = read(&mut manager, "a", &next);
        assert!(renewed.text.starts_with("new ") && !renewed.text.contains("hunter22"));
        manager.artifacts.delete("a").unwrap();
        let gone = manager.drilldown(&DrilldownRequest::new("a", next));
        assert_eq!(gone.unwrap_err().code(), ErrorCode::ArtifactNotFound);
        assert!(manager.reading.is_none());
    }

    #[test]
    fn the_tool_names_every_selector() {
        let schema = drilldown_tool().args_schema;
        let types = &schema["properties"]["selector"]["properties"]["type"]["enum"];
        let names: Vec<&str> = types.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(names.join(" "), SELECTORS);
    }
}

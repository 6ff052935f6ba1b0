//! Looking into what the prompt leaves out.

pub mod abridged;
pub(crate) mod reading;
pub mod request;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use self::reading::ArtifactReading;
use self::request::{DrilldownRequest, Slice};
use crate::callbacks::Outcome;
use crate::digest_note::HANDLE_FIELD;
use crate::firewall::{artifact_ref_of, readable};
use crate::ingest::mcp;
use crate::manager::ContextManager;
use crate::sensitivity;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_content::{Selector, SliceIndex, SniffedText, slice_indexed, views_sniffed};
use contextweaver_model::{ContextItem, ItemKind, Sensitivity, ViewSpec};
use contextweaver_text::quote::quote;

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
        let mut slice = self.part(request)?;
        if request.inject {
            let tokens = self.answers.tokens(&self.options.estimator, &slice.text);
            if self.answers.is_waiting() {
                return Ok(Outcome::Need(self.answers.take_needs()));
            }
            slice.item_id = Some(self.inject(request, &slice.text, tokens, sensitivity)?);
        }
        self.answers.settle(self.events.len());
        Ok(Outcome::Done(slice))
    }

    fn part(&mut self, request: &DrilldownRequest) -> Result<Slice> {
        let selector = Selector::from_value(request.selector.clone(), "/selector")?;
        let mut reading = match self.reading.take().filter(|reading| reading.is_of(&self.artifacts, &request.handle)) {
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
            matches: part.matches,
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
        let text = self.options.readable(&raw).into_owned();
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
        let text = self.options.readable(&raw);
        let known = self.artifacts.known(handle).cloned();
        let artifact_ref = known.unwrap_or_else(|| artifact_ref_of(handle, &media_type, text.len()));
        Ok(Outcome::Done(views_sniffed(&artifact_ref, &SniffedText::new(&media_type, &text))))
    }

    /// Returns the text behind a handle and its media type: of an artifact, or of a result that the caller put into the
    /// log itself, whose handle is `artifact:` and the item's id.
    pub(crate) fn stored_text(&self, handle: &str) -> Result<(Cow<'_, str>, String)> {
        if let Some(bytes) = self.artifacts.used(handle) {
            let media_type = &self.artifacts.artifact_ref(handle)?.media_type;
            return match readable(bytes, media_type) {
                Some(text) => Ok((text, media_type.clone())),
                None => Err(Error::new(ErrorCode::Unsupported, format!("artifact {} is no text", quote(handle)))
                    .at("/handle")
                    .hint("read its bytes instead")),
            };
        }
        let item = handle.strip_prefix("artifact:").and_then(|id| self.events.find(id));
        match item.filter(|item| item.kind == ItemKind::ToolResult && item.artifact_ref.is_none()) {
            Some(item) if self.artifacts.reason_of(handle).is_none() => {
                Ok((Cow::Borrowed(&item.text), item.metadata_str("media_type").unwrap_or("text/plain").to_owned()))
            }
            _ => Err(self.artifacts.missing(handle).at("/handle")),
        }
    }

    /// Returns the items that refer to an artifact.
    pub(crate) fn owners<'a, 'h>(&'a self, handle: &'h str) -> impl Iterator<Item = &'a ContextItem> + use<'a, 'h> {
        let own = handle.strip_prefix("artifact:");
        self.events.items().iter().filter(move |item| match &item.artifact_ref {
            Some(artifact) if artifact.handle == handle => true,
            None if own == Some(item.id.as_str()) => true,
            _ => mcp::owns(item, handle),
        })
    }

    /// Returns the label of an item, unless the policy keeps it from those who look behind the prompt.
    pub(crate) fn open_sensitivity(&self, item: &ContextItem) -> Option<Sensitivity> {
        let policy = &self.options.policy;
        let level = sensitivity::classified(item, &self.options, &self.answers);
        let forbidden = level >= policy.sensitivity_floor || item.metadata_flag("redacted");
        (!forbidden || policy.allow_redacted_drilldown).then_some(level)
    }

    /// Returns the highest label of the items that refer to an artifact, or the policy's refusal.
    pub(crate) fn owner_sensitivity(&self, handle: &str) -> Result<Sensitivity> {
        let mut highest = Sensitivity::Public;
        for owner in self.owners(handle) {
            let level = self.open_sensitivity(owner).ok_or_else(|| {
                let message = format!("artifact {} belongs to an item that is withheld", quote(handle));
                Error::new(ErrorCode::PolicyViolation, message)
                    .at("/handle")
                    .hint("policy.allow_redacted_drilldown permits it")
            })?;
            highest = highest.max(level);
        }
        Ok(highest)
    }

    fn inject(
        &mut self,
        request: &DrilldownRequest,
        text: &str,
        tokens: u64,
        sensitivity: Sensitivity,
    ) -> Result<String> {
        let kind = request.selector.get("type").and_then(Value::as_str).unwrap_or("");
        let id = format!("drilldown:{}:{kind}:{}", request.handle, self.events.len());
        let mut item = ContextItem::new(id.clone(), ItemKind::ToolResult, text);
        item.sensitivity = sensitivity;
        item.token_estimate = tokens;
        item.parent_id.clone_from(&request.parent_id);
        item.metadata.insert(HANDLE_FIELD.into(), request.handle.clone().into());
        item.metadata.insert("selector".into(), request.selector.clone());
        self.append(vec![item], false)?;
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}

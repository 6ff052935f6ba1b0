//! Writing what changed.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Value, json};

use super::counts::{Count, JournalCounts};
use super::{Cursor, KIND};
use crate::manager::ContextManager;
use crate::store::EditedArtifact;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::journal::{JournalBatch, JournalEnd};
use contextweaver_model::json::to_value;
use contextweaver_model::{ContextItem, Sensitivity};

/// How a journal is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalOptions {
    /// Bytes of a part, at most.
    pub part_bytes: usize,
    /// Bytes of an artifact that stands in a part; a larger one is a blob beside it.
    pub inline_bytes: usize,
    /// Whether everything is written, so that nothing before it is needed.
    pub whole: bool,
    /// How many parts were written before, where no cursor tells.
    pub first: u64,
    /// JSON of what the reader must know first; stands in whole journals.
    pub settings: Option<String>,
}

impl Default for JournalOptions {
    fn default() -> Self {
        Self {
            part_bytes: limits::JOURNAL_PART_BYTES,
            inline_bytes: limits::JOURNAL_INLINE_BYTES,
            whole: false,
            first: 0,
            settings: None,
        }
    }
}

/// What is to be stored.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JournalExport {
    /// The lines to append, in order; none where nothing changed.
    #[serde(skip)]
    pub parts: Vec<String>,
    /// Where the journal ends with them.
    pub cursor: String,
    /// How many parts were written before these.
    pub first: u64,
    /// Whether the parts stand for all before them.
    pub whole: bool,
    /// Bytes that must be kept beside the parts, and before them.
    pub blobs: Vec<JournalBlob>,
}

/// Bytes that a journal refers to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JournalBlob {
    /// SHA-256 of the bytes, in lower-case hexadecimal: the name to keep them by.
    pub hash: String,
    /// An artifact that has these bytes.
    pub handle: String,
    /// How many they are.
    pub size_bytes: u64,
}

impl ContextManager {
    /// Returns what changed since a cursor, or everything: lines of text to append to what was stored, in order. Nothing is
    /// changed by it; a cursor whose changes could not be stored may be given again.
    ///
    /// A cursor from before this manager was restored gets everything. What changed takes as many bytes as what is new, and
    /// time for it; 8 bytes of each item are compared beside.
    ///
    /// # Errors
    /// `INVALID_INPUT` at `/cursor` for what is no cursor, or one that another manager wrote; `OUT_OF_RANGE` for parts
    /// that are too small or too large.
    ///
    /// # Examples
    /// ```
    /// use contextweaver_context::{ContextManager, JournalOptions, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "hello"))?;
    /// let first = manager.export_since(None, &JournalOptions::default())?;
    /// manager.ingest(ContextItem::new("a1", ItemKind::AgentMsg, "Good morning."))?;
    /// let second = manager.export_since(Some(&first.cursor), &JournalOptions::default())?;
    /// assert!(second.parts[0].contains("Good morning.") && !second.parts[0].contains("hello"));
    ///
    /// let journal = [first.parts, second.parts].concat().join("\n");
    /// let restored = ContextManager::restore_journal(&journal, ManagerOptions::default(), |_| None)?;
    /// assert_eq!(restored.manager.events().len(), 2);
    /// assert!(restored.findings.is_empty());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn export_since(&self, cursor: Option<&str>, options: &JournalOptions) -> Result<JournalExport> {
        if !(limits::MIN_PART_BYTES..=limits::MAX_PART_BYTES).contains(&options.part_bytes) {
            let wanted = format!("expected {} to {} bytes", limits::MIN_PART_BYTES, limits::MAX_PART_BYTES);
            return Err(Error::new(ErrorCode::OutOfRange, wanted).at("/part_bytes"));
        }
        let cursor = cursor.map(Cursor::parse).transpose()?;
        let now = self.journal_counts();
        if cursor.as_ref().is_some_and(|cursor| !now.reaches(&cursor.counts)) {
            return Err(Error::new(ErrorCode::InvalidInput, "the cursor is ahead of this manager")
                .at("/cursor")
                .hint("a manager that goes on with a journal is made of it by restore"));
        }
        let unknown = JournalEnd { sequence: options.first, sum: 0 };
        let mut end = cursor.as_ref().map_or(unknown, |cursor| cursor.end);
        let known = cursor.map(|cursor| cursor.counts).filter(|counts| !options.whole && self.knows_since(counts));
        let first = end.sequence;
        let mut changes = Changes {
            manager: self,
            inline_bytes: options.inline_bytes,
            list: Vec::new(),
            blobs: Vec::new(),
            told: HashSet::new(),
        };
        if known != Some(now) {
            changes.add_all(known.as_ref())?;
        }
        let Changes { list, blobs, .. } = changes;
        let whole = known.is_none();
        let parts = if list.is_empty() && !whole {
            Vec::new()
        } else {
            let settings = options.settings.as_deref();
            let batch = JournalBatch { kind: KIND, whole, settings, changes: list, counts: now.all() };
            batch.write(&mut end, options.part_bytes)
        };
        let cursor = Cursor { end, counts: now }.write();
        Ok(JournalExport { parts, cursor, first, whole, blobs })
    }

    /// Tells whether all is known that changed since.
    fn knows_since(&self, counts: &JournalCounts) -> bool {
        counts.reaches(&self.journal.base)
            && counts.of(Count::Artifacts) >= self.artifacts.removed().floor()
            && counts.of(Count::Facts) >= self.facts.removed().floor()
            && counts.of(Count::Episodes) >= self.episodes.removed().floor()
    }
}

struct Changes<'a> {
    manager: &'a ContextManager,
    inline_bytes: usize,
    list: Vec<String>,
    blobs: Vec<JournalBlob>,
    /// Hashes of the blobs: artifacts may have the same bytes.
    told: HashSet<String>,
}

impl Changes<'_> {
    fn add_all(&mut self, since: Option<&JournalCounts>) -> Result<()> {
        let after = |count: Count| since.map(|counts| counts.of(count));
        let from = |count: Count| after(count).unwrap_or(0);
        self.add_removed(since)?;
        self.add_items(after(Count::Items))?;
        self.add_artifacts(after(Count::Artifacts))?;
        if let Some(edit) = after(Count::Artifacts) {
            for (handle, is_pinned, expires) in self.manager.artifacts.marked_since(edit) {
                self.add(&json!({ "mark": handle, "pinned": is_pinned, "expires": expires }))?;
            }
        }
        let used = self.manager.artifacts.used_since(from(Count::Uses));
        if self.manager.artifacts.uses() > from(Count::Uses) && !used.is_empty() {
            let used: Vec<Value> = used.into_iter().map(Value::from).collect();
            self.add(&json!({ "used": used }))?;
        }
        for fact in self.manager.facts.records_since(after(Count::Facts)) {
            self.add(&Tagged("fact", &fact))?;
        }
        let sequence = self.manager.fact_sequence;
        if let Some(next) = sequence.filter(|next| from(Count::FactSequence) != next + 1) {
            self.add(&json!({ "fact_sequence": next }))?;
        }
        for (added, episode) in self.manager.episodes.records_since(after(Count::Episodes)) {
            let text = text_of(&episode)?;
            self.list.push(format!("{{\"episode\":{text},\"added\":{added}}}"));
        }
        for told in self.manager.known_messages.changed_since(after(Count::Messages)) {
            self.add(&json!({ "messages": told }))?;
        }
        for told in self.manager.running.changed_since(after(Count::Running)) {
            self.add(&json!({ "running": told }))?;
        }
        if self.manager.journal.calibrations > from(Count::Calibrations) || since.is_none() {
            self.add(&Tagged("calibration", &self.manager.calibrations))?;
        }
        for record in self.manager.rule_book.changed_since(after(Count::Rules)) {
            self.add(&Tagged("rule", record))?;
        }
        if since.is_none() && !self.manager.unknown.is_empty() {
            self.add(&Tagged("unknown", &self.manager.unknown))?;
        }
        Ok(())
    }

    fn add(&mut self, change: &impl Serialize) -> Result<()> {
        self.list.push(text_of(change)?);
        Ok(())
    }

    /// Tells what went, before what came in its place. In a journal that is whole, only what is remembered of what went.
    fn add_removed(&mut self, since: Option<&JournalCounts>) -> Result<()> {
        let artifacts = &self.manager.artifacts;
        let mut gone: Vec<&str> = match since {
            Some(counts) => artifacts.removed().since(counts.of(Count::Artifacts)).collect(),
            None => artifacts.lost().collect(),
        };
        // Of what went and came back and went, the last time counts.
        let mut told = HashSet::new();
        gone.reverse();
        gone.retain(|handle| artifacts.known(handle).is_none() && told.insert(*handle));
        for handle in gone.into_iter().rev() {
            let mut change = json!({ "artifact_gone": handle });
            if let Some(reason) = artifacts.reason_of(handle) {
                change["reason"] = reason.into();
            }
            if let Some(known) = artifacts.absent(handle) {
                change["artifact"] = to_value(known);
            }
            self.add(&change)?;
        }
        let Some(since) = since else { return Ok(()) };
        for id in self.manager.facts.removed().since(since.of(Count::Facts)) {
            if !self.manager.facts.contains(id) {
                self.add(&json!({ "fact_gone": id }))?;
            }
        }
        for added in self.manager.episodes.removed().since(since.of(Count::Episodes)) {
            self.add(&json!({ "episode_gone": added.parse::<u64>().unwrap_or(0) }))?;
        }
        Ok(())
    }

    fn add_items(&mut self, since: Option<u64>) -> Result<()> {
        let events = &self.manager.events;
        let changed: Vec<usize> = match since {
            Some(change) => events.changed_since(change).collect(),
            None => (0..events.len()).collect(),
        };
        // Else what is new stands at the end, in this order.
        let is_moved = since.is_some_and(|change| events.rearranged() > change);
        for at in &changed {
            let item = &events.items()[*at];
            let is_known = !events.has_unknown(&item.id);
            let mut text = if is_known { text_of(&SparseItem(item))? } else { text_of(&events.record(*at))? };
            text.insert_str(0, "{\"item\":");
            if is_moved {
                push_field(&mut text, "at", &at.to_string());
            }
            if let Some(envelope) = self.manager.envelopes.get(&item.id) {
                let mut told = to_value(envelope);
                // What the item says already.
                if let Value::Object(fields) = &mut told {
                    if envelope.summary == item.text {
                        fields.remove("summary");
                    }
                    if envelope.artifacts.iter().eq(item.artifact_ref.as_ref()) {
                        fields.remove("artifacts");
                    }
                }
                push_field(&mut text, "envelope", &told.to_string());
            }
            text.push('}');
            self.list.push(text);
        }
        Ok(())
    }

    fn add_artifacts(&mut self, since: Option<u64>) -> Result<()> {
        let edited = self.manager.artifacts.edited_since(since);
        let mut owners: HashMap<&str, usize> = HashMap::new();
        if !edited.is_empty() {
            let items = self.manager.events.items().iter().enumerate();
            owners.extend(items.filter_map(|(at, item)| Some((item.artifact_ref.as_ref()?.handle.as_str(), at))));
        }
        for artifact in edited {
            let owner = owners.get(artifact.artifact_ref.handle.as_str());
            let content = self.content(&artifact, owner.copied());
            let EditedArtifact { artifact_ref, is_pinned, expires, .. } = artifact;
            let mut text = match owner.map(|at| &self.manager.events.items()[*at]) {
                Some(item) if item.artifact_ref.as_ref() == Some(artifact_ref) && !self.has_rest(artifact_ref) => {
                    format!("{{\"artifact_of\":{}", Value::from(item.id.as_str()))
                }
                _ => format!("{{\"artifact\":{}", text_of(&self.manager.artifacts.record(artifact_ref))?),
            };
            if let Some((name, content)) = content {
                push_field(&mut text, name, &content.to_string());
            }
            if is_pinned {
                push_field(&mut text, "pinned", "true");
            }
            if let Some(expires) = expires {
                push_field(&mut text, "expires", &Value::from(expires).to_string());
            }
            text.push('}');
            self.list.push(text);
        }
        Ok(())
    }

    fn has_rest(&self, artifact_ref: &contextweaver_model::ArtifactRef) -> bool {
        self.manager.artifacts.has_unknown(&artifact_ref.handle)
    }

    /// Returns the bytes of an artifact as a field of its change, or where they are.
    fn content(&mut self, artifact: &EditedArtifact, owner: Option<usize>) -> Option<(&'static str, Value)> {
        let known = artifact.artifact_ref;
        let Some(bytes) = artifact.bytes else {
            // They were somewhere else when the journal was read.
            return (!known.content_hash.is_empty()).then(|| ("blob", known.content_hash.as_str().into()));
        };
        let text = std::str::from_utf8(bytes).ok();
        if let Some(item) = owner.map(|at| &self.manager.events.items()[at])
            && text == Some(&item.text)
        {
            return Some(("text_of", item.id.as_str().into()));
        }
        if bytes.len() > self.inline_bytes && !known.content_hash.is_empty() {
            let (hash, handle) = (known.content_hash.clone(), known.handle.clone());
            if self.told.insert(hash.clone()) {
                self.blobs.push(JournalBlob { hash: hash.clone(), handle, size_bytes: bytes.len() as u64 });
            }
            return Some(("blob", hash.into()));
        }
        Some(match text {
            Some(text) => ("text", text.into()),
            None => ("data", STANDARD.encode(bytes).into()),
        })
    }
}

/// An item without the fields that say nothing: most turns are short.
struct SparseItem<'a>(&'a ContextItem);

impl Serialize for SparseItem<'_> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let item = self.0;
        let mut map = s.serialize_map(None)?;
        map.serialize_entry("id", &item.id)?;
        map.serialize_entry("kind", &item.kind)?;
        map.serialize_entry("text", &item.text)?;
        if item.token_estimate != 0 {
            map.serialize_entry("token_estimate", &item.token_estimate)?;
        }
        if item.sensitivity != Sensitivity::Public {
            map.serialize_entry("sensitivity", &item.sensitivity)?;
        }
        if !item.metadata.is_empty() {
            map.serialize_entry("metadata", &item.metadata)?;
        }
        if let Some(parent) = &item.parent_id {
            map.serialize_entry("parent_id", parent)?;
        }
        if let Some(artifact_ref) = &item.artifact_ref {
            map.serialize_entry("artifact_ref", artifact_ref)?;
        }
        map.end()
    }
}

/// An object with one field.
struct Tagged<'a, T>(&'static str, &'a T);

impl<T: Serialize> Serialize for Tagged<'_, T> {
    fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        s.collect_map([(self.0, self.1)])
    }
}

/// Adds a field to an object that is being written.
fn push_field(text: &mut String, name: &str, json: &str) {
    for part in [",\"", name, "\":", json] {
        text.push_str(part);
    }
}

fn text_of(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::new(ErrorCode::Internal, format!("no JSON for it: {error}")))
}

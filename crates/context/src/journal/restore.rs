//! Reading a journal.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::counts::JournalCounts;
use super::{Cursor, KIND};
use crate::calibration::Calibrations;
use crate::manager::ContextManager;
use crate::options::ManagerOptions;
use crate::store::ReadArtifact;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::journal::{Journal, JournalFinding};
use contextweaver_model::json::{Fields, JsonMap, as_uint, missing_field, to_value};
use contextweaver_model::{ArtifactRef, ContextItem, ResultEnvelope};
use contextweaver_text::hash::hex;

/// The fields that say what a change is of; the first one that is there counts.
const KINDS: [&str; 16] = [
    "item",
    "artifact_of",
    "artifact_gone",
    "artifact",
    "mark",
    "used",
    "fact",
    "fact_gone",
    "fact_sequence",
    "episode",
    "episode_gone",
    "messages",
    "running",
    "calibration",
    "rule",
    "unknown",
];

/// Most moves of items that insertions into the middle of a log may take: edited conversations take a few per item.
const MAX_MOVES: u64 = 1 << 30;

/// A manager that was read, and how far that went.
#[derive(Debug)]
pub struct RestoredJournal {
    /// The manager.
    pub manager: ContextManager,
    /// Where its journal ends, to go on from; none where something could not be read, and the next export tells everything.
    pub cursor: Option<String>,
    /// What could not be read, and what is missing.
    pub findings: Vec<JournalFinding>,
    /// SHA-256 of blobs that were not given, of artifacts that are listed without their bytes.
    pub missing_blobs: Vec<String>,
}

/// A journal on its way into an empty manager.
struct Reader<B> {
    manager: ContextManager,
    /// The log as it is so far, put in order: an edited conversation inserts items.
    items: Vec<ContextItem>,
    places: HashMap<String, usize>,
    moves: u64,
    blob: B,
    missing_blobs: Vec<String>,
}

impl ContextManager {
    /// Makes a manager of a journal: the lines that [`ContextManager::export_since`] returned, all since the last whole ones,
    /// in any order. `blob` returns the bytes that a journal refers to by their SHA-256; what it has not stays away, and
    /// builds go by digests then.
    ///
    /// What cannot be read is left out and named in `findings`; the rest is read. Linear in the text.
    ///
    /// # Errors
    /// `SNAPSHOT_VERSION` for a journal of a later version; `INVALID_INPUT` for one of something else; `TOO_LARGE`.
    pub fn restore_journal<'a>(
        text: &str,
        options: ManagerOptions,
        blob: impl Fn(&str) -> Option<&'a [u8]>,
    ) -> Result<RestoredJournal> {
        Self::new(options).restored_journal(text, blob)
    }

    /// Fills an empty manager with what a journal holds, as [`ContextManager::restore_journal`] does.
    ///
    /// # Errors
    /// Those of [`ContextManager::restore_journal`]; `INVALID_INPUT` where the manager holds something.
    pub fn restored_journal<'a>(self, text: &str, blob: impl Fn(&str) -> Option<&'a [u8]>) -> Result<RestoredJournal> {
        if !(self.events.is_empty() && self.artifacts.is_empty()) {
            return Err(Error::new(ErrorCode::InvalidInput, "a journal is read into an empty manager"));
        }
        let Journal { changes, counts, end, mut findings, .. } = Journal::read(text, KIND)?;
        let limits = self.options.limits.store;
        let (items, places, missing_blobs) = (Vec::new(), HashMap::new(), Vec::new());
        let mut reader = Reader { manager: self, items, places, moves: 0, blob, missing_blobs };
        // What was stored is kept, whatever the limits are now.
        reader.manager.artifacts.set_options(crate::store::StoreOptions {
            eviction: limits.eviction,
            ..crate::store::StoreOptions::default()
        });
        for change in changes {
            if let Err(error) = reader.apply(change.value) {
                findings.push(JournalFinding { part: Some(change.part), error });
            }
        }
        let Reader { mut manager, items, mut missing_blobs, .. } = reader;
        manager.append(items, false)?;
        manager.artifacts.set_options(limits);
        manager.indexed_changes = Some(manager.artifacts.changes());
        let counts = counts
            .filter(|_| findings.is_empty())
            .map(|counts| JournalCounts::from_list(&counts.into_iter().map(Value::from).collect::<Vec<_>>()));
        manager.begin_journal(counts.unwrap_or_else(|| manager.journal_counts()));
        manager.journal.is_kept = true;
        contextweaver_base::order::sort_distinct(&mut missing_blobs);
        let cursor = counts.map(|counts| Cursor { end, counts }.write());
        Ok(RestoredJournal { manager, cursor, findings, missing_blobs })
    }
}

impl<'a, B: Fn(&str) -> Option<&'a [u8]>> Reader<B> {
    fn apply(&mut self, change: Value) -> Result<()> {
        let mut fields = Fields::open(change, "")?;
        let Some(kind) = KINDS.iter().find(|kind| fields.has(kind)) else {
            return Err(Error::new(ErrorCode::Unsupported, "the change is of a kind that this release does not know"));
        };
        let value = fields.take(kind).unwrap_or_default();
        let name = value.as_str().unwrap_or_default();
        let stores = &mut self.manager;
        match *kind {
            "item" => self.item(value, &mut fields),
            "artifact_of" => self.artifact_of(name, &mut fields),
            "artifact_gone" => self.artifact_gone(name, &mut fields),
            "artifact" => self.artifact(value, &mut fields),
            "mark" => {
                let (is_pinned, expires) =
                    (fields.bool_or("pinned", false)?, fields.opt_number("expires", 0.0, f64::MAX)?);
                stores.artifacts.mark_record(name, is_pinned, expires)
            }
            "used" => {
                stores.artifacts.use_again(value.as_array().into_iter().flatten().filter_map(Value::as_str));
                Ok(())
            }
            "fact" => stores.facts.put_record(value, "/fact"),
            "fact_gone" if !stores.facts.contains(name) => Ok(()),
            "fact_gone" => stores.facts.delete(name),
            "fact_sequence" => {
                stores.fact_sequence = Some(as_uint(&value, "/fact_sequence", limits::MAX_SEQUENCE)?);
                Ok(())
            }
            "episode" => stores.episodes.add_record(fields.uint_or("added", 0, u64::MAX)?, value, "/episode"),
            "episode_gone" => {
                stores.episodes.remove_added(as_uint(&value, "/episode_gone", u64::MAX)?);
                Ok(())
            }
            "messages" => stores.known_messages.apply(value, "/messages"),
            "running" => stores.running.apply(value, "/running", self.items.len()),
            "rule" => stores.rule_book.put_record(value, "/rule"),
            "calibration" => {
                let holder = JsonMap::from_iter([("calibration".to_owned(), value)]);
                stores.calibrations = Calibrations::from_fields(&mut Fields::open(Value::Object(holder), "")?)?;
                Ok(())
            }
            _ => {
                stores.unknown = Fields::open(value, "/unknown")?.rest();
                Ok(())
            }
        }
    }

    fn item(&mut self, record: Value, fields: &mut Fields) -> Result<()> {
        let item = self.manager.events.read_record(record, "/item")?;
        let at = fields.opt_uint("at", u64::MAX)?.map_or(self.items.len(), |at| (at as usize).min(self.items.len()));
        if let Some(envelope) = fields.opt_object("envelope")? {
            let envelope = envelope_of(envelope, &item)?;
            self.manager.envelopes.insert(item.id.clone(), envelope);
        }
        if let Some(place) = self.places.get(&item.id) {
            self.items[*place] = item;
            return Ok(());
        }
        if self.items.len() >= self.manager.options.limits.items {
            let message =
                format!("the log would have more items than its limit, {}", self.manager.options.limits.items);
            return Err(Error::new(ErrorCode::QuotaExceeded, message));
        }
        if at < self.items.len() {
            self.moves += (self.items.len() - at) as u64;
            if self.moves > MAX_MOVES {
                return Err(Error::new(ErrorCode::TooLarge, "too many items are inserted before others"));
            }
            for later in &self.items[at..] {
                self.places.get_mut(&later.id).into_iter().for_each(|place| *place += 1);
            }
        }
        self.places.insert(item.id.clone(), at);
        self.items.insert(at, item);
        Ok(())
    }

    fn item_of(&self, id: &str) -> Result<&ContextItem> {
        let missing = || Error::new(ErrorCode::NotFound, "the item that the change names is not there");
        self.places.get(id).map(|place| &self.items[*place]).ok_or_else(missing)
    }

    fn artifact_of(&mut self, id: &str, fields: &mut Fields) -> Result<()> {
        let item = self.item_of(id)?;
        let known = item.artifact_ref.as_ref().ok_or_else(|| missing_field("/artifact_of", "artifact_ref"))?;
        let record = to_value(known);
        self.artifact(record, fields)
    }

    fn artifact(&mut self, record: Value, fields: &mut Fields) -> Result<()> {
        let is_pinned = fields.bool_or("pinned", false)?;
        let expires = fields.opt_number("expires", 0.0, f64::MAX)?;
        let own: Option<Vec<u8>> = match (fields.opt_string("text")?, fields.opt_string("data")?) {
            (Some(text), _) => Some(text.into_bytes()),
            (None, Some(data)) => Some(STANDARD.decode(data).map_err(|error| {
                Error::new(ErrorCode::DecodeFailed, format!("data is not base64: {error}")).at("/data")
            })?),
            (None, None) => None,
        };
        let of_item =
            fields.opt_string("text_of")?.map(|id| self.item_of(&id).map(|item| item.text.clone())).transpose()?;
        let mut bytes = own.or_else(|| of_item.map(String::into_bytes));
        if let Some(hash) = fields.opt_string("blob")? {
            match (self.blob)(&hash) {
                Some(found) if hex(&Sha256::digest(found)) == hash => bytes = Some(found.to_vec()),
                _ => self.missing_blobs.push(hash),
            }
        }
        let read = ReadArtifact { record, bytes: bytes.as_deref(), is_pinned, expires };
        self.manager.artifacts.put_record(read, "/artifact")
    }

    fn artifact_gone(&mut self, handle: &str, fields: &mut Fields) -> Result<()> {
        let known = fields.take("artifact").map(|value| ArtifactRef::from_value(value, "/artifact")).transpose()?;
        let reason = fields.opt_string("reason")?;
        self.manager.artifacts.remove_record(handle, reason.as_deref(), known)
    }
}

/// Reads an envelope that leaves out what its item says.
fn envelope_of(mut told: JsonMap, item: &ContextItem) -> Result<ResultEnvelope> {
    if !told.contains_key("summary") {
        told.insert("summary".into(), item.text.clone().into());
    }
    if !told.contains_key("artifacts") {
        let artifacts: Vec<Value> = item.artifact_ref.iter().map(to_value).collect();
        told.insert("artifacts".into(), artifacts.into());
    }
    ResultEnvelope::from_value(Value::Object(told), "/envelope")
}

//! A store told as changes, and bytes that come back from where they were kept.

use std::cell::Cell;

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::tombstones::EvictionReason;
use super::{ArtifactStore, ContentDigest, Eviction, hex};
use crate::store::removed::Removed;
use crate::store::unknown::{ARTIFACT_REF, RecordWithRest};
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::ArtifactRef;
use contextweaver_text::quote::quote;

/// An artifact as a journal tells of it.
pub(crate) struct EditedArtifact<'a> {
    pub artifact_ref: &'a ArtifactRef,
    /// None where they are not here.
    pub bytes: Option<&'a [u8]>,
    pub is_pinned: bool,
    pub expires: Option<f64>,
}

/// An artifact that a journal told of.
pub(crate) struct ReadArtifact<'a> {
    pub record: Value,
    pub bytes: Option<&'a [u8]>,
    pub is_pinned: bool,
    pub expires: Option<f64>,
}

impl ArtifactStore {
    /// Returns how often an artifact was put, removed or pinned.
    pub(crate) fn edits(&self) -> u64 {
        self.edits
    }

    /// Returns how often an artifact was used, where that decides what is evicted.
    pub(crate) fn uses(&self) -> u64 {
        if self.options.eviction == Eviction::Lru { self.ticks.get() } else { 0 }
    }

    /// Goes on counting, as if nothing had changed since.
    pub(crate) fn count_from(&mut self, edits: u64, uses: u64) {
        self.edits = edits;
        self.removed.begin(edits);
        // Putting and using them again took more ticks than there were.
        let last = uses.max(self.entries.len() as u64);
        self.ticks = Cell::new(last);
        let by_use = self.in_order(|entry| entry.used.get());
        let by_put = self.in_order(|entry| entry.stored);
        self.expiring.clear();
        for (before_last, handle) in by_put.iter().rev().enumerate() {
            let Some(entry) = self.entries.get_mut(handle) else { continue };
            (entry.edited, entry.marked) = (edits, 0);
            entry.stored = last - before_last as u64;
            self.expiring.extend(entry.expiry().map(|expiry| (expiry, handle.clone())));
        }
        for (before_last, handle) in by_use.iter().rev().enumerate() {
            self.entries.get_mut(handle).into_iter().for_each(|entry| entry.used.set(last - before_last as u64));
        }
        self.set_options(self.options);
    }

    fn in_order(&self, by: impl Fn(&super::StoredArtifact) -> u64) -> Vec<String> {
        let mut order: Vec<(u64, &String)> = self.entries.iter().map(|(handle, entry)| (by(entry), handle)).collect();
        sort_by(&mut order, |a, b| a.0.cmp(&b.0));
        order.into_iter().map(|(_, handle)| handle.clone()).collect()
    }

    /// Notes that it is pinned now, or not, or expires at another time.
    pub(super) fn mark(&mut self, handle: &str) {
        self.edits += 1;
        let edits = self.edits;
        self.entries.get_mut(handle).into_iter().for_each(|entry| entry.marked = edits);
    }

    /// Returns the handles that went by themselves, oldest first, as far as they are remembered.
    pub(crate) fn lost(&self) -> impl Iterator<Item = &str> {
        self.gone.handles()
    }

    /// Tells whether something of an artifact is not known.
    pub(crate) fn has_unknown(&self, handle: &str) -> bool {
        self.unknown.of(handle).is_some()
    }

    /// Returns what was removed.
    pub(crate) fn removed(&self) -> &Removed {
        &self.removed
    }

    /// Says why an artifact went by itself, where it did.
    pub(crate) fn reason_of(&self, handle: &str) -> Option<&'static str> {
        self.gone.of(handle).map(EvictionReason::as_str)
    }

    /// Returns the artifacts that were put after an edit, in that order; all after none.
    pub(crate) fn edited_since(&self, edit: Option<u64>) -> Vec<EditedArtifact<'_>> {
        let is_new = |edited: u64| edit.is_none_or(|edit| edited > edit);
        let mut found: Vec<(u64, &str)> = self
            .entries
            .iter()
            .filter(|(_, entry)| is_new(entry.edited))
            .map(|(handle, entry)| (entry.stored, handle.as_str()))
            .collect();
        sort_by(&mut found, |a, b| a.0.cmp(&b.0));
        let edited = |(_, handle): (u64, &str)| {
            let entry = self.entries.get(handle)?;
            Some(EditedArtifact {
                artifact_ref: &entry.artifact_ref,
                bytes: self.peek(handle),
                is_pinned: self.pins.contains_key(handle),
                expires: entry.expires,
            })
        };
        found.into_iter().filter_map(edited).collect()
    }

    /// Returns the artifacts that were there before an edit and were pinned after it, let go, or given another time to
    /// expire: handle, whether it is pinned, and when it expires.
    pub(crate) fn marked_since(&self, edit: u64) -> impl Iterator<Item = (&str, bool, Option<f64>)> {
        let marked = self.entries.iter().filter(move |(_, entry)| entry.marked > edit && entry.edited <= edit);
        marked.map(|(handle, entry)| (handle.as_str(), self.pins.contains_key(handle), entry.expires))
    }

    /// Takes what [`ArtifactStore::marked_since`] told.
    pub(crate) fn mark_record(&mut self, handle: &str, is_pinned: bool, expires: Option<f64>) -> Result<()> {
        if let Some(seconds) = expires {
            self.set_expiry(handle, seconds);
        }
        if is_pinned { self.pin(handle) } else { self.unpin(handle) }
    }

    /// Returns the handles that were used after a use, in that order.
    pub(crate) fn used_since(&self, use_count: u64) -> Vec<&str> {
        let used = self.entries.iter().map(|(handle, entry)| (entry.used.get(), handle.as_str()));
        let mut used: Vec<(u64, &str)> = used.filter(|(tick, _)| *tick > use_count).collect();
        sort_by(&mut used, |a, b| a.0.cmp(&b.0));
        used.into_iter().map(|(_, handle)| handle).collect()
    }

    /// Returns the JSON of what is known of an artifact.
    pub(crate) fn record<'a>(&'a self, artifact_ref: &'a ArtifactRef) -> impl Serialize {
        RecordWithRest(artifact_ref, self.unknown.of(&artifact_ref.handle))
    }

    /// Takes an artifact of a journal. The bytes are those that its record names: the journal has its own checksums.
    pub(crate) fn put_record(&mut self, read: ReadArtifact, at: &str) -> Result<()> {
        let ReadArtifact { mut record, bytes, is_pinned, expires } = read;
        let unknown = ARTIFACT_REF.split(&mut record);
        let artifact_ref = ArtifactRef::from_value(record, at)?;
        let handle = artifact_ref.handle.clone();
        self.check(&handle, bytes.map_or(0, <[u8]>::len)).map_err(|error| error.at(at))?;
        self.gone.forget(&handle);
        self.pins.remove(&handle);
        let content = bytes.map(|bytes| (digest_of(&artifact_ref.content_hash, bytes), bytes.into()));
        self.insert(artifact_ref, content, expires);
        self.unknown.keep(&handle, unknown);
        if is_pinned { self.pin(&handle) } else { Ok(()) }
    }

    /// Removes an artifact as a journal tells it.
    pub(crate) fn remove_record(
        &mut self,
        handle: &str,
        reason: Option<&str>,
        artifact_ref: Option<ArtifactRef>,
    ) -> Result<()> {
        self.erase(handle);
        if let Some(reason) = reason {
            self.gone.add(handle, EvictionReason::parse(reason)?, artifact_ref);
        }
        Ok(())
    }

    /// Removes an artifact and all memory of it.
    pub(crate) fn erase(&mut self, handle: &str) {
        self.remove(handle);
        self.gone.forget(handle);
    }

    /// Counts artifacts as used, in this order.
    pub(crate) fn use_again<'a>(&self, handles: impl IntoIterator<Item = &'a str>) {
        for entry in handles.into_iter().filter_map(|handle| self.entries.get(handle)) {
            entry.used.set(self.tick());
        }
    }

    /// Returns what is known of an artifact whose bytes are not here: it was evicted to make room, or never loaded.
    ///
    /// ```
    /// use contextweaver_context::store::{ArtifactStore, Eviction, StoreOptions};
    ///
    /// let options = StoreOptions { max_artifacts: 1, eviction: Eviction::Lru, ..StoreOptions::default() };
    /// let mut store = ArtifactStore::with_options(options);
    /// store.put("a", b"first", "text/plain", "")?;
    /// store.put("b", b"second", "text/plain", "")?;
    /// assert_eq!(store.absent("a").unwrap().size_bytes, 5);
    /// store.reload("a", b"first")?;
    /// assert_eq!(store.get("a")?, b"first");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn absent(&self, handle: &str) -> Option<&ArtifactRef> {
        let known = self.entries.get(handle).filter(|entry| entry.blob.is_none()).map(|entry| &entry.artifact_ref);
        known.or_else(|| self.gone.evicted(handle))
    }

    /// Returns the hashes of all bytes that are in the store, or that [`ArtifactStore::absent`] knows.
    pub fn content_hashes(&self) -> Vec<&str> {
        let known = self.list().chain(self.gone.all_evicted());
        let mut hashes: Vec<&str> = known.map(|known| known.content_hash.as_str()).collect();
        contextweaver_base::order::sort_distinct(&mut hashes);
        hashes
    }

    /// Puts bytes back that are not here any more, or not yet. A full store evicts others for them, as for a new artifact.
    ///
    /// # Errors
    /// `ARTIFACT_NOT_FOUND` for a handle of which nothing is known, or whose bytes are here; `INVALID_INPUT` at `/bytes` for
    /// others than those that were stored; `QUOTA_EXCEEDED` where there is no room.
    pub fn reload(&mut self, handle: &str, bytes: &[u8]) -> Result<()> {
        let Some(artifact_ref) = self.absent(handle).cloned() else {
            let message = format!("no bytes are missing under {}", quote(handle));
            return Err(Error::new(ErrorCode::ArtifactNotFound, message).at("/handle"));
        };
        let digest: ContentDigest = Sha256::digest(bytes).into();
        if hex(&digest) != artifact_ref.content_hash {
            let message = format!("these are not the bytes that were stored under {}", quote(handle));
            return Err(Error::new(ErrorCode::InvalidInput, message).at("/bytes"));
        }
        self.make_room(handle, bytes.len(), &[], &[])?;
        let expires = self.entries.get(handle).and_then(|entry| entry.expires);
        let unknown = self.unknown.of(handle).cloned().unwrap_or_default();
        self.insert(artifact_ref, Some((digest, bytes.into())), expires);
        self.unknown.keep(handle, unknown);
        self.gone.forget(handle);
        Ok(())
    }
}

/// Reads a hash, or makes it where there is none.
fn digest_of(hash: &str, bytes: &[u8]) -> ContentDigest {
    let mut digest = ContentDigest::default();
    let byte = |at: usize| hash.get(2 * at..2 * at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    let is_read = hash.len() == 2 * digest.len()
        && digest.iter_mut().enumerate().all(|(at, to)| byte(at).map(|byte| *to = byte).is_some());
    if is_read { digest } else { Sha256::digest(bytes).into() }
}

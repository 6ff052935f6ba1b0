//! Bytes by handle: what the prompt leaves out stays here, unchanged.
//!
//! Equal bytes are kept once, whatever their handles. The store has no clock: [`ArtifactStore::set_now`] tells it the
//! time, and artifacts whose time has come leave it then.

mod eviction;
mod journal;
mod options;
mod snapshot;
mod tombstones;

pub(crate) use journal::{EditedArtifact, ReadArtifact};
pub use options::{Eviction, StoreOptions};

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use self::tombstones::{EvictionReason, Tombstones};
use super::removed::Removed;
use super::unknown::Unknown;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::ArtifactRef;
use contextweaver_model::json::there_are;
use contextweaver_text::hash::hex;
use contextweaver_text::quote::quote;

/// The SHA-256 of bytes, by which equal ones are found.
type ContentDigest = [u8; 32];

/// Returns the lower-case hexadecimal SHA-256 of bytes.
pub fn content_hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Artifacts in memory; equal content is kept once.
///
/// ```
/// use contextweaver_context::store::{ArtifactStore, Eviction, StoreOptions};
///
/// let options = StoreOptions { max_artifacts: 1, eviction: Eviction::Lru, ..StoreOptions::default() };
/// let mut store = ArtifactStore::with_options(options);
/// store.put("a", b"first", "text/plain", "")?;
/// store.put("b", b"second", "text/plain", "")?;
/// assert_eq!(store.get("b")?, b"second");
/// assert_eq!(store.get("a").unwrap_err().code().as_str(), "ARTIFACT_EXPIRED");
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct ArtifactStore {
    options: StoreOptions,
    entries: SortedMap<String, StoredArtifact>,
    blobs: SortedMap<ContentDigest, StoredBytes>,
    total_bytes: usize,
    pins: SortedMap<String, ()>,
    now: f64,
    /// Counts puts and reads. A cell, because reading an artifact counts as using it.
    ticks: Cell<u64>,
    /// Handles by the tick of their last use as it was when they were entered here; pinned ones are left out. Empty
    /// unless the store evicts.
    queue: SortedMap<u64, String>,
    /// Handles that will expire, in the order in which they do.
    expiring: SortedMap<Expiry, String>,
    gone: Tombstones,
    changes: u64,
    /// Counts what a journal tells: puts, removals, pins.
    edits: u64,
    removed: Removed,
    unknown: Unknown,
}

#[derive(Debug, Clone)]
struct StoredArtifact {
    artifact_ref: ArtifactRef,
    /// The bytes; none when they were not in the snapshot.
    blob: Option<ContentDigest>,
    /// Tick of the put.
    stored: u64,
    /// Tick of the last use.
    used: Cell<u64>,
    /// Tick under which the handle stands in the queue, 0 for not.
    queued: u64,
    expires: Option<f64>,
    /// The edit that put it.
    edited: u64,
    /// The edit that pinned it, or let it go, or said when it expires; 0 for none.
    marked: u64,
}

/// When an artifact expires, as the bits of a number that is not negative, and the tick of its put.
type Expiry = (u64, u64);

impl StoredArtifact {
    fn expiry(&self) -> Option<Expiry> {
        self.expires.map(|seconds| (seconds.max(0.0).to_bits(), self.stored))
    }
}

#[derive(Debug, Clone)]
struct StoredBytes {
    bytes: Arc<Vec<u8>>,
    handles: usize,
}

/// An artifact to be stored.
#[derive(Debug, Clone)]
pub struct NewArtifact<'a> {
    /// The name under which the bytes will be found.
    pub handle: &'a str,
    /// The bytes; borrowed ones are copied, owned ones become those of the store.
    pub bytes: Cow<'a, [u8]>,
    /// MIME type of the bytes.
    pub media_type: &'a str,
    /// A line for people, such as a file name.
    pub label: &'a str,
    /// Handles that are evicted for it only where nothing else is left.
    pub live: &'a [&'a str],
    /// Handles that must not be evicted for it, beside the pinned ones.
    pub beside: &'a [&'a str],
}

impl ArtifactStore {
    /// Makes an empty store with the largest bounds.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty store with options.
    pub fn with_options(options: StoreOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// Changes the options; what is stored stays, and expires when it would have.
    pub fn set_options(&mut self, options: StoreOptions) {
        self.options = options;
        self.queue.clear();
        let handles: Vec<String> = self.entries.keys().cloned().collect();
        for handle in handles {
            self.enqueue(&handle);
        }
    }

    /// Returns the bounds and what the store does at them.
    pub fn options(&self) -> &StoreOptions {
        &self.options
    }

    /// Tells the time in seconds; time that goes back is ignored. What has expired leaves the store, pinned or not.
    pub fn set_now(&mut self, seconds: f64) {
        if seconds > self.now {
            self.now = seconds;
            self.sweep();
        }
    }

    /// Checks that bytes of this size could be stored under a handle.
    ///
    /// # Errors
    /// `QUOTA_EXCEEDED` where they could not.
    pub fn check(&self, handle: &str, size: usize) -> Result<()> {
        self.check_beside(handle, size, (0, 0))
    }

    /// Checks that bytes of this size could be stored under a handle beside so many others, of so many bytes together, that
    /// are not in the store yet and must not be evicted for them.
    ///
    /// # Errors
    /// Those of [`ArtifactStore::check`].
    pub fn check_beside(&self, handle: &str, size: usize, others: (usize, usize)) -> Result<()> {
        self.check_room(handle, size, &[], others)
    }

    /// Stores bytes under a handle, replacing what was there.
    ///
    /// # Errors
    /// Those of [`ArtifactStore::check`].
    pub fn put(&mut self, handle: &str, bytes: &[u8], media_type: &str, label: &str) -> Result<ArtifactRef> {
        self.put_new(NewArtifact { handle, bytes: bytes.into(), media_type, label, live: &[], beside: &[] })
    }

    /// Stores an artifact, replacing what was under its handle. A full store evicts if it may, or refuses and is
    /// unchanged.
    ///
    /// # Errors
    /// Those of [`ArtifactStore::check`].
    pub fn put_new(&mut self, new: NewArtifact) -> Result<ArtifactRef> {
        let bytes = new.bytes;
        self.make_room(new.handle, bytes.len(), new.live, new.beside)?;
        let digest: ContentDigest = Sha256::digest(&bytes).into();
        let artifact_ref = ArtifactRef {
            handle: new.handle.to_owned(),
            media_type: new.media_type.to_owned(),
            size_bytes: bytes.len() as u64,
            label: new.label.to_owned(),
            content_hash: hex(&digest),
        };
        let expires = self.options.ttl_seconds.map(|seconds| self.now + seconds);
        self.insert(artifact_ref.clone(), Some((digest, bytes)), expires);
        self.gone.forget(new.handle);
        self.sweep();
        Ok(artifact_ref)
    }

    /// Puts an entry in place of the one with its handle.
    fn insert(
        &mut self,
        artifact_ref: ArtifactRef,
        content: Option<(ContentDigest, Cow<'_, [u8]>)>,
        expires: Option<f64>,
    ) {
        let handle = artifact_ref.handle.clone();
        self.take_out(&handle);
        self.unknown.forget(&handle);
        let tick = self.tick();
        let blob = content.as_ref().map(|(digest, _)| *digest);
        if let Some((digest, bytes)) = content {
            self.total_bytes += bytes.len();
            match self.blobs.get_mut(&digest) {
                Some(blob) => blob.handles += 1,
                None => {
                    drop(self.blobs.insert(digest, StoredBytes { bytes: Arc::new(bytes.into_owned()), handles: 1 }));
                }
            }
        }
        self.edits += 1;
        let (used, edited) = (Cell::new(tick), self.edits);
        let entry = StoredArtifact { artifact_ref, blob, stored: tick, used, queued: 0, expires, edited, marked: 0 };
        self.expiring.extend(entry.expiry().map(|expiry| (expiry, handle.clone())));
        self.entries.insert(handle.clone(), entry);
        self.enqueue(&handle);
    }

    /// Takes an entry out, with its bytes when no other handle has them.
    fn take_out(&mut self, handle: &str) {
        let Some(entry) = self.entries.remove(handle) else { return };
        self.changes += 1;
        self.edits += 1;
        self.removed.add(self.edits, handle);
        self.queue.remove(&entry.queued);
        if let Some(expiry) = entry.expiry() {
            self.expiring.remove(&expiry);
        }
        let Some(digest) = entry.blob else { return };
        let Some(blob) = self.blobs.get_mut(&digest) else { return };
        self.total_bytes -= blob.bytes.len();
        blob.handles -= 1;
        if blob.handles == 0 {
            self.blobs.remove(&digest);
        }
    }

    fn tick(&self) -> u64 {
        self.ticks.set(self.ticks.get() + 1);
        self.ticks.get()
    }

    fn find(&self, handle: &str) -> Option<(&StoredArtifact, &[u8])> {
        let entry = self.entries.get(handle)?;
        Some((entry, self.blobs.get(&entry.blob?)?.bytes.as_slice()))
    }

    fn size_of(&self, handle: &str) -> usize {
        self.find(handle).map_or(0, |(_, bytes)| bytes.len())
    }

    /// Makes the error for a handle that leads to nothing.
    pub(crate) fn missing(&self, handle: &str) -> Error {
        let named = quote(handle);
        match self.gone.of(handle) {
            None => Error::new(ErrorCode::ArtifactNotFound, format!("no artifact with handle {named}"))
                .hint(there_are(handle, "artifact", self.entries.keys().map(String::as_str))),
            Some(lost) => {
                let why = match lost {
                    EvictionReason::Ttl => "has expired",
                    EvictionReason::Lru => "was evicted to make room",
                };
                Error::new(ErrorCode::ArtifactExpired, format!("the artifact {named} {why}"))
                    .detail("reason", lost.as_str())
            }
        }
    }

    /// Returns the bytes under a handle; the artifact counts as used.
    ///
    /// # Errors
    /// `ARTIFACT_NOT_FOUND`, or `ARTIFACT_EXPIRED` where it was evicted or its time was over.
    pub fn get(&self, handle: &str) -> Result<&[u8]> {
        self.used(handle).ok_or_else(|| self.missing(handle))
    }

    /// Returns the bytes under a handle, if they are here; the artifact counts as used.
    pub fn used(&self, handle: &str) -> Option<&[u8]> {
        let (entry, bytes) = self.find(handle)?;
        entry.used.set(self.tick());
        Some(bytes)
    }

    /// Returns the text under a handle if the bytes are UTF-8, without copying; that is no use of the artifact.
    pub fn text(&self, handle: &str) -> Option<&str> {
        self.peek(handle).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns the bytes under a handle; that is no use of the artifact.
    pub fn peek(&self, handle: &str) -> Option<&[u8]> {
        self.find(handle).map(|(_, bytes)| bytes)
    }

    /// Returns the bytes under a handle as they are kept; while they are kept, their address names them.
    pub(crate) fn shared(&self, handle: &str) -> Option<&Arc<Vec<u8>>> {
        let entry = self.entries.get(handle)?;
        self.blobs.get(&entry.blob?).map(|blob| &blob.bytes)
    }

    /// Returns what is known of the artifact under a handle.
    ///
    /// # Errors
    /// `ARTIFACT_NOT_FOUND`, or `ARTIFACT_EXPIRED` where it was evicted or its time was over.
    pub fn artifact_ref(&self, handle: &str) -> Result<&ArtifactRef> {
        self.known(handle).ok_or_else(|| self.missing(handle))
    }

    /// Returns what is known of the artifact under a handle, if anything is.
    pub fn known(&self, handle: &str) -> Option<&ArtifactRef> {
        self.entries.get(handle).map(|entry| &entry.artifact_ref)
    }

    /// Tells whether bytes are stored under a handle.
    pub fn exists(&self, handle: &str) -> bool {
        self.find(handle).is_some()
    }

    /// Removes the bytes under a handle.
    ///
    /// # Errors
    /// `ARTIFACT_NOT_FOUND`, or `ARTIFACT_EXPIRED` where it was evicted or its time was over.
    pub fn delete(&mut self, handle: &str) -> Result<()> {
        self.find(handle).ok_or_else(|| self.missing(handle))?;
        self.remove(handle);
        Ok(())
    }

    fn remove(&mut self, handle: &str) {
        self.take_out(handle);
        self.pins.remove(handle);
        self.unknown.forget(handle);
    }

    /// Returns what is known of all artifacts, sorted by handle.
    pub fn list(&self) -> impl Iterator<Item = &ArtifactRef> {
        self.entries.values().map(|entry| &entry.artifact_ref)
    }

    /// Returns the number of artifacts.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether the store is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the bytes in the store as they count against its limit: equal ones each time.
    pub fn total_bytes(&self) -> usize {
        self.total_bytes
    }

    /// Returns the bytes in the store as they take memory: equal ones once.
    pub fn resident_bytes(&self) -> usize {
        self.blobs.values().map(|blob| blob.bytes.len()).sum()
    }

    /// Returns how often bytes were removed or replaced: whoever keeps something derived from them compares.
    pub fn changes(&self) -> u64 {
        self.changes
    }
}

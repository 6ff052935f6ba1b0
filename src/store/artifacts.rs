//! Bytes by handle: what the prompt leaves out stays here, unchanged.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::Selector;
use crate::error::{Error, ErrorCode, Result};
use crate::json::{Fields, as_string, pointer};
use crate::limits;
use crate::model::ArtifactRef;
use crate::text::unicode::quote;

/// Returns the lower-case hexadecimal SHA-256 of bytes.
pub fn content_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Artifacts in memory; equal content is kept once.
#[derive(Debug, Clone)]
pub struct ArtifactStore {
    entries: BTreeMap<String, Entry>,
    total_bytes: usize,
    artifact_limit: usize,
    store_limit: usize,
}

impl Default for ArtifactStore {
    fn default() -> Self {
        Self::with_limits(limits::MAX_ARTIFACT_BYTES, limits::MAX_STORE_BYTES)
    }
}

#[derive(Debug, Clone)]
struct Entry {
    reference: ArtifactRef,
    bytes: Option<Arc<[u8]>>,
}

impl ArtifactStore {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes an empty store with limits in bytes.
    pub fn with_limits(artifact: usize, store: usize) -> Self {
        Self { entries: BTreeMap::new(), total_bytes: 0, artifact_limit: artifact, store_limit: store }
    }

    /// Changes the limits; what is stored stays.
    pub fn set_limits(&mut self, artifact: usize, store: usize) {
        self.artifact_limit = artifact;
        self.store_limit = store;
    }

    /// Takes over the entries of another store whose handles are new here; known handles keep their bytes.
    pub fn adopt_new(&mut self, other: Self) {
        for (handle, entry) in other.entries {
            let size = entry.bytes.as_ref().map_or(0, |bytes| bytes.len());
            if let std::collections::btree_map::Entry::Vacant(slot) = self.entries.entry(handle) {
                slot.insert(entry);
                self.total_bytes += size;
            }
        }
    }

    /// Checks that bytes of this size could be stored under a handle.
    pub fn check(&self, handle: &str, size: usize) -> Result<()> {
        if size > self.artifact_limit {
            return Err(Error::new(
                ErrorCode::QuotaExceeded,
                format!("the artifact has {size} bytes, the limit is {}", self.artifact_limit),
            ));
        }
        let total = self.total_bytes - self.size_of(handle) + size;
        if total > self.store_limit {
            return Err(Error::new(
                ErrorCode::QuotaExceeded,
                format!("the store would have {total} bytes, the limit is {}", self.store_limit),
            ));
        }
        Ok(())
    }

    fn size_of(&self, handle: &str) -> usize {
        self.entries.get(handle).and_then(|entry| entry.bytes.as_ref()).map_or(0, |bytes| bytes.len())
    }

    /// Stores bytes under a handle, replacing what was there.
    pub fn put(&mut self, handle: &str, bytes: &[u8], media_type: &str, label: &str) -> Result<ArtifactRef> {
        self.check(handle, bytes.len())?;
        let reference = ArtifactRef {
            handle: handle.to_owned(),
            media_type: media_type.to_owned(),
            size_bytes: bytes.len() as u64,
            label: label.to_owned(),
            content_hash: content_hash(bytes),
        };
        self.total_bytes = self.total_bytes - self.size_of(handle) + bytes.len();
        let entry = Entry { reference: reference.clone(), bytes: Some(Arc::from(bytes)) };
        self.entries.insert(handle.to_owned(), entry);
        Ok(reference)
    }

    fn missing(handle: &str) -> Error {
        Error::new(ErrorCode::ArtifactNotFound, format!("no artifact with handle {}", quote(handle)))
    }

    /// Returns the bytes under a handle.
    pub fn get(&self, handle: &str) -> Result<&[u8]> {
        self.entries.get(handle).and_then(|entry| entry.bytes.as_deref()).ok_or_else(|| Self::missing(handle))
    }

    /// Returns the text under a handle if the bytes are UTF-8, without copying.
    pub fn text(&self, handle: &str) -> Option<&str> {
        self.get(handle).ok().and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// Returns the reference under a handle.
    pub fn reference(&self, handle: &str) -> Result<&ArtifactRef> {
        self.entries.get(handle).map(|entry| &entry.reference).ok_or_else(|| Self::missing(handle))
    }

    /// Tells whether bytes are stored under a handle.
    pub fn exists(&self, handle: &str) -> bool {
        self.get(handle).is_ok()
    }

    /// Removes the bytes under a handle.
    pub fn delete(&mut self, handle: &str) -> Result<()> {
        self.get(handle)?;
        self.total_bytes -= self.size_of(handle);
        self.entries.remove(handle);
        Ok(())
    }

    /// Returns all references, sorted by handle.
    pub fn list(&self) -> impl Iterator<Item = &ArtifactRef> {
        self.entries.values().map(|entry| &entry.reference)
    }

    /// Returns the bytes in the store.
    pub fn total_bytes(&self) -> usize {
        self.total_bytes
    }

    /// Reads a part of an artifact; malformed UTF-8 shows as U+FFFD.
    pub fn drilldown(&self, handle: &str, selector: &Selector) -> Result<String> {
        selector.apply(&String::from_utf8_lossy(self.get(handle)?))
    }

    /// Reads a snapshot: references drive, data without a reference is ignored, sizes and hashes are recomputed.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let refs = fields.records("refs", ArtifactRef::from_value)?;
        let data_at = fields.at("data");
        let mut data = fields.object("data")?;
        let mut store = Self::new();
        for reference in refs {
            match data.shift_remove(&reference.handle) {
                None => {
                    store.entries.insert(reference.handle.clone(), Entry { reference, bytes: None });
                }
                Some(text) => {
                    let at = pointer(&data_at, &reference.handle);
                    let bytes = STANDARD.decode(as_string(text, &at)?).map_err(|error| {
                        Error::new(ErrorCode::DecodeFailed, format!("data is not base64: {error}")).at(&at)
                    })?;
                    store
                        .put(&reference.handle, &bytes, &reference.media_type, &reference.label)
                        .map_err(|e| e.at(at))?;
                }
            }
        }
        Ok(store)
    }
}

/// The snapshot: references sorted by handle, bytes as base64.
impl Serialize for ArtifactStore {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(Some(2))?;
        map.serialize_entry("refs", &self.list().collect::<Vec<_>>())?;
        map.serialize_entry("data", &Data(self))?;
        map.end()
    }
}

struct Data<'a>(&'a ArtifactStore);

impl Serialize for Data<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let stored = self.0.entries.iter().filter_map(|(handle, entry)| Some((handle, entry.bytes.as_ref()?)));
        s.collect_map(stored.map(|(handle, bytes)| (handle, STANDARD.encode(bytes))))
    }
}

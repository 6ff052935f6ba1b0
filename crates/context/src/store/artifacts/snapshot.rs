//! A store as JSON. Nothing in it tells the time: a restored artifact does not expire.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::tombstones::EvictionReason;
use super::{ArtifactStore, ContentDigest, Eviction, hex};
use crate::store::unknown::{ARTIFACT_REF, RecordWithRest, write_rest};
use contextweaver_base::order::sort_by;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::ArtifactRef;
use contextweaver_model::json::{Fields, pointer, wrong_type};

impl ArtifactStore {
    /// Reads a snapshot: `refs` decides, data that it does not name is ignored, sizes and hashes are recomputed.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `QUOTA_EXCEEDED` and the like, at paths below `path`;
    /// `DECODE_FAILED` for what is no base64.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        Self::read(value, path, true)
    }

    /// Reads a snapshot; without `verify` `refs` stays as it was written, as in the Python library.
    ///
    /// # Errors
    /// Those of [`ArtifactStore::from_value`].
    pub fn read(value: Value, path: &str, verify: bool) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let refs = ARTIFACT_REF.take(&mut fields, "refs", ArtifactRef::from_value)?;
        let data_at = fields.at("data");
        let data = fields.object("data")?;
        let mut store = Self::new();
        for (mut artifact_ref, unknown) in refs {
            let handle = artifact_ref.handle.clone();
            let at = pointer(&data_at, &handle);
            let bytes = data.get(&handle).map(|text| decode(text, &at)).transpose()?;
            store.check(&handle, bytes.as_ref().map_or(0, Vec::len)).map_err(|error| error.at(at))?;
            let digest: Option<ContentDigest> = bytes.as_ref().map(|bytes| Sha256::digest(bytes).into());
            if let (Some(bytes), Some(digest), true) = (&bytes, &digest, verify) {
                artifact_ref.size_bytes = bytes.len() as u64;
                artifact_ref.content_hash = hex(digest);
            }
            store.insert(artifact_ref, digest.zip(bytes.map(Into::into)), None);
            store.unknown.keep(&handle, unknown);
        }
        store.read_state(&mut fields)?;
        store.unknown.top = fields.rest();
        Ok(store)
    }

    fn read_state(&mut self, fields: &mut Fields) -> Result<()> {
        for handle in fields.strings("pinned")? {
            if self.entries.contains_key(&handle) {
                self.pin(&handle)?;
            }
        }
        for handle in fields.strings("use_order")? {
            if let Some(entry) = self.entries.get(&handle) {
                entry.used.set(self.tick());
            }
        }
        let read = |value: Value, at: &str| {
            let mut gone = Fields::open(value, at)?;
            let handle = gone.string("handle")?;
            let reason = gone.parsed("reason", EvictionReason::parse)?;
            let at = gone.at("artifact_ref");
            let known = gone.take("artifact_ref").map(|value| ArtifactRef::from_value(value, &at)).transpose()?;
            Ok((handle, reason, known))
        };
        for (handle, reason, artifact_ref) in fields.records("expired", read)? {
            if !self.entries.contains_key(&handle) {
                self.gone.add(&handle, reason, artifact_ref);
            }
        }
        Ok(())
    }

    /// Returns the time and when each artifact will expire, first ones first, which a snapshot leaves out.
    pub fn expiries(&self) -> (f64, Vec<(&str, f64)>) {
        let at = |handle: &String| self.entries.get(handle).and_then(|entry| entry.expires);
        (self.now, self.expiring.values().filter_map(|handle| Some((handle.as_str(), at(handle)?))).collect())
    }

    /// Sets when an artifact expires that was restored.
    pub fn set_expiry(&mut self, handle: &str, seconds: f64) {
        let tick = self.tick();
        let Some(entry) = self.entries.get_mut(handle) else { return };
        if let Some(expiry) = entry.expiry() {
            self.expiring.remove(&expiry);
        }
        // Of those that expire at the same time the one that is told of first goes first.
        entry.stored = tick;
        entry.expires = Some(seconds);
        self.expiring.extend(entry.expiry().map(|expiry| (expiry, handle.to_owned())));
        self.mark(handle);
    }

    /// Returns the handles from the one not used for longest on.
    fn use_order(&self) -> Vec<&str> {
        let mut order: Vec<(u64, &str)> =
            self.entries.iter().map(|(handle, entry)| (entry.used.get(), handle.as_str())).collect();
        sort_by(&mut order, |a, b| a.0.cmp(&b.0));
        order.into_iter().map(|(_, handle)| handle).collect()
    }
}

fn decode(text: &Value, at: &str) -> Result<Vec<u8>> {
    let Value::String(text) = text else { return Err(wrong_type(at, "a string", text)) };
    STANDARD
        .decode(text)
        .map_err(|error| Error::new(ErrorCode::DecodeFailed, format!("data is not base64: {error}")).at(at))
}

/// The snapshot: `refs` sorted by handle, bytes as base64; pins, the order of use where it decides about eviction,
/// and what went lately, where there are any.
impl Serialize for ArtifactStore {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let mut map = s.serialize_map(None)?;
        let refs = self.list().map(|artifact_ref| RecordWithRest(artifact_ref, self.unknown.of(&artifact_ref.handle)));
        map.serialize_entry("refs", &refs.collect::<Vec<_>>())?;
        map.serialize_entry("data", &ArtifactBytes(self))?;
        if !self.pins.is_empty() {
            map.serialize_entry("pinned", &self.pinned().collect::<Vec<_>>())?;
        }
        if self.options.eviction == Eviction::Lru && !self.is_empty() {
            map.serialize_entry("use_order", &self.use_order())?;
        }
        let gone = self.gone.list();
        if !gone.is_empty() {
            map.serialize_entry("expired", &gone)?;
        }
        write_rest::<S>(&mut map, &self.unknown.top)?;
        map.end()
    }
}

struct ArtifactBytes<'a>(&'a ArtifactStore);

impl Serialize for ArtifactBytes<'_> {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        let stored = self.0.entries.keys().filter_map(|handle| Some((handle, self.0.find(handle)?.1)));
        s.collect_map(stored.map(|(handle, bytes)| (handle, STANDARD.encode(bytes))))
    }
}

//! What is remembered of artifacts that expired or were evicted.

use serde::Serialize;

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_model::ArtifactRef;

contextweaver_model::string_enum! {
    /// Why an artifact went without being deleted.
    EvictionReason, "reason" {
        /// Its time was over.
        Ttl = "ttl",
        /// It was not used for longest.
        Lru = "lru",
    }
}

/// A handle that leads to nothing any more, as JSON.
#[derive(Serialize)]
pub(super) struct ExpiredArtifact<'a> {
    handle: &'a str,
    reason: EvictionReason,
    #[serde(skip_serializing_if = "Option::is_none")]
    artifact_ref: Option<&'a ArtifactRef>,
}

#[derive(Debug, Clone)]
struct Tombstone {
    count: u64,
    reason: EvictionReason,
    artifact_ref: Option<ArtifactRef>,
}

/// The newest artifacts that expired or were evicted.
#[derive(Debug, Clone, Default)]
pub(super) struct Tombstones {
    reasons: SortedMap<String, Tombstone>,
    order: SortedMap<u64, String>,
    count: u64,
}

impl Tombstones {
    /// Notes that an artifact is gone; `artifact_ref` is what was known of it, as far as its bytes may come back.
    pub(super) fn add(&mut self, handle: &str, reason: EvictionReason, artifact_ref: Option<ArtifactRef>) {
        self.forget(handle);
        self.count += 1;
        self.reasons.insert(handle.to_owned(), Tombstone { count: self.count, reason, artifact_ref });
        self.order.insert(self.count, handle.to_owned());
        if self.order.len() > limits::MAX_TOMBSTONES
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.reasons.remove(&oldest);
        }
    }

    pub(super) fn forget(&mut self, handle: &str) {
        if let Some(tombstone) = self.reasons.remove(handle) {
            self.order.remove(&tombstone.count);
        }
    }

    pub(super) fn of(&self, handle: &str) -> Option<EvictionReason> {
        self.reasons.get(handle).map(|tombstone| tombstone.reason)
    }

    /// Returns what was known of an artifact that was evicted to make room.
    pub(super) fn evicted(&self, handle: &str) -> Option<&ArtifactRef> {
        self.reasons.get(handle)?.artifact_ref.as_ref()
    }

    /// Returns what was known of all artifacts that were evicted to make room.
    pub(super) fn all_evicted(&self) -> impl Iterator<Item = &ArtifactRef> {
        self.reasons.values().filter_map(|tombstone| tombstone.artifact_ref.as_ref())
    }

    /// Returns the handles, oldest first.
    pub(super) fn handles(&self) -> impl Iterator<Item = &str> {
        self.order.values().map(String::as_str)
    }

    /// Returns the handles with their reasons, oldest first.
    pub(super) fn list(&self) -> Vec<ExpiredArtifact<'_>> {
        let known = self.order.values().filter_map(|handle| self.reasons.get(handle).map(|known| (handle, known)));
        known
            .map(|(handle, known)| ExpiredArtifact {
                handle,
                reason: known.reason,
                artifact_ref: known.artifact_ref.as_ref(),
            })
            .collect()
    }
}

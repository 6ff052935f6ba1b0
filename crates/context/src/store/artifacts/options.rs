//! The limits of an artifact store.

use contextweaver_base::limits;
use contextweaver_model::json::Record;

contextweaver_model::string_enum! {
    /// What a full store does with a new artifact.
    Eviction, "eviction" {
        /// The new artifact is refused with `QUOTA_EXCEEDED`.
        None = "none",
        /// Evicts the artifacts that were not used for longest, pinned ones excepted.
        Lru = "lru",
    }
}

/// Bounds of an artifact store and what it does at them.
#[derive(Debug, Clone, Copy, PartialEq, Record)]
#[record(default, partial)]
pub struct StoreOptions {
    /// Bytes that one artifact may have.
    #[record(name = "max_artifact_bytes", max = limits::MAX_ARTIFACT_BYTES as u64)]
    pub artifact_bytes: usize,
    /// Bytes of all artifacts; equal ones count each.
    #[record(name = "max_store_bytes", max = limits::MAX_STORE_BYTES as u64)]
    pub store_bytes: usize,
    /// Artifacts that the store may have.
    #[record(max = limits::MAX_ARTIFACTS as u64)]
    pub max_artifacts: usize,
    /// Seconds an artifact lives after it was put.
    #[record(name = "artifact_ttl_seconds", range = 0.0..=limits::MAX_TTL_SECONDS)]
    pub ttl_seconds: Option<f64>,
    /// What a full store does.
    pub eviction: Eviction,
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            artifact_bytes: limits::MAX_ARTIFACT_BYTES,
            store_bytes: limits::MAX_STORE_BYTES,
            max_artifacts: limits::MAX_ARTIFACTS,
            ttl_seconds: None,
            eviction: Eviction::None,
        }
    }
}

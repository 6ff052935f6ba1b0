//! The limits of an artifact store.

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// What a full store does with a new artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Eviction {
    /// The new artifact is refused with `QUOTA_EXCEEDED`.
    #[default]
    None,
    /// Evicts the artifacts that were not used for longest, pinned ones excepted.
    Lru,
}

impl Eviction {
    /// Reads the name used in options.
    ///
    /// # Errors
    /// `INVALID_INPUT` for any other name than `none` and `lru`.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "none" => Ok(Self::None),
            "lru" => Ok(Self::Lru),
            other => Err(Error::new(ErrorCode::InvalidInput, format!("unknown eviction {}", quote(other)))
                .hint("one of: none lru")),
        }
    }
}

/// Bounds of an artifact store and what it does at them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StoreOptions {
    /// Bytes that one artifact may have.
    pub artifact_bytes: usize,
    /// Bytes of all artifacts; equal ones count each.
    pub store_bytes: usize,
    /// Artifacts that the store may have.
    pub max_artifacts: usize,
    /// Seconds an artifact lives after it was put.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evictions_are_a_closed_set() {
        assert_eq!(Eviction::parse("lru").unwrap(), Eviction::Lru);
        assert_eq!(Eviction::parse("fifo").unwrap_err().code(), ErrorCode::InvalidInput);
    }
}

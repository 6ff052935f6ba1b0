//! What is remembered of artifacts that expired or were evicted.

use serde::Serialize;

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};

/// Why an artifact went without being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EvictionReason {
    Ttl,
    Lru,
}

impl EvictionReason {
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Ttl => "ttl",
            Self::Lru => "lru",
        }
    }

    pub(super) fn parse(name: &str) -> Result<Self> {
        match name {
            "ttl" => Ok(Self::Ttl),
            "lru" => Ok(Self::Lru),
            _ => Err(Error::new(ErrorCode::InvalidInput, "expected ttl or lru")),
        }
    }
}

/// A handle that leads to nothing any more, as JSON.
#[derive(Serialize)]
pub(super) struct ExpiredArtifact<'a> {
    handle: &'a str,
    reason: &'static str,
}

/// The newest artifacts that expired or were evicted.
#[derive(Debug, Clone, Default)]
pub(super) struct Tombstones {
    reasons: SortedMap<String, (u64, EvictionReason)>,
    order: SortedMap<u64, String>,
    count: u64,
}

impl Tombstones {
    pub(super) fn add(&mut self, handle: &str, lost: EvictionReason) {
        self.forget(handle);
        self.count += 1;
        self.reasons.insert(handle.to_owned(), (self.count, lost));
        self.order.insert(self.count, handle.to_owned());
        if self.order.len() > limits::MAX_TOMBSTONES
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.reasons.remove(&oldest);
        }
    }

    pub(super) fn forget(&mut self, handle: &str) {
        if let Some((place, _)) = self.reasons.remove(handle) {
            self.order.remove(&place);
        }
    }

    pub(super) fn of(&self, handle: &str) -> Option<EvictionReason> {
        self.reasons.get(handle).map(|(_, lost)| *lost)
    }

    /// Returns the handles with their reasons, oldest first.
    pub(super) fn list(&self) -> Vec<ExpiredArtifact<'_>> {
        let reason = |handle: &str| self.of(handle).map_or("", EvictionReason::as_str);
        self.order.values().map(|handle| ExpiredArtifact { handle, reason: reason(handle) }).collect()
    }
}

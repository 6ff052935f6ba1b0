//! How far a manager has come, by the counts of its stores.

use serde::{Serialize, Serializer};
use serde_json::Value;

use contextweaver_base::limits::MAX_SEQUENCE;

/// How far a manager has come, in the counts of its stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JournalCounts([u64; JournalCounts::LENGTH]);

/// A count of [`JournalCounts`].
#[derive(Debug, Clone, Copy)]
pub enum Count {
    Items,
    Artifacts,
    Uses,
    Facts,
    /// One more than the number of the next fact, 0 where it is not fixed.
    FactSequence,
    Episodes,
    Running,
    Messages,
    Calibrations,
    Rules,
}

impl From<[u64; Self::LENGTH]> for JournalCounts {
    fn from(counts: [u64; Self::LENGTH]) -> Self {
        Self(counts)
    }
}

impl JournalCounts {
    pub const LENGTH: usize = Count::Rules as usize + 1;

    pub fn of(&self, count: Count) -> u64 {
        self.0[count as usize]
    }

    pub fn set(&mut self, count: Count, value: u64) {
        self.0[count as usize] = value;
    }

    pub fn all(&self) -> &[u64; Self::LENGTH] {
        &self.0
    }

    /// Reads a list; what is missing is 0. None may be so large that it could not be counted on from.
    pub fn from_list(list: &[Value]) -> Self {
        let mut counts = Self::default();
        for (count, value) in counts.0.iter_mut().zip(list) {
            *count = value.as_u64().unwrap_or(0).min(MAX_SEQUENCE);
        }
        counts
    }

    /// Tells whether these counts are at least those, but for the number of the next fact, which may be anything.
    pub fn reaches(&self, other: &Self) -> bool {
        let mut pairs = self.0.iter().zip(&other.0).enumerate();
        pairs.all(|(at, (count, other))| at == Count::FactSequence as usize || count >= other)
    }
}

impl Serialize for JournalCounts {
    fn serialize<S: Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
        self.0.serialize(s)
    }
}

/// What a manager remembers of its journal.
#[derive(Debug, Default)]
pub struct JournalState {
    /// Whether there is one, so that snapshots must tell the counts.
    pub is_kept: bool,
    /// Counts the calls of models that were observed.
    pub calibrations: u64,
    /// The counts before which nothing is known of what changed.
    pub base: JournalCounts,
}

//! What was removed from a store, so that a journal can say so.

use contextweaver_base::limits::MAX_TOMBSTONES;
use contextweaver_base::order::SortedMap;

/// The newest removals, by the store's count of changes.
#[derive(Debug, Clone, Default)]
pub struct Removed {
    keys: SortedMap<u64, String>,
    floor: u64,
}

impl Removed {
    /// Notes what was removed by a change.
    pub fn add(&mut self, change: u64, key: &str) {
        self.keys.insert(change, key.to_owned());
        if self.keys.len() > MAX_TOMBSTONES
            && let Some((oldest, _)) = self.keys.pop_first()
        {
            self.floor = oldest;
        }
    }

    /// Returns what was removed after a change, oldest first; some may be there again.
    pub fn since(&self, change: u64) -> impl Iterator<Item = &str> {
        self.keys.iter().filter(move |(at, _)| **at > change).map(|(_, key)| key.as_str())
    }

    /// Returns the change up to which removals are not remembered.
    pub fn floor(&self) -> u64 {
        self.floor
    }

    /// Begins after a change, without removals.
    pub fn begin(&mut self, change: u64) {
        *self = Self { keys: SortedMap::new(), floor: change };
    }
}

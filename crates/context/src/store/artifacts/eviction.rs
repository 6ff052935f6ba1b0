//! Making room: limits, time, eviction and pins.

use std::collections::VecDeque;

use super::ArtifactStore;
use super::options::Eviction;
use super::tombstones::EvictionReason;
use contextweaver_base::order::sort_distinct;
use contextweaver_base::{Error, ErrorCode, Result};

fn full(message: String) -> Error {
    Error::new(ErrorCode::QuotaExceeded, message)
}

impl ArtifactStore {
    /// Keeps an artifact from being evicted until it is unpinned; it can still expire, or be deleted.
    ///
    /// # Errors
    /// `ARTIFACT_NOT_FOUND`, or `ARTIFACT_EXPIRED` where it was evicted or its time was over.
    pub fn pin(&mut self, handle: &str) -> Result<()> {
        let queued = self.entries.get_mut(handle).map(|entry| std::mem::take(&mut entry.queued));
        let queued = queued.ok_or_else(|| self.missing(handle))?;
        self.queue.remove(&queued);
        self.pins.insert(handle.to_owned(), ());
        self.mark(handle);
        Ok(())
    }

    /// Lets an artifact be evicted again; one that is not pinned stays as it is.
    ///
    /// # Errors
    /// `ARTIFACT_NOT_FOUND`, or `ARTIFACT_EXPIRED` where it was evicted or its time was over.
    pub fn unpin(&mut self, handle: &str) -> Result<()> {
        self.artifact_ref(handle)?;
        if self.pins.remove(handle).is_some() {
            self.mark(handle);
            self.enqueue(handle);
        }
        Ok(())
    }

    /// Returns the pinned handles, sorted.
    pub fn pinned(&self) -> impl Iterator<Item = &str> {
        self.pins.keys().map(String::as_str)
    }

    /// Enters a handle into the queue of those that may be evicted.
    pub(super) fn enqueue(&mut self, handle: &str) {
        if self.options.eviction == Eviction::None || self.pins.contains_key(handle) {
            return;
        }
        if let Some(entry) = self.entries.get_mut(handle) {
            entry.queued = entry.used.get();
            self.queue.insert(entry.queued, handle.to_owned());
        }
    }

    /// Checks that bytes of this size could be stored under a handle, with eviction if the options say so. `beside` must not
    /// be evicted for them; `before` is how many more such artifacts, of how many bytes, will have been stored by then.
    pub(super) fn check_room(&self, handle: &str, size: usize, beside: &[&str], before: (usize, usize)) -> Result<()> {
        let options = &self.options;
        let is_new = !self.entries.contains_key(handle);
        // What stays whatever happens: everything, or what must not be evicted.
        let (mut others, mut bytes) =
            (self.entries.len() - usize::from(!is_new) + before.0, self.total_bytes - self.size_of(handle) + before.1);
        if options.eviction == Eviction::Lru && (others >= options.max_artifacts || bytes + size > options.store_bytes)
        {
            let mut pins: Vec<&str> = self.pinned().chain(beside.iter().copied()).collect();
            sort_distinct(&mut pins);
            let is_held = |held: &&&str| **held != handle && self.entries.contains_key(**held);
            let held = || pins.iter().filter(is_held);
            let sizes = held().map(|held| self.size_of(held));
            (others, bytes) = (held().count() + before.0, sizes.sum::<usize>() + before.1);
        }
        if is_new && others >= options.max_artifacts {
            return Err(full(format!("the store has {others} artifacts, the limit is {}", options.max_artifacts)));
        }
        if size > options.artifact_bytes {
            return Err(full(format!("the artifact has {size} bytes, the limit is {}", options.artifact_bytes)));
        }
        let total = bytes + size;
        if total > options.store_bytes {
            return Err(full(format!("the store would have {total} bytes, the limit is {}", options.store_bytes)));
        }
        Ok(())
    }

    /// Evicts until bytes of this size fit under a handle: what was not used for longest first, of `live` only where
    /// nothing else is left, and nothing of `beside`. If they cannot fit, nothing is evicted.
    pub(super) fn make_room(&mut self, handle: &str, size: usize, live: &[&str], beside: &[&str]) -> Result<()> {
        self.check_room(handle, size, beside, (0, 0))?;
        let (mut held, mut last) = (Vec::new(), VecDeque::new());
        while !self.fits(handle, size) {
            let Some((tick, victim)) = self.queue.pop_first() else { break };
            let used = self.entries.get(&victim).map_or(0, |entry| entry.used.get());
            if used > tick {
                // It was read since it was entered.
                self.enqueue(&victim);
            } else if victim == handle || beside.contains(&victim.as_str()) {
                held.push((tick, victim));
            } else if live.contains(&victim.as_str()) {
                last.push_back((tick, victim));
            } else {
                self.lose(&victim, EvictionReason::Lru);
            }
        }
        while !self.fits(handle, size) {
            let Some((_, victim)) = last.pop_front() else { break };
            self.lose(&victim, EvictionReason::Lru);
        }
        self.queue.extend(held);
        self.queue.extend(last);
        Ok(())
    }

    fn fits(&self, handle: &str, size: usize) -> bool {
        let others = self.entries.len() - usize::from(self.entries.contains_key(handle));
        let is_counted = others < self.options.max_artifacts || self.entries.contains_key(handle);
        is_counted && self.total_bytes - self.size_of(handle) + size <= self.options.store_bytes
    }

    /// Removes what has expired.
    pub(super) fn sweep(&mut self) {
        while let Some((_, first)) = self.expiring.first() {
            let expires = self.entries.get(first).and_then(|entry| entry.expires);
            if expires.is_some_and(|expires| expires > self.now) {
                return;
            }
            if let Some((_, handle)) = self.expiring.pop_first() {
                self.lose(&handle, EvictionReason::Ttl);
            }
        }
    }

    pub(super) fn lose(&mut self, handle: &str, lost: EvictionReason) {
        // What has expired shall not come back.
        let known = self.entries.get(handle).filter(|_| lost == EvictionReason::Lru);
        let artifact_ref = known.map(|entry| entry.artifact_ref.clone());
        self.remove(handle);
        self.gone.add(handle, lost, artifact_ref);
    }
}

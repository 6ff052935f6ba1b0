//! An artifact that is read page by page.

use std::sync::{Arc, Weak};

use crate::store::ArtifactStore;
use contextweaver_content::SliceIndex;

/// An artifact that is read page by page: its text with secrets masked, and what is known of it. Without this, every page
/// would be searched for secrets, parsed and counted from the beginning.
#[derive(Debug)]
pub(crate) struct ArtifactReading {
    /// The stored bytes, which are not kept alive; nothing for a text of the log, which may change.
    pub(super) bytes: Option<Weak<Vec<u8>>>,
    pub(super) text: String,
    pub(super) media_type: String,
    pub(super) index: SliceIndex,
}

impl ArtifactReading {
    /// Tells whether these are the bytes that are stored under a handle now.
    pub(super) fn is_of(&self, artifacts: &ArtifactStore, handle: &str) -> bool {
        let stored = artifacts.shared(handle);
        let media_type = artifacts.known(handle).map(|known| known.media_type.as_str());
        let same_bytes = self
            .bytes
            .as_ref()
            .zip(stored)
            .is_some_and(|(bytes, stored)| std::ptr::eq(bytes.as_ptr(), Arc::as_ptr(stored)));
        same_bytes && media_type.is_some_and(|known| known == self.media_type)
    }
}

//! What decides as 0.18 does, over logs of any shape.

use contextweaver_context::{BuildRequest, compat};
use serde_json::json;

use crate::build::{PHASES, built, fill};
use crate::bytes::Bytes;

/// A build ends, counts every candidate once, and is the same after a restart.
pub fn compat(data: &[u8]) {
    let mut bytes = Bytes(data);
    let phase = bytes.one_of(&PHASES);
    let mut request = BuildRequest::new(phase, &String::from_utf8_lossy(bytes.short()));
    request.budget_tokens = Some(u64::from(bytes.byte()) * 4);
    let mut manager = compat::manager(compat::options());
    fill(&mut manager, &mut bytes);
    let stored = json!(manager.snapshot());
    let empty = compat::manager(compat::options());
    let mut again = empty.restored(stored).unwrap_or_else(|error| panic!("{error}"));
    let first = built(&mut manager, &request).map_err(|error| error.code());
    assert_eq!(built(&mut again, &request).map_err(|error| error.code()), first);
    if let Ok(pack) = first {
        let stats = &pack.stats;
        assert_eq!(stats.included_count + stats.dropped_count, stats.total_candidates);
    }
}

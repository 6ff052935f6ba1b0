//! What decides as 0.18 does, over logs of any shape.

use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{BuildRequest, ContextManager, compat};
use contextweaver_model::Phase;
use serde_json::json;

use crate::build::fill;
use crate::bytes::Bytes;

/// A build ends, counts every candidate once, and is the same after a restart.
pub fn compat(data: &[u8]) {
    let mut bytes = Bytes(data);
    let phase = bytes.one_of(&[Phase::Route, Phase::Call, Phase::Interpret, Phase::Answer]);
    let mut request = BuildRequest::new(phase, &String::from_utf8_lossy(bytes.short()));
    request.budget_tokens = Some(u64::from(bytes.byte()) * 4);
    let mut manager = compat::manager(compat::options()).unwrap_or_else(|error| panic!("{error}"));
    fill(&mut manager, &mut bytes);
    let stored = json!(manager.snapshot());
    let empty = compat::manager(compat::options()).unwrap_or_else(|error| panic!("{error}"));
    let mut again = empty.restored(stored).unwrap_or_else(|error| panic!("{error}"));
    let build = |manager: &mut ContextManager| match manager.build(&request) {
        Ok(Outcome::Done(output)) => Ok(output.pack),
        Ok(Outcome::Need(needs)) => panic!("nobody to ask: {needs:?}"),
        Err(error) => Err(error.code()),
    };
    let first = build(&mut manager);
    assert_eq!(build(&mut again), first);
    if let Ok(pack) = first {
        let stats = &pack.stats;
        assert_eq!(stats.included_count + stats.dropped_count, stats.total_candidates);
    }
}

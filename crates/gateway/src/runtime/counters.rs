//! What is counted while calls go through.

use serde::Serialize;

use contextweaver_base::order::{SortedMap, sort_by};

use super::request::MeasuredResult;
use crate::failure::GatewayError;
use crate::front::safe_line;
use crate::servers::ToolRef;

/// Tools that are counted one by one; those beyond count in the totals alone.
const MAX_COUNTED: usize = 20_000;
/// Results that are told.
const LARGEST: usize = 10;
/// Reasons that are counted one by one.
const MAX_REASONS: usize = 100;

/// What was counted of one tool, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CallCounts {
    /// Calls that a server answered.
    pub calls: u64,
    /// Those of them whose tool said that it failed.
    pub errors: u64,
    /// Calls that a server did not answer.
    pub failures: u64,
    /// Tokens of the results.
    pub tokens: u64,
    /// Tokens of what clients got of them.
    pub shown_tokens: u64,
    /// Tokens that clients did not get: what the firewall saved.
    pub saved_tokens: u64,
}

impl CallCounts {
    fn add(&mut self, measured: &MeasuredResult) {
        self.calls += 1;
        self.errors += u64::from(measured.is_error);
        self.tokens += measured.tokens;
        self.shown_tokens += measured.shown_tokens;
        self.saved_tokens += measured.tokens.saturating_sub(measured.shown_tokens);
    }
}

/// The counters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counters {
    pub totals: CallCounts,
    pub tools: SortedMap<ToolRef, CallCounts>,
    pub largest: Vec<(ToolRef, u64, u64, u64)>,
    pub refusals: SortedMap<(String, String), u64>,
    pub searches: u64,
    pub drilldowns: u64,
    pub recalls: u64,
    pub cache_hits: u64,
    pub retries: u64,
}

impl Counters {
    fn of(&mut self, tool: &ToolRef) -> Option<&mut CallCounts> {
        let is_known = self.tools.contains_key(tool) || self.tools.len() < MAX_COUNTED;
        is_known.then(|| self.tools.get_or_insert(tool, CallCounts::default()))
    }

    /// Counts a call that was answered.
    pub fn answered(&mut self, tool: &ToolRef, measured: &MeasuredResult, now_ms: u64) {
        self.totals.add(measured);
        if let Some(counts) = self.of(tool) {
            counts.add(measured);
        }
        self.largest.push((tool.clone(), measured.tokens, measured.bytes, now_ms));
        sort_by(&mut self.largest, |a, b| (b.1, b.2).cmp(&(a.1, a.2)));
        self.largest.truncate(LARGEST);
    }

    /// Counts a call that was not answered.
    pub fn failed(&mut self, tool: &ToolRef) {
        self.totals.failures += 1;
        if let Some(counts) = self.of(tool) {
            counts.failures += 1;
        }
    }

    /// Counts something that was refused.
    pub fn refused(&mut self, error: &GatewayError) {
        let reason = ["reason", "scope"].iter().find_map(|key| error.details.get(*key)?.as_str()).unwrap_or_default();
        let key = (error.code.as_str().to_owned(), safe_line(reason));
        let key = if self.refusals.contains_key(&key) || self.refusals.len() < MAX_REASONS {
            key
        } else {
            (key.0, "others".to_owned())
        };
        *self.refusals.get_or_insert(&key, 0) += 1;
    }
}

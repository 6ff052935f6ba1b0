//! How much a store and its records may hold.

use contextweaver_model::json::Record;

/// Bounds of a store; what exceeds them is an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Record)]
#[record(default, closed)]
pub struct DecisionLimits {
    /// Most decisions.
    #[record(max = 1_000_000)]
    pub decisions: usize,
    /// Most bytes of one text.
    #[record(max = 1 << 20)]
    pub text_bytes: usize,
    /// Most tags of one decision, and most entries of other short lists.
    #[record(max = 1000)]
    pub tags: usize,
    /// Most reasons of one decision.
    #[record(max = 1000)]
    pub reasons: usize,
    /// Most steps, and most inputs, of one deliberation.
    #[record(max = 10_000)]
    pub steps: usize,
}

impl Default for DecisionLimits {
    fn default() -> Self {
        Self { decisions: 50_000, text_bytes: 16 * 1024, tags: 64, reasons: 64, steps: 1000 }
    }
}

//! How much of a decision is worth showing, by its age.

use crate::record::Decision;
use crate::timestamps::{DAY_MS, parse};

/// How much of a decision is shown, by its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionLevel {
    /// The whole record.
    Full,
    /// What was decided, and what came of it.
    Summary,
    /// One line.
    Digest,
    /// Its lesson only.
    Wisdom,
}

impl CompactionLevel {
    /// Returns the name in tools, such as `full`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Summary => "summary",
            Self::Digest => "digest",
            Self::Wisdom => "wisdom",
        }
    }

    /// Returns the level of a decision: only what is reviewed, dated and not to be preserved is shortened.
    pub fn of(decision: &Decision, now: i64) -> Self {
        let date = if decision.date.is_empty() { &decision.created_at } else { &decision.date };
        let Some(date) = parse(date).filter(|_| decision.status == "reviewed" && !decision.preserve) else {
            return Self::Full;
        };
        match now.saturating_sub(date).div_euclid(DAY_MS) {
            ..7 => Self::Full,
            7..30 => Self::Summary,
            30..90 => Self::Digest,
            _ => Self::Wisdom,
        }
    }
}

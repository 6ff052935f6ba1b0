//! Days that figures are about.

use crate::record::Decision;
use crate::timestamps::{DAY_MS, date, day};

/// The days of a window, both included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalibrationWindow {
    /// What it was asked for as.
    pub name: String,
    /// The first and the last day, where it has bounds.
    pub days: Option<(i64, i64)>,
}

impl CalibrationWindow {
    /// Makes the window that ends now; names that are not known have no bounds.
    pub fn named(name: &str, now: i64) -> Self {
        let days = match name {
            "30d" => Some(30),
            "60d" => Some(60),
            "90d" => Some(90),
            _ => None,
        };
        Self { name: name.to_owned(), days: days.map(|days| (day(now) - days, day(now))) }
    }

    /// Tells whether a decision was made in the window; one without a time never was in one with bounds.
    pub fn holds(&self, decision: &Decision) -> bool {
        match self.days {
            None => true,
            Some((first, last)) => decision.created_ms().map(day).is_some_and(|day| (first..=last).contains(&day)),
        }
    }

    /// Writes the first and the last day.
    pub fn dates(&self) -> Option<(String, String)> {
        let (first, last) = self.days?;
        Some((date(first.saturating_mul(DAY_MS)), date(last.saturating_mul(DAY_MS))))
    }
}

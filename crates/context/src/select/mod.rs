//! Stage 7: what goes in under the budget.

pub mod plan;
pub mod reference;
pub mod units;

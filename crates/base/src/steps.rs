//! The bound of work that somebody else can choose: models choose patterns and selectors, servers choose schemas.

use crate::{Error, ErrorCode, Result};

/// A number of steps that one operation may take.
///
/// A step is a small piece of work that takes about the same time whatever the input, some nanoseconds. Counting steps
/// instead of time refuses the same input on every machine.
///
/// ```
/// use contextweaver_base::{ErrorCode, StepBudget};
///
/// let mut budget = StepBudget::new("the search", 100);
/// budget.charge(60)?;
/// assert_eq!(budget.spent(), 60);
/// let error = budget.charge(60).unwrap_err();
/// assert_eq!((error.code(), error.message()), (ErrorCode::TooLarge, "the search takes more than 100 steps"));
/// assert_eq!(error.details()["max_steps"], 100);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct StepBudget {
    work: &'static str,
    limit: u64,
    spent: u64,
}

impl StepBudget {
    /// Makes a budget; `work` names the operation in the error.
    pub const fn new(work: &'static str, limit: u64) -> Self {
        Self { work, limit, spent: 0 }
    }

    /// Counts steps. A budget that was exceeded stays so.
    ///
    /// # Errors
    /// `TOO_LARGE` with the detail `max_steps` when the budget is exceeded.
    pub fn charge(&mut self, steps: usize) -> Result<()> {
        self.spent = self.spent.saturating_add(steps as u64);
        if self.spent <= self.limit { Ok(()) } else { Err(self.exceeded()) }
    }

    /// Returns the steps taken.
    pub fn spent(&self) -> u64 {
        self.spent
    }

    #[cold]
    fn exceeded(&self) -> Error {
        let message = format!("{} takes more than {} steps", self.work, self.limit);
        Error::new(ErrorCode::TooLarge, message).detail("max_steps", self.limit)
    }
}

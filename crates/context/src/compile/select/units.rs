//! What the selection chooses from, and what it makes of it.

use super::plan::PlannedPart;
use contextweaver_model::{DropReason, TakenBy};

/// Why the instructions at the head of a log stay, as long as there is room for more than them.
pub const INSTRUCTIONS: &str = "instructions";

/// Items that enter and leave together.
#[derive(Debug, Clone)]
pub struct SelectionUnit {
    /// Indices of its rows, in log order.
    pub rows: Vec<usize>,
    /// Cost whole, in quarter tokens.
    pub quarters: u64,
    /// Largest score of a member.
    pub score: f64,
    /// Why it must be in the prompt.
    pub pinned: Option<&'static str>,
    /// Units that members answer to.
    pub parents: Vec<usize>,
    /// Which step of the running turn it is.
    pub step: Option<TurnStep>,
    /// What of it is a statement of the user that is in force.
    pub holds: Holds,
}

/// How sure it is that a turn of the user states what is in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    #[default]
    Nothing,
    /// It has the form of a statement.
    Likely,
    Sure,
}

/// A unit behind the last user message of a log whose agent has worked on it for several steps.
#[derive(Debug, Clone, Copy)]
pub struct TurnStep {
    /// Items behind it.
    pub age: usize,
    /// Whether it is only what the agent said.
    pub is_thought: bool,
}

/// How the selection came to what it did with a unit.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnitRecord {
    /// What it was ordered by, when it was.
    pub priority: Option<f64>,
    /// The quarter tokens that were free when its turn came, and those that it needed; `None` if it was not weighed.
    pub weighed: Option<(u64, u64)>,
    /// How it came in.
    pub taken_by: Option<TakenBy>,
}

/// What enters the prompt in which form, and why the rest does not.
#[derive(Debug, Default)]
pub struct UnitSelection {
    /// Parts of every unit taken, by unit.
    pub taken: Vec<Option<Vec<PlannedPart>>>,
    /// Units not taken, with the reason, in the order considered.
    pub dropped: Vec<(usize, DropReason)>,
    /// How it came to that, by unit.
    pub records: Vec<UnitRecord>,
    /// In quarter tokens.
    pub used: u64,
    /// Units brought in by others.
    pub closures: u64,
    /// Units and pieces looked at.
    pub work: u64,
}

impl UnitSelection {
    /// Makes a selection of nothing among so many units.
    pub fn of(units: usize) -> Self {
        let records = vec![UnitRecord::default(); units];
        Self { taken: (0..units).map(|_| None).collect(), records, ..Self::default() }
    }

    /// Tells whether a unit was taken.
    pub fn has(&self, unit: usize) -> bool {
        self.taken[unit].is_some()
    }

    /// Returns the parts of all units taken.
    pub fn parts(&self) -> impl Iterator<Item = &PlannedPart> {
        self.taken.iter().flatten().flatten()
    }
}

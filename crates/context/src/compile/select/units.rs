//! The units that the selection chooses from, and its result.

use super::row::PlannedPart;
use contextweaver_model::{DropReason, TakenBy};

/// Why the instructions at the head of a log, and a provider's own summaries of it, are pinned. They are not pinned if
/// they would leave too little room.
pub const INSTRUCTIONS: &str = "instructions";

/// Tokens up to which a budget has room for nothing but what is asked for and what the user laid down.
pub const ROOMY_BUDGET: u64 = 2000;
/// Share of the budget one unit may take without being cut, and its floor in tokens.
const CAP_SHARE: f64 = 0.33;
pub const MIN_CAP_TOKENS: u64 = 120;

/// Returns the largest number of tokens that one unit may take without being cut.
pub fn cap(limit_tokens: u64) -> u64 {
    ((limit_tokens as f64 * CAP_SHARE) as u64).max(MIN_CAP_TOKENS)
}

/// Items that enter the prompt together, or not at all.
#[derive(Debug, Clone)]
pub struct SelectionUnit {
    /// Indices of its rows, in log order.
    pub rows: Vec<usize>,
    /// Cost of the whole unit, in quarter tokens.
    pub quarters: u64,
    /// Largest score of a member.
    pub score: f64,
    /// Why it must be in the prompt; `None` if it need not be.
    pub pinned: Option<&'static str>,
    /// Units with the parents of its members.
    pub parents: Vec<usize>,
    /// Its place in the running turn; `None` if it is not a step of that turn.
    pub step: Option<TurnStep>,
    /// Whether the user states something in it that is in force.
    pub holds: Holds,
}

/// How sure it is that a turn of the user states something that is in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holds {
    #[default]
    Nothing,
    /// It has the form of a statement.
    Likely,
    Sure,
}

/// A step of the running turn: a unit behind the last user message, if the agent has taken several steps since.
#[derive(Debug, Clone, Copy)]
pub struct TurnStep {
    /// The number of candidates behind its last item.
    pub age: usize,
    /// Whether it holds only messages of the agent.
    pub is_thought: bool,
}

/// How the selection decided about a unit.
#[derive(Debug, Clone, Copy, Default)]
pub struct UnitRecord {
    /// The value that units were ordered by; `None` if the unit was not ordered.
    pub priority: Option<f64>,
    /// The quarter tokens that were free when its turn came, and those that it needed; `None` if it was not weighed.
    pub weighed: Option<(u64, u64)>,
    /// How it came into the prompt; `None` if it was left out.
    pub taken_by: Option<TakenBy>,
}

/// The result of a selection: what enters the prompt, in which form, and why the rest does not.
#[derive(Debug, Default)]
pub struct UnitSelection {
    /// The parts of each unit; `None` for a unit that is not taken.
    pub taken: Vec<Option<Vec<PlannedPart>>>,
    /// Units that are not taken, each with the reason, in the order in which they were considered.
    pub dropped: Vec<(usize, DropReason)>,
    /// The record of each unit.
    pub records: Vec<UnitRecord>,
    /// Quarter tokens of everything taken.
    pub used: u64,
    /// The number of units that were taken because another unit depends on them.
    pub closures: u64,
    /// The number of units and pieces that were looked at.
    pub work: u64,
}

impl UnitSelection {
    /// Makes a selection among this many units, with none taken yet.
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

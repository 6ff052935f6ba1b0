//! A build in the making: what it reads, who is still in, and who left where. The stages change it one after the other.

use crate::compile::closure::DependencyClosure;
use crate::compile::inputs::BuildInputs;
use crate::compile::render::renderer::Renderer;
use crate::compile::select::row::CandidateRow;
use crate::compile::select::units::SelectionUnit;
use crate::request::BuildRequest;
use contextweaver_model::{ContextItem, DropReason, ItemKind, ScoreParts, Sensitivity, Stage};

/// An item that left before selection.
#[derive(Debug, Clone)]
pub struct ExcludedItem {
    pub at: usize,
    pub unit: u32,
    /// Its label after classification.
    pub level: Sensitivity,
    /// The stage that dropped it.
    pub stage: Stage,
    /// Why.
    pub reason: DropReason,
}

/// The state between the stages.
pub struct BuildState<'a> {
    pub sources: &'a BuildInputs<'a>,
    pub request: &'a BuildRequest,
    /// What writes the prompt, and so knows what an entry costs.
    pub renderer: &'a dyn Renderer,
    /// Candidates that are still in, in log order.
    pub rows: Vec<CandidateRow>,
    /// Candidates that a stage dropped.
    pub excluded: Vec<ExcludedItem>,
    pub units: Vec<SelectionUnit>,
    pub parts: Vec<ScoreParts>,
    pub scores: Vec<f64>,
    /// How little the query says of itself, 0 to 1.
    pub thinness: f64,
    /// Items added by closure, ascending.
    pub closures: Vec<usize>,
    /// Whether what is pinned gives up text where it does not fit.
    pub may_squeeze: bool,
    /// Tokens that a running prompt may have, of which a cut leaves fewer.
    pub budget: Option<u64>,
    /// Positions of items that are prompts' own notes, come back as messages.
    pub ours: Vec<usize>,
    /// Postings, items, units and pieces touched so far.
    pub work: u64,
}

impl<'a> BuildState<'a> {
    /// Returns the place of the row of an item.
    pub fn row_of(&self, at: usize) -> Option<usize> {
        self.rows.binary_search_by_key(&at, |row| row.at).ok()
    }

    /// Starts with what the closure brought together; nobody has been judged yet.
    pub fn new(
        sources: &'a BuildInputs<'a>,
        request: &'a BuildRequest,
        renderer: &'a dyn Renderer,
        closure: &DependencyClosure,
    ) -> Self {
        Self {
            sources,
            request,
            renderer,
            rows: Vec::with_capacity(closure.candidates.len()),
            excluded: Vec::new(),
            units: Vec::new(),
            parts: Vec::new(),
            scores: Vec::new(),
            thinness: 1.0,
            closures: closure.added.clone(),
            may_squeeze: true,
            budget: None,
            ours: Vec::new(),
            work: sources.events.len() as u64,
        }
    }

    /// Tells whether a running prompt is cut.
    pub fn is_cut(&self) -> bool {
        self.budget.is_some()
    }

    /// Returns the rows of the instructions that the log begins with.
    pub fn instructions(&self) -> &[CandidateRow] {
        let items = self.items();
        let count = self.rows.iter().take_while(|row| items[row.at].kind == ItemKind::Policy).count();
        &self.rows[..count]
    }

    /// Returns the items of the log.
    pub fn items(&self) -> &'a [ContextItem] {
        self.sources.events.items()
    }
}

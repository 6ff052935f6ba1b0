//! Stage 2: what an item needs beside it.

use crate::digest_note::HANDLE_FIELD;
use crate::store::EventLog;
use contextweaver_base::order::sort_distinct;
use contextweaver_convert::providers::{is_approval, is_provider_run};
use contextweaver_model::ItemKind;

/// An item of the log that may enter the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogCandidate {
    pub at: usize,
    /// The items of one unit enter and leave together.
    pub unit: u32,
    /// Whether only its existence is shown, because the phase does not admit its kind.
    pub stub: bool,
}

/// The candidates with what they need beside them.
#[derive(Debug)]
pub struct DependencyClosure {
    /// All of them, in log order.
    pub candidates: Vec<LogCandidate>,
    /// Positions that nobody asked for, ascending.
    pub added: Vec<usize>,
}

/// Stage 2: brings in what is pinned and the missing halves of calls and results.
pub fn closure(log: &EventLog, admitted: &[usize], pins: &[usize]) -> DependencyClosure {
    let mut wanted = [admitted, pins].concat();
    sort_distinct(&mut wanted);
    let candidates = units(log, &wanted);
    let added =
        candidates.iter().map(|candidate| candidate.at).filter(|at| wanted.binary_search(at).is_err()).collect();
    DependencyClosure { candidates, added }
}

/// Groups candidates into units and adds the missing halves of calls and results as stubs.
///
/// A unit is an assistant message with the calls it made and their results: a result joins its call, a call joins the
/// message it hangs on, and calls made in one go (next to each other, same parent) stay together. Other parents are
/// softer; selection takes them along where they fit.
pub fn units(log: &EventLog, candidates: &[usize]) -> Vec<LogCandidate> {
    let items = log.items();
    let mut shown: Vec<u8> = vec![ABSENT; items.len()];
    for &at in candidates {
        shown[at] = WHOLE;
    }
    add_other_halves(log, candidates, &mut shown);
    let mut has_child = vec![false; items.len()];
    for parent in (0..items.len()).filter_map(|at| log.parent_position(at)) {
        has_child[parent] = true;
    }
    let mut groups = DisjointSets::new(items.len());
    let mut last_call: Option<usize> = None;
    for (at, item) in items.iter().enumerate() {
        if shown[at] == ABSENT {
            continue;
        }
        if let Some(parent) = joins(log, at).filter(|parent| shown[*parent] != ABSENT) {
            groups.join(parent, at);
        }
        match item.kind {
            ItemKind::ToolCall => {
                let before = last_call.replace(at);
                if let Some(before) = before.filter(|before| made_together(log, *before, at, &has_child)) {
                    groups.join(before, at);
                }
            }
            _ => last_call = None,
        }
    }
    groups.number(&shown)
}

const ABSENT: u8 = 0;
const STUB: u8 = 1;
const WHOLE: u8 = 2;

/// Shows at least stubs of the calls and results that candidates cannot be without.
fn add_other_halves(log: &EventLog, candidates: &[usize], shown: &mut [u8]) {
    let items = log.items();
    let mut is_wanted = vec![false; items.len()];
    for &at in candidates {
        let call = match items[at].kind {
            ItemKind::ToolCall => Some(at),
            ItemKind::ToolResult => joins(log, at),
            _ if is_approval(&items[at]) => joins(log, at),
            _ => None,
        };
        if let Some(call) = call {
            is_wanted[call] = true;
            shown[call] = shown[call].max(STUB);
        }
    }
    for (at, item) in items.iter().enumerate() {
        let answers = |call: usize| is_wanted[call] && item.kind == ItemKind::ToolResult && !item.is_superseded();
        if log.parent_position(at).is_some_and(answers) {
            shown[at] = shown[at].max(STUB);
        }
    }
}

/// Returns the position of the item that the one at a position cannot be without.
pub fn joins(log: &EventLog, at: usize) -> Option<usize> {
    let items = log.items();
    if is_approval(&items[at]) {
        return log.parent_position(at).filter(|parent| !items[*parent].is_superseded());
    }
    let wanted = match items[at].kind {
        ItemKind::ToolResult => ItemKind::ToolCall,
        ItemKind::ToolCall => ItemKind::AgentMsg,
        _ => return None,
    };
    let parent = log.parent_position(at)?;
    (items[parent].kind == wanted && !items[parent].is_superseded()).then_some(parent)
}

/// What is wrong with a result of the log: it stands in a prompt below a stub of its call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TornResult {
    /// Its call is not in the log, or was superseded.
    Orphan,
    /// It was logged before its call.
    BeforeCall,
}

impl TornResult {
    /// Looks at an item. What was read of a stored result has a handle, and no call.
    pub fn of(log: &EventLog, at: usize) -> Option<Self> {
        let item = &log.items()[at];
        if item.kind != ItemKind::ToolResult || item.metadata.contains_key(HANDLE_FIELD) || is_provider_run(item) {
            return None;
        }
        match joins(log, at) {
            None => Some(Self::Orphan),
            Some(call) => (call > at).then_some(Self::BeforeCall),
        }
    }
}

/// Tells whether two calls next to each other came from one answer. A log of calls alone proves nothing of the kind.
fn made_together(log: &EventLog, before: usize, at: usize, has_child: &[bool]) -> bool {
    let items = log.items();
    before + 1 == at
        && items[before].parent_id == items[at].parent_id
        && (items[at].parent_id.is_some() || has_child[before] || has_child[at])
}

/// Disjoint sets over log positions; the smallest position represents a set.
struct DisjointSets {
    parent: Vec<usize>,
}

impl DisjointSets {
    fn new(len: usize) -> Self {
        Self { parent: (0..len).collect() }
    }

    fn find(&mut self, mut at: usize) -> usize {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b)] = a.min(b);
    }

    fn number(&mut self, shown: &[u8]) -> Vec<LogCandidate> {
        let mut number = vec![u32::MAX; shown.len()];
        let mut next = 0;
        let mut out = Vec::new();
        for (at, form) in shown.iter().enumerate() {
            if *form == ABSENT {
                continue;
            }
            let root = self.find(at);
            if number[root] == u32::MAX {
                number[root] = next;
                next += 1;
            }
            out.push(LogCandidate { at, unit: number[root], stub: *form == STUB });
        }
        out
    }
}

//! A build in the making: what it reads, who is still in, and the stages that decide about that.

use std::cell::Cell;
use std::collections::HashMap;

use super::callbacks::Answers;
use super::closure::{self, Candidate};
use super::excerpt::Wanted;
use super::index::{self, LogIndex};
use super::options::ManagerOptions;
use super::request::BuildRequest;
use super::score::{bm25n, reference as reference_score};
use super::select::plan::{self, Planner, Row, SEPARATOR_QUARTERS};
use super::select::units::{self, Selector, Unit};
use super::sensitivity::{self, Verdict};
use super::{candidates, dedup, origin};
use crate::store::{ArtifactStore, EpisodicStore, EventLog, FactStore};
use contextweaver_base::order::sort_distinct;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{ContextItem, ItemKind, ScoreParts, ScoringConfig, Sensitivity, Stage};
use contextweaver_text::unicode::quote;

/// Everything a build reads.
pub struct Sources<'a> {
    /// The log.
    pub events: &'a EventLog,
    /// Its index.
    pub index: &'a LogIndex,
    /// Stored bytes.
    pub artifacts: &'a ArtifactStore,
    /// Past conversations.
    pub episodes: &'a EpisodicStore,
    /// Remembered facts.
    pub facts: &'a FactStore,
    /// Digests by item id.
    pub envelopes: &'a HashMap<String, contextweaver_model::ResultEnvelope>,
    /// Settings.
    pub options: &'a ManagerOptions,
    /// Answers of the caller's functions.
    pub answers: &'a Answers,
}

/// Something that happened, for the caller's hooks.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(tag = "hook", rename_all = "snake_case")]
pub enum Event {
    /// A result was replaced by its summary.
    FirewallTriggered {
        /// The item.
        item_id: String,
        /// Why.
        reason: &'static str,
    },
    /// Items were dropped.
    ItemsExcluded {
        /// The items.
        item_ids: Vec<String>,
        /// Why.
        reason: String,
    },
    /// More was wanted than the budget allows.
    BudgetExceeded {
        /// Tokens wanted.
        requested: u64,
        /// Tokens allowed.
        limit: u64,
    },
    /// A build is finished.
    ContextBuilt {
        /// Its phase.
        #[cfg_attr(feature = "ts", ts(as = "contextweaver_model::Phase"))]
        phase: String,
    },
}

/// An item that left before selection.
#[derive(Debug, Clone)]
pub struct Left {
    /// Position in the log.
    pub at: usize,
    /// Its unit.
    pub unit: u32,
    /// Its label.
    pub level: Sensitivity,
    /// Where it left.
    pub stage: Stage,
    /// Why.
    pub reason: &'static str,
}

/// The state between the stages.
pub struct Draft<'a> {
    /// What is read.
    pub sources: &'a Sources<'a>,
    /// What was asked for.
    pub request: &'a BuildRequest,
    /// Candidates still in.
    pub rows: Vec<Row>,
    /// Candidates gone.
    pub left: Vec<Left>,
    /// Units of the rows.
    pub units: Vec<Unit>,
    /// Score parts per row.
    pub parts: Vec<ScoreParts>,
    /// Scores per row.
    pub scores: Vec<f64>,
    /// Items added by closure, ascending.
    pub closures: Vec<usize>,
    /// Notes for the caller.
    pub warnings: Vec<String>,
    /// Operations so far.
    pub work: u64,
}

/// Stages 1, 2, 3 and 6: who may be in the prompt at all.
pub fn admit<'a>(sources: &'a Sources<'a>, request: &'a BuildRequest, pins: &[usize]) -> Result<Draft<'a>> {
    let items = sources.events.items();
    let mut wanted = candidates::candidates(items, request.phase, &sources.options.policy);
    wanted.extend(pins);
    sort_distinct(&mut wanted);
    let found = closure::units(sources.events, &wanted);
    let closures = found.iter().map(|candidate| candidate.at).filter(|at| wanted.binary_search(at).is_err()).collect();
    let mut draft = Draft {
        sources,
        request,
        rows: Vec::with_capacity(found.len()),
        left: Vec::new(),
        units: Vec::new(),
        parts: Vec::new(),
        scores: Vec::new(),
        closures,
        warnings: Vec::new(),
        work: items.len() as u64,
    };
    draft.apply_sensitivity(&found, pins)?;
    draft.drop_repeats(pins);
    Ok(draft)
}

impl Draft<'_> {
    /// Stage 3. A call or result that leaves takes its calls and results along: half a pair is worse than none.
    fn apply_sensitivity(&mut self, found: &[Candidate], pins: &[usize]) -> Result<()> {
        let items = self.sources.events.items();
        let options = self.sources.options;
        let is_half = |at: usize| matches!(items[at].kind, ItemKind::ToolCall | ItemKind::ToolResult);
        let mut verdicts = Vec::with_capacity(found.len());
        let mut broken = vec![false; found.len()];
        for candidate in found {
            let item = &items[candidate.at];
            let level = sensitivity::classified(item, options, self.sources.answers);
            let verdict = sensitivity::judge(item, level, options, self.sources.answers);
            if verdict == Verdict::Drop {
                if let Some(pin) = pins.iter().position(|at| *at == candidate.at) {
                    let message = format!("item {} is {level} and cannot be pinned", quote(&item.id));
                    return Err(Error::new(ErrorCode::PolicyViolation, message).at(format!("/pin/{pin}")));
                }
                if is_half(candidate.at) {
                    broken[candidate.unit as usize] = true;
                }
            }
            verdicts.push((level, verdict));
        }
        for (candidate, (level, verdict)) in found.iter().zip(verdicts) {
            let Candidate { at, unit, stub } = *candidate;
            let leave = |reason| Left { at, unit, level, stage: Stage::Sensitivity, reason };
            match verdict {
                Verdict::Drop => self.left.push(leave("sensitivity")),
                _ if broken[unit as usize] && is_half(at) => self.left.push(leave("pair")),
                Verdict::Keep => self.push_row(at, unit, level, stub, None),
                Verdict::Redact(item) => self.push_row(at, unit, level, stub, Some(item)),
            }
        }
        Ok(())
    }

    fn push_row(&mut self, at: usize, unit: u32, level: Sensitivity, stub: bool, redacted: Option<Box<ContextItem>>) {
        let Sources { events, index, options, answers, .. } = *self.sources;
        let item = &events.items()[at];
        let quarters = match &redacted {
            Some(item) => answers.quarters(&options.estimator, &plan::redacted_text(item)),
            None if stub => answers.quarters(&options.estimator, &plan::phase_stub_text(item)),
            None => {
                let attached = if self.request.attachments { 4 * origin::attachment_tokens(item) } else { 0 };
                attached + index::part_quarters(item, index.entry(at), options, answers)
            }
        };
        let quarters = quarters + SEPARATOR_QUARTERS;
        self.rows.push(Row { at, unit: unit as usize, level, stub, redacted, quarters, text_score: 0.0 });
    }

    /// Stage 6. Redacted items look alike on purpose; they are no repeats.
    fn drop_repeats(&mut self, pins: &[usize]) {
        let items = self.sources.events.items();
        let visible: Vec<usize> = self
            .rows
            .iter()
            .filter(|row| row.redacted.is_none() && !row.stub && !items[row.at].metadata_flag("pinned"))
            .map(|row| row.at)
            .filter(|at| !pins.contains(at))
            .collect();
        let repeats = dedup::exact_repeats(items, &visible, |at| self.sources.index.entry(at).fingerprint);
        if repeats.is_empty() {
            return;
        }
        let is_repeat = |row: &Row| repeats.binary_search(&row.at).is_ok();
        let (gone, rows) = std::mem::take(&mut self.rows).into_iter().partition(is_repeat);
        self.rows = rows;
        self.left.extend(Vec::<Row>::into_iter(gone).map(|row| Left {
            at: row.at,
            unit: row.unit as u32,
            level: row.level,
            stage: Stage::Dedup,
            reason: "dedup",
        }));
    }

    /// Stage 5. Returns the weighted terms, which excerpts need.
    pub fn score(&mut self) -> bm25n::TermWeights {
        let sources = self.sources;
        let shown: Vec<usize> = (0..self.rows.len())
            .filter(|index| !self.rows[*index].stub && self.rows[*index].redacted.is_none())
            .collect();
        let visible: Vec<usize> = shown.iter().map(|index| self.rows[*index].at).collect();
        let costs: Vec<f64> = shown.iter().map(|index| self.rows[*index].quarters as f64 / 4.0).collect();
        let scope =
            bm25n::Scope { items: sources.events.items(), index: sources.index, visible: &visible, costs: &costs };
        let weights = match &sources.options.scoring {
            ScoringConfig::Bm25n(weights) => *weights,
            ScoringConfig::Reference(_) => contextweaver_model::Bm25nWeights::default(),
        };
        let request = self.request;
        let query =
            bm25n::Query { text: &request.query, tags: &request.tags, item_scores: &request.item_scores, weights };
        let scores = bm25n::score(&scope, &query);
        self.parts = vec![ScoreParts::default(); self.rows.len()];
        self.scores = vec![0.0; self.rows.len()];
        for (rank, index) in shown.iter().enumerate() {
            self.parts[*index] = scores.parts[rank];
            self.scores[*index] = scores.total[rank];
            self.rows[*index].text_score = scores.parts[rank].text;
        }
        self.work += scores.work;
        if let ScoringConfig::Reference(weights) = &sources.options.scoring {
            self.score_by_reference(&weights.for_phase(request.phase));
        }
        scores.terms
    }

    /// The reference's weights over our units. Every item is charged its real cost, and tags add to words.
    fn score_by_reference(&mut self, weights: &contextweaver_model::ReferenceWeights) {
        let request = self.request;
        let words = reference_score::Wanted::new(&request.query, &[]);
        let tags = reference_score::Wanted::new("", &request.tags);
        let total = self.rows.len();
        for (position, row) in self.rows.iter().enumerate() {
            let mut item = row.redacted.as_deref().unwrap_or(&self.sources.events.items()[row.at]).clone();
            item.token_estimate = row.quarters / 4;
            let by_words = reference_score::score_item(&item, &words, position, total, weights);
            let by_tags = if request.tags.is_empty() { 0.0 } else { reference_score::tag_part(&item, &tags, weights) };
            self.scores[position] = by_words + by_tags;
            self.parts[position] = ScoreParts { text: by_words, neighbours: 0.0, caller: by_tags };
        }
    }

    pub fn make_units(&mut self, pins: &[usize]) {
        let items = self.sources.events.items();
        let count = self.rows.iter().map(|row| row.unit + 1).max().unwrap_or(0);
        let mut number = vec![usize::MAX; count];
        for index in 0..self.rows.len() {
            let row = &mut self.rows[index];
            if number[row.unit] == usize::MAX {
                number[row.unit] = self.units.len();
                self.units.push(Unit {
                    rows: Vec::new(),
                    quarters: 0,
                    score: f64::MIN,
                    pinned: None,
                    parents: Vec::new(),
                });
            }
            row.unit = number[row.unit];
            let unit = &mut self.units[row.unit];
            unit.rows.push(index);
            unit.quarters += row.quarters;
            unit.score = unit.score.max(self.scores[index]);
            if items[row.at].metadata_flag("pinned") {
                unit.pinned = Some("metadata");
            }
        }
        self.link_parents();
        self.pin_active_turn();
        for row in &self.rows {
            if pins.contains(&row.at) {
                self.units[row.unit].pinned = Some("request");
            }
        }
    }

    fn link_parents(&mut self) {
        let events = self.sources.events;
        let mut unit_at = vec![usize::MAX; events.len()];
        for row in &self.rows {
            unit_at[row.at] = row.unit;
        }
        for row in &self.rows {
            let parent = events.items()[row.at].parent_id.as_deref().and_then(|id| events.position(id));
            let parent = parent.map_or(usize::MAX, |at| unit_at[at]);
            let parents = &mut self.units[row.unit].parents;
            if parent != usize::MAX && parent != row.unit && !parents.contains(&parent) {
                parents.push(parent);
            }
        }
    }

    /// The last user turn and the last item stay: that is what the model is working on. What is between stays, too, for
    /// callers who want no step lost.
    fn pin_active_turn(&mut self) {
        let items = self.sources.events.items();
        let last_turn = self.rows.iter().rposition(|row| items[row.at].kind == ItemKind::UserTurn && !row.stub);
        let from = last_turn.unwrap_or(self.rows.len().saturating_sub(1));
        let turn = &self.rows[from.min(self.rows.len())..];
        for (index, row) in turn.iter().enumerate() {
            let is_end = index == 0 || index + 1 == turn.len();
            if is_end || !self.sources.options.trim_active_turn {
                self.units[row.unit].pinned.get_or_insert("active_turn");
            }
        }
    }

    /// Returns what makes sections of rows, for a limit in quarter tokens.
    pub fn planner<'p>(&'p self, terms: &'p bm25n::TermWeights, limit: u64) -> Planner<'p> {
        let Sources { events, index, artifacts, options, answers, .. } = *self.sources;
        Planner {
            items: events.items(),
            index,
            artifacts,
            options,
            answers,
            wanted: Wanted { index, terms, visible: self.rows.len() },
            cap: units::cap(limit / 4),
            last: self.rows.last().map(|row| row.at),
            work: Cell::new(0),
        }
    }

    /// Returns a selector over all units with a limit in quarter tokens.
    pub fn selector<'p>(&'p self, planner: &'p Planner<'p>, limit: u64) -> Selector<'p> {
        Selector { rows: &self.rows, units: &self.units, planner, limit, policy: &self.sources.options.policy }
    }
}

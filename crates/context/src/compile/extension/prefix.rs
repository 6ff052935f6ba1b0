//! Which prefix of the previous prompt stays, and what comes behind it.

use super::standing::StandingSections;
use crate::compile::append::{PromptLayout, PromptManifest};
use crate::compile::excerpt::GAP;
use crate::compile::prompt::EntryContent;
use crate::compile::select::plan::{PlannedPart, Planner, SqueezeLevel};
use crate::compile::select::units::{INSTRUCTIONS, NO_ROOM, SelectionUnit, UnitSelection};
use crate::compile::state::BuildState;
use contextweaver_base::order;
use contextweaver_model::ItemKind;

/// What the label of a recalled item costs more, in quarter tokens.
const MARK_QUARTERS: u64 = 11;
/// Prefixes of the previous prompt that are compared, besides none and all of it.
const PREFIXES: usize = 64;
/// What it costs to repeat nothing, in shares of what the query wants, where half of that stands there, at the default
/// stability and without credit.
const PRICE: f64 = 0.25;
/// Builds' worth of credit at which the price has halved.
const CREDIT_HALF: f64 = 2.0;
/// The price grows with this power of how much more than half of what is wanted stands there, up to so many times.
const COVERAGE_POWER: f64 = 3.0;
const MAX_COVERAGE_FACTOR: f64 = 1.0;
const MIN_COVERAGE_FACTOR: f64 = 0.05;
/// Bounds of the price.
const MIN_PRICE: f64 = 0.01;
const MAX_PRICE: f64 = 4.0;
/// A unit counts with this power of its score, so that many weak ones do not outweigh the best.
const SCORE_POWER: f64 = 2.0;
/// Share of the budget up to which a cut prompt takes what a fresh one would, whatever the price, and new units.
const BASE_SHARE: f64 = 0.6;
/// Highest stability for which there is a price; beyond it hardly anything is cut that need not be.
const MAX_STABILITY: f64 = 0.98;

/// A prefix of the previous prompt, and the units to stand after it.
pub struct PrefixPlan {
    pub keep: usize,
    units: Vec<usize>,
    value: f64,
}

/// What stands in a prefix.
struct Prefix {
    keep: usize,
    quarters: u64,
    coverage: f64,
    /// Rows of each unit in it.
    rows: Vec<usize>,
}

pub struct PrefixChoice<'a> {
    state: &'a BuildState<'a>,
    planner: &'a Planner<'a>,
    standing: &'a StandingSections,
    limit: u64,
    /// What a fresh prompt shows of each unit, or what is to be shown of it because it is new.
    wanted: Vec<Option<Vec<PlannedPart>>>,
    /// What showing it costs, in quarter tokens.
    costs: Vec<u64>,
    /// What a unit counts among all that the query wants; they sum up to 1.
    weights: Vec<f64>,
    /// Units that must be there.
    pinned: Vec<usize>,
    /// Units that came since the previous prompt, newest first.
    new: Vec<usize>,
    /// What else a fresh prompt shows, best first.
    ranked: Vec<usize>,
    /// Standing units of which not all rows stand.
    torn: Vec<usize>,
    /// Price of repeating nothing, in shares of what is wanted.
    price: f64,
}

impl<'a> PrefixChoice<'a> {
    pub fn new(
        state: &'a BuildState<'a>,
        planner: &'a Planner<'a>,
        manifest: &PromptManifest,
        standing: &'a StandingSections,
        fresh: Option<&UnitSelection>,
        limit: u64,
    ) -> Self {
        let units = &state.units;
        let mut wanted = fresh.map_or_else(|| vec![None; units.len()], |fresh| fresh.taken.clone());
        let is_new = |unit: &SelectionUnit| unit.rows.iter().any(|row| state.rows[*row].at >= manifest.seen);
        // Instructions that have no room in a fresh prompt have none here.
        let is_pinned =
            |index: usize, is_wanted: bool| units[index].pinned.is_some_and(|why| why != INSTRUCTIONS || is_wanted);
        let (pinned, others): (Vec<usize>, Vec<usize>) =
            (0..units.len()).partition(|index| is_pinned(*index, wanted[*index].is_some()));
        let mut ranked: Vec<usize> = others.iter().copied().filter(|index| wanted[*index].is_some()).collect();
        let priority = |index: usize| fresh.and_then(|fresh| fresh.records[index].priority).unwrap_or(f64::MAX);
        order::sort_by(&mut ranked, |a, b| priority(*b).total_cmp(&priority(*a)).then(b.cmp(a)));
        let new: Vec<usize> = others.into_iter().rev().filter(|index| is_new(&units[*index])).collect();

        let mut weights = vec![0.0; units.len()];
        for index in &ranked {
            weights[*index] = libm::pow(units[*index].score.max(0.0), SCORE_POWER);
        }
        let sum: f64 = weights.iter().sum();
        for weight in &mut weights {
            *weight /= sum.max(f64::MIN_POSITIVE);
        }

        let mut rows = vec![0; units.len()];
        for part in &standing.parts {
            rows[state.rows[part.row].unit] += 1;
        }
        let torn: Vec<usize> =
            (0..units.len()).filter(|index| rows[*index] > 0 && rows[*index] < units[*index].rows.len()).collect();
        for index in new.iter().chain(&pinned).chain(&torn) {
            if wanted[*index].is_none() {
                wanted[*index] = Some(planner.unit(&state.rows, &units[*index].rows, SqueezeLevel::None));
            }
        }
        let cost = |parts: &Option<Vec<PlannedPart>>| {
            parts.iter().flatten().map(|part| part.quarters + MARK_QUARTERS).sum::<u64>()
        };
        let costs = wanted.iter().map(cost).collect();
        let mut choice =
            Self { state, planner, standing, limit, wanted, costs, weights, pinned, new, ranked, torn, price: 0.0 };
        let coverage: f64 = standing.parts.iter().map(|part| choice.covers(part)).sum();
        let added = choice.new.iter().filter(|index| rows[**index] == 0).map(|index| choice.weights[*index]);
        choice.price = price(state.sources.options.stability, manifest.credit, coverage + added.sum::<f64>());
        choice
    }

    /// Returns the best of the prefixes; none where what must be there does not fit behind any.
    pub fn best(&self) -> Option<PrefixPlan> {
        let mut best: Option<PrefixPlan> = None;
        self.for_each_prefix(|prefix| {
            if let Some(plan) = self.plan(prefix)
                && best.as_ref().is_none_or(|best| plan.value >= best.value)
            {
                best = Some(plan);
            }
        });
        best
    }

    /// Tells whether the whole previous prompt could have been extended.
    pub fn can_extend(&self) -> bool {
        let mut can = false;
        self.for_each_prefix(|prefix| can = self.is_extension(prefix.keep) && self.plan(prefix).is_some());
        can
    }

    /// Visits prefixes that tear no unit, none of the prompt first and all of it last.
    fn for_each_prefix(&self, mut visit: impl FnMut(&Prefix)) {
        let parts = &self.standing.parts;
        let mut left = vec![0; self.state.units.len()];
        for part in parts {
            left[self.unit_of(part)] += 1;
        }
        let mut prefix = Prefix { keep: 0, quarters: 0, coverage: 0.0, rows: vec![0; left.len()] };
        visit(&prefix);
        let step = parts.len().div_ceil(PREFIXES).max(1);
        let (mut open, mut visited) = (0_usize, 0);
        for (index, part) in parts.iter().enumerate() {
            let unit = self.unit_of(part);
            open += usize::from(prefix.rows[unit] == 0);
            prefix.keep = index + 1;
            prefix.quarters += part.quarters;
            prefix.coverage += self.covers(part);
            prefix.rows[unit] += 1;
            left[unit] -= 1;
            open -= usize::from(left[unit] == 0);
            if prefix.keep == parts.len() || open == 0 && prefix.keep - visited >= step {
                visited = prefix.keep;
                visit(&prefix);
            }
        }
    }

    fn unit_of(&self, part: &PlannedPart) -> usize {
        self.state.rows[part.row].unit
    }

    fn is_extension(&self, keep: usize) -> bool {
        self.standing.is_whole && keep == self.standing.parts.len()
    }

    /// Fills the room behind a prefix; none where what must be there does not fit.
    fn plan(&self, prefix: &Prefix) -> Option<PrefixPlan> {
        let is_missing = |unit: usize| prefix.rows[unit] < self.state.units[unit].rows.len();
        let is_extension = self.is_extension(prefix.keep);
        if self.standing.has_ledger && prefix.keep > 0 && !is_extension {
            return None;
        }
        let base = (BASE_SHARE * self.limit as f64) as u64;
        let (mut used, mut coverage) = (prefix.quarters, prefix.coverage);
        let mut taken = vec![false; self.state.units.len()];
        let mut units = Vec::new();
        let torn = self.torn.iter().filter(|unit| prefix.rows[**unit] > 0);
        for unit in self.pinned.iter().chain(torn).copied() {
            if is_missing(unit) && !std::mem::replace(&mut taken[unit], true) {
                used += self.costs[unit];
                units.push(unit);
            }
        }
        if used > self.limit {
            return None;
        }
        for unit in self.new.iter().copied().filter(|unit| is_missing(*unit)) {
            if taken[unit] {
                continue;
            }
            // What is said stays in the conversation, as long as it grows.
            if used + self.costs[unit] > if is_extension { self.limit } else { base } {
                if is_extension {
                    return None;
                }
                break;
            }
            taken[unit] = true;
            used += self.costs[unit];
            coverage += self.weights[unit];
            units.push(unit);
        }
        // Room that is used up is what the next cut comes earlier by.
        let rent = self.price / self.limit as f64;
        for unit in self.ranked.iter().copied() {
            let cost = self.costs[unit];
            if prefix.rows[unit] > 0 || taken[unit] || used + cost > self.limit {
                continue;
            }
            let is_base = !is_extension && used + cost <= base;
            if is_base || self.weights[unit] >= rent * cost as f64 {
                used += cost;
                coverage += self.weights[unit];
                units.push(unit);
            }
        }
        let lost = 1.0 - self.standing.shares[prefix.keep];
        Some(PrefixPlan { keep: prefix.keep, units, value: coverage - self.price * lost - rent * used as f64 })
    }

    /// Returns what a standing part shows of all that is wanted.
    fn covers(&self, part: &PlannedPart) -> f64 {
        let unit = self.unit_of(part);
        let wanted = self.wanted[unit].iter().flatten().find(|wanted| wanted.row == part.row);
        let weight = self.weights[unit] / self.state.units[unit].rows.len() as f64;
        wanted.map_or(0.0, |wanted| weight * self.says(part, wanted))
    }

    /// Returns how much of a wanted part a standing one says, from 0 to 1.
    fn says(&self, part: &PlannedPart, wanted: &PlannedPart) -> f64 {
        match (&part.content, &wanted.content) {
            (said, content) if said == content => 1.0,
            (EntryContent::Quote { text: said, .. }, EntryContent::Quote { text, .. }) => {
                let found = text.split(GAP).filter(|piece| said.contains(piece)).map(str::len).sum::<usize>();
                let share = found as f64 / text.len().max(1) as f64;
                // Both ends are in every excerpt.
                share * share
            }
            // The item itself says all that an excerpt does, unless it is a digest.
            (EntryContent::Own, _) if !self.planner.is_digest(part.at) => 1.0,
            _ => 0.0,
        }
    }

    pub fn finish(mut self, plan: &PrefixPlan, reason: &'static str) -> (UnitSelection, Option<PromptLayout>) {
        let items = self.state.sources.events.items();
        let mut parts: Vec<Option<PlannedPart>> = vec![None; self.state.rows.len()];
        let mut marked = vec![false; items.len()];
        let mut order = Vec::new();
        let mut last = None;
        for (part, recalled) in self.standing.parts[..plan.keep].iter().zip(&self.standing.recalled) {
            marked[part.at] = *recalled;
            if !recalled {
                last = last.max(Some(part.at));
            }
            order.push(part.at);
            parts[part.row] = Some(part.clone());
        }
        let (mut fresh, mut recalled) = (Vec::new(), Vec::new());
        for unit in &plan.units {
            let wanted = self.wanted[*unit].take().into_iter().flatten();
            let added: Vec<PlannedPart> = wanted.filter(|part| parts[part.row].is_none()).collect();
            let is_recalled = added.iter().any(|part| Some(part.at) < last);
            for mut part in added {
                if is_recalled {
                    part.quarters += MARK_QUARTERS;
                    marked[part.at] = true;
                    recalled.push(part.at);
                } else {
                    fresh.push(part.at);
                }
                let row = part.row;
                parts[row] = Some(part);
            }
        }
        order::sort(&mut fresh);
        order::sort(&mut recalled);
        // The current turn comes last: the last new user turn and what follows it.
        let turn = fresh.iter().rposition(|at| items[*at].kind == ItemKind::UserTurn).unwrap_or(fresh.len());
        let (before, current) = fresh.split_at(turn);
        order.extend(before.iter().chain(&recalled).chain(current));

        let mut selection = UnitSelection::of(self.state.units.len());
        selection.used = parts.iter().flatten().map(|part| part.quarters).sum();
        selection.work = (self.state.rows.len() + PREFIXES) as u64 + self.planner.work.get();
        for (index, unit) in self.state.units.iter().enumerate() {
            let shown: Vec<PlannedPart> = unit.rows.iter().filter_map(|row| parts[*row].take()).collect();
            if shown.is_empty() {
                selection.dropped.push((index, NO_ROOM));
            } else {
                selection.taken[index] = Some(shown);
            }
        }
        (selection, Some(PromptLayout { order, recalled: marked, reason }))
    }
}

/// Returns what it costs to repeat nothing, in shares of what the query wants.
fn price(stability: f64, credit: f64, coverage: f64) -> f64 {
    if stability <= 0.0 {
        return 0.0;
    }
    let stability = stability.min(MAX_STABILITY);
    let default = contextweaver_base::limits::APPEND_STABILITY;
    let odds = stability / (1.0 - stability) * ((1.0 - default) / default);
    let worth = libm::pow(2.0 * coverage, COVERAGE_POWER).clamp(MIN_COVERAGE_FACTOR, MAX_COVERAGE_FACTOR);
    (PRICE * odds * libm::exp2(-credit / CREDIT_HALF) * worth).clamp(MIN_PRICE, MAX_PRICE)
}

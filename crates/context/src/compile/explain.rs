//! Why every candidate was kept or dropped.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::json;

use crate::compile::select::row::PlannedPart;
use crate::compile::select::units::{UnitRecord, UnitSelection};
use crate::compile::state::BuildState;
use contextweaver_base::order::sort_by;
use contextweaver_model::{
    Bm25nWeights, BuildStats, CandidateDetail, CandidateExplanation, DropReason, Explanation, JsonMap, ScoreParts,
    Stage,
};

/// Rounds a score the way records show it.
pub fn round4(value: f64) -> f64 {
    contextweaver_model::json::numbers::round(value, 4)
}

/// Returns the weights in force.
pub fn weights(weights: Bm25nWeights) -> JsonMap {
    let value = json!({ "kind_weight": weights.kind_weight, "recency_weight": weights.recency_weight });
    value.as_object().cloned().unwrap_or_default()
}

/// Makes the record of a build.
pub fn explain(build: &BuildState, selection: &UnitSelection, stats: &BuildStats) -> Explanation {
    let mut candidates: Vec<CandidateExplanation> =
        build.excluded.iter().map(|item| explain_excluded(build, item)).collect();
    let mut included: Vec<Option<&PlannedPart>> = vec![None; build.rows.len()];
    for part in selection.parts() {
        included[part.row] = Some(part);
    }
    let reasons_by_id: HashMap<&str, &str> =
        stats.dropped_items.iter().map(|drop| (drop.item_id.as_str(), &*drop.reason)).collect();
    candidates.extend((0..build.rows.len()).map(|index| {
        let id = build.sources.events.items()[build.rows[index].at].id.as_str();
        let record = &selection.records[build.rows[index].unit];
        explain_row(build, index, included[index], record, reasons_by_id.get(id).copied().unwrap_or(""))
    }));
    sort_by(&mut candidates, |a, b| order((a.score, a), (b.score, b)));
    let query = build.sources.options.mask_record(&build.request.query).into_owned();
    Explanation {
        version: 1,
        phase: build.request.phase,
        query,
        total_candidates: stats.total_candidates,
        included_count: stats.included_count,
        dropped_count: stats.dropped_count,
        dropped_reasons: reasons(stats),
        dependency_closures: stats.dependency_closures,
        sensitivity_drops: build.excluded.iter().filter(|item| item.reason == DropReason::Sensitivity).count() as u64,
        dedup_removed: stats.dedup_removed,
        budget_tokens: stats.budget_tokens.unwrap_or(0).saturating_sub(stats.header_footer_tokens),
        resolved_weights: weights(build.sources.options.scoring.weights),
        candidates,
    }
}

/// Returns drops per reason as a JSON object.
pub fn reasons(stats: &BuildStats) -> JsonMap {
    stats.dropped_reasons.iter().map(|(reason, count)| (reason.clone(), (*count).into())).collect()
}

/// Orders candidates, each with the score it is ordered by: included first, then by score descending (none last), then by
/// id.
pub fn order(
    (a_score, a): (Option<f64>, &CandidateExplanation),
    (b_score, b): (Option<f64>, &CandidateExplanation),
) -> Ordering {
    b.included
        .cmp(&a.included)
        .then_with(|| match (a_score, b_score) {
            (Some(x), Some(y)) => y.total_cmp(&x),
            (x, y) => y.is_some().cmp(&x.is_some()),
        })
        .then_with(|| a.item_id.cmp(&b.item_id))
}

fn explain_excluded(build: &BuildState, excluded: &crate::compile::state::ExcludedItem) -> CandidateExplanation {
    let item = &build.sources.events.items()[excluded.at];
    let tokens = build.sources.index.entry(excluded.at).part_quarters / 4;
    CandidateExplanation {
        item_id: item.id.clone(),
        kind: item.kind,
        sensitivity: excluded.level,
        score: None,
        included: false,
        drop_reason: excluded.reason.to_string(),
        dependency_closure: build.closures.binary_search(&excluded.at).is_ok(),
        detail: Some(CandidateDetail::unscored(excluded.stage, tokens, excluded.unit, None)),
    }
}

fn explain_row(
    build: &BuildState,
    index: usize,
    part: Option<&PlannedPart>,
    record: &UnitRecord,
    reason: &str,
) -> CandidateExplanation {
    let unit = &build.units[build.rows[index].unit];
    let row = &build.rows[index];
    let item = &build.sources.events.items()[row.at];
    let parts = build.parts[index];
    CandidateExplanation {
        item_id: item.id.clone(),
        kind: item.kind,
        sensitivity: row.level,
        score: Some(round4(build.scores[index])),
        included: part.is_some(),
        drop_reason: reason.to_owned(),
        dependency_closure: build.closures.binary_search(&row.at).is_ok(),
        detail: Some(CandidateDetail {
            stage: if part.is_some() { Stage::Render } else { Stage::Select },
            tokens: part.map_or(row.quarters, |part| part.quarters) / 4,
            unit: row.unit as u32,
            rendered_as: part.map(|part| part.form),
            parts: ScoreParts {
                text: round4(parts.text),
                neighbours: round4(parts.neighbours),
                caller: round4(parts.caller),
            },
            pinned: unit.pinned,
            block_tokens: unit.quarters.div_ceil(4),
            priority: record.priority.map(round4),
            room_tokens: record.weighed.map(|(room, _)| room / 4),
            needed_tokens: record.weighed.map(|(_, needed)| needed.div_ceil(4)),
            taken_by: record.taken_by,
        }),
    }
}

//! Stage 3: labels and what they forbid.

use crate::compile::closure::{DependencyClosure, LogCandidate};
use crate::compile::select::row::CandidateRow;
use crate::compile::state::{BuildState, ExcludedItem};
use crate::sensitivity::{SensitivityVerdict, classified, judge};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::{DropReason, ItemKind, Stage};
use contextweaver_text::quote::quote;

/// Stage 3. A call or result that leaves takes its calls and results along: half a pair is worse than none.
pub fn sensitivity(state: &mut BuildState, closure: &DependencyClosure, pins: &[usize]) -> Result<()> {
    let items = state.items();
    let (options, answers) = (state.sources.options, state.sources.answers);
    let is_half = |at: usize| matches!(items[at].kind, ItemKind::ToolCall | ItemKind::ToolResult);
    let mut verdicts = Vec::with_capacity(closure.candidates.len());
    let mut broken = vec![false; closure.candidates.len()];
    for candidate in &closure.candidates {
        let item = &items[candidate.at];
        let level = classified(item, options, answers);
        let verdict = judge(item, level, options, answers);
        if verdict == SensitivityVerdict::Drop {
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
    for (candidate, (level, verdict)) in closure.candidates.iter().zip(verdicts) {
        let LogCandidate { at, unit, stub } = *candidate;
        let leave = |reason| ExcludedItem { at, unit, level, stage: Stage::Sensitivity, reason };
        let unit_at = unit as usize;
        let row = |redacted| CandidateRow {
            at,
            unit: unit_at,
            level,
            stub,
            redacted,
            quarters: 0,
            text_score: 0.0,
            stands: None,
        };
        match verdict {
            SensitivityVerdict::Drop => state.excluded.push(leave(DropReason::Sensitivity)),
            _ if broken[unit as usize] && is_half(at) => state.excluded.push(leave(DropReason::Pair)),
            SensitivityVerdict::Keep => state.rows.push(row(None)),
            SensitivityVerdict::Redact(item) => state.rows.push(row(Some(item))),
        }
    }
    Ok(())
}

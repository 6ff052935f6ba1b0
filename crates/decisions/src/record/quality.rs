//! How well a decision is documented.

use serde::Serialize;

use crate::record::Decision;
use contextweaver_model::json::numbers::round;

/// Score of how well a decision is documented.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordQuality {
    /// From 0 to 1, in hundredths.
    pub score: f64,
    /// One sentence for each thing that is missing.
    pub suggestions: Vec<&'static str>,
}

/// Scores the record of a decision.
pub fn record_quality(decision: &Decision) -> RecordQuality {
    let deliberation = decision.deliberation.as_ref();
    let steps = deliberation.map_or(&[][..], |deliberation| &deliberation.steps);
    let has_content = deliberation.is_some_and(|it| !it.inputs.is_empty() || !it.steps.is_empty());
    let was_prepared = decision.pre_decision.as_ref().is_some_and(|it| it.query_run || it.guardrails_checked);
    // What it is worth in hundredths, whether it is there, and what to say if not.
    let parts = [
        (15, decision.pattern.is_some(), "name the pattern the decision follows"),
        (15, !decision.tags.is_empty(), "add tags, so that it is found by topic"),
        (15, reason_kinds(decision) >= 2, "give reasons of at least two types"),
        (10, decision.bridge.is_some(), ""),
        (10, decision.decision.chars().count() > 20, "say in more than 20 characters what was decided"),
        (10, context_length(decision) > 10, "describe the circumstances in more than 10 characters"),
        (10, is_located(decision), ""),
        (5, has_content || was_prepared, ""),
        (10, steps.iter().any(|step| step.kind.as_deref() == Some("reasoning")), "record a thought that led to it"),
    ];
    let hundredths: u32 = parts.iter().filter(|(_, is_there, _)| *is_there).map(|(worth, ..)| worth).sum();
    let missing = parts.iter().filter(|(_, is_there, advice)| !is_there && !advice.is_empty());
    RecordQuality {
        score: round(f64::from(hundredths) / 100.0, 2),
        suggestions: missing.map(|(_, _, advice)| *advice).collect(),
    }
}

fn context_length(decision: &Decision) -> usize {
    decision.context.as_deref().map_or(0, |context| context.chars().count())
}

/// Counts the kinds of reasons.
fn reason_kinds(decision: &Decision) -> usize {
    let reasons = &decision.reasons;
    let is_new = |(place, reason): &(usize, &crate::record::DecisionReason)| {
        reasons[..*place].iter().all(|before| before.kind != reason.kind)
    };
    reasons.iter().enumerate().filter(is_new).count()
}

/// Tells whether a decision says where in which project it applies.
const fn is_located(decision: &Decision) -> bool {
    decision.project.is_some()
        || decision.feature.is_some()
        || decision.pr.is_some()
        || decision.file.is_some()
        || decision.line.is_some()
        || decision.commit.is_some()
}

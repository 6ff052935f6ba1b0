//! What an agent should know at the start of a session.

mod escape;
mod markdown;

use serde_json::{Value, json};

pub use self::markdown::{BriefingBudget, FittedMarkdown};
use crate::calibration::Calibration;
use crate::calibration::statistics::round;
use crate::profile::{AgentProfile, FollowedPattern};
use crate::ready::{DueAction, OVERDUE};
use crate::record::CompactionLevel;
use crate::record::Decision;
use crate::terms::case_folded;
use contextweaver_base::order::WordSet;
use contextweaver_model::json::JsonMap;

/// Lessons that are shown.
const MAX_LESSONS: usize = 10;

/// Everything a session starts with; what was not asked for is empty.
#[derive(Debug, Clone, Default)]
pub struct Briefing {
    /// Whether credentials are masked in Markdown, before it is made to fit.
    pub redact_secrets: bool,
    /// What past decisions say about the agent.
    pub profile: AgentProfile,
    /// Decisions like the task, as they are shown elsewhere.
    pub relevant: Vec<Value>,
    /// Descriptions of the guardrails in force.
    pub guardrails: Vec<Value>,
    /// Calibration of each category with enough reviews.
    pub calibration: Vec<(String, Calibration)>,
    /// Overdue reviews and stale decisions.
    pub ready: Vec<DueAction>,
    /// Rules that several decisions follow.
    pub patterns: Vec<FollowedPattern>,
    /// Breakers that saw failures; nothing where there is none.
    pub breakers: Vec<Value>,
    /// Contradictions between decisions; none where the section was not asked for.
    pub contradictions: Option<Vec<Value>>,
    /// Lessons of old decisions; none where the section was not asked for.
    pub wisdom: Option<Vec<Value>>,
}

impl Briefing {
    /// Writes the briefing as JSON; sections that were not asked for are empty, those that are ours are absent.
    pub fn to_json(&self) -> JsonMap {
        let calibration: JsonMap =
            self.calibration.iter().map(|(category, figures)| (category.clone(), json!(figures))).collect();
        let mut out = JsonMap::new();
        let mut put = |key: &str, value: Value| out.insert(key.to_owned(), value);
        put("agentProfile", json!(self.profile));
        put("relevantDecisions", self.relevant.clone().into());
        put("activeGuardrails", self.guardrails.clone().into());
        put("calibrationByCategory", Value::Object(calibration));
        put("readyQueue", self.ready.iter().map(due).collect());
        put("confirmedPatterns", json!(self.patterns));
        if let Some(wisdom) = &self.wisdom {
            put("wisdom", wisdom.clone().into());
        }
        if !self.breakers.is_empty() {
            put("circuitBreakers", self.breakers.clone().into());
        }
        if let Some(contradictions) = &self.contradictions {
            put("contradictions", contradictions.clone().into());
        }
        put("queryTimeMs", 0.into());
        out
    }

    /// Writes the briefing as Markdown within a budget.
    pub fn to_markdown(&self, agent: &str, budget: BriefingBudget) -> FittedMarkdown {
        markdown::write(self, agent, budget)
    }
}

fn due(due: &DueAction) -> Value {
    let reason = if due.kind == OVERDUE { "overdue_review" } else { due.kind };
    json!({ "id": due.decision_id, "title": due.title, "reason": reason, "date": due.date, "detail": due.detail })
}

/// Returns what was learned from decisions so old that the rest of them is not shown any more, each lesson once.
pub fn wisdom<'d>(decisions: impl Iterator<Item = &'d Decision>, now: i64) -> Vec<Value> {
    let mut seen = WordSet::default();
    let mut out = Vec::new();
    for decision in decisions.filter(|decision| CompactionLevel::of(decision, now) == CompactionLevel::Wisdom) {
        let lesson = decision.lessons.as_deref().unwrap_or_default();
        let key = case_folded(lesson);
        if key.is_empty() || seen.contains(&key) {
            continue;
        }
        seen = WordSet::new(seen.words().iter().cloned().chain([key]).collect());
        out.push(json!({
            "id": decision.id,
            "lesson": lesson,
            "category": decision.category,
            "outcome": decision.outcome,
            "confidence": decision.confidence.map(|confidence| round(confidence, 2)),
        }));
        if out.len() == MAX_LESSONS {
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests;

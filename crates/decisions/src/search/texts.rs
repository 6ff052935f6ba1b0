//! What of a decision is searched.

use crate::record::Decision;
use contextweaver_text::redact::mask_secrets;

contextweaver_model::string_enum! {
    /// The part of a decision that a query is compared with.
    #[derive(Default)]
    BridgeSide, "bridge_side" {
        /// The whole decision.
        #[default]
        Both = "both",
        /// What the solution looks like, from its bridge.
        Structure = "structure",
        /// The purpose it serves, from its bridge.
        Function = "function",
    }
}

impl BridgeSide {
    const fn label(self) -> &'static str {
        match self {
            Self::Both => "",
            Self::Structure => "Structure: ",
            Self::Function => "Function: ",
        }
    }

    /// Returns a query as it is compared with the vectors of this side. Embedders see it: its secrets are masked.
    pub fn query(self, text: &str) -> String {
        [self.label(), &mask_secrets(text)].concat()
    }
}

impl Decision {
    /// Returns what was decided, in the words that lists show.
    pub fn title(&self) -> &str {
        if self.summary.is_empty() { &self.decision } else { &self.summary }
    }
}

/// Returns the words that are searched, in one line.
pub fn keyword_text(decision: &Decision) -> String {
    let mut parts: Vec<&str> = vec![&decision.summary, &decision.decision];
    parts.push(decision.context.as_deref().unwrap_or_default());
    parts.push(&decision.category);
    parts.extend(decision.tags.iter().map(String::as_str));
    parts.extend(decision.reasons.iter().flat_map(|reason| [reason.text.as_str(), reason.kind.as_str()]));
    parts.retain(|part| !part.is_empty());
    parts.join(" ")
}

/// Returns the text that stands for one side of a decision in a vector; for all of it where there is no such side. Embedders
/// see it: its secrets are masked.
pub fn embedding_text(decision: &Decision, side: BridgeSide) -> String {
    let bridge = decision.bridge.as_ref();
    let text = match side {
        BridgeSide::Both => None,
        BridgeSide::Structure => bridge.map(|bridge| bridge.structure.as_str()),
        BridgeSide::Function => bridge.map(|bridge| bridge.function.as_str()),
    };
    match text.filter(|text| !text.is_empty()) {
        Some(text) => side.query(text),
        None => mask_secrets(&whole(decision)).into_owned(),
    }
}

fn whole(decision: &Decision) -> String {
    let mut out = String::new();
    let text = if decision.decision.is_empty() { &decision.summary } else { &decision.decision };
    line(&mut out, "Decision: ", Some(text));
    line(&mut out, "Context: ", decision.context.as_deref());
    line(&mut out, "Category: ", Some(&decision.category));
    let reasons: Vec<&str> = decision.reasons.iter().map(|reason| reason.text.as_str()).collect();
    line(&mut out, "Reasons: ", Some(&reasons.join(" | ")));
    if !decision.trace.is_empty() {
        line(&mut out, "", Some("Reasoning Trace:"));
    }
    for step in &decision.trace {
        let output = step.output.as_deref().filter(|output| !output.is_empty());
        let arrow = if output.is_some() { " -> " } else { "" };
        let text = [step.thought.as_str(), arrow, output.unwrap_or_default()].concat();
        line(&mut out, &format!("Step {}: ", step.step), Some(&text));
    }
    line(&mut out, "Tags: ", Some(&decision.tags.join(", ")));
    line(&mut out, "Pattern: ", decision.pattern.as_deref());
    line(&mut out, "Project: ", decision.project.as_deref());
    line(&mut out, "Feature: ", decision.feature.as_deref());
    line(&mut out, "File: ", decision.file.as_deref());
    line(&mut out, "PR #", decision.pr.map(|number| number.to_string()).as_deref());
    if let Some(bridge) = &decision.bridge {
        line(&mut out, "Structure: ", Some(&bridge.structure));
        line(&mut out, "Function: ", Some(&bridge.function));
    }
    line(&mut out, "Outcome: ", decision.outcome.as_deref());
    line(&mut out, "Lessons: ", decision.lessons.as_deref());
    out
}

fn line(out: &mut String, label: &str, text: Option<&str>) {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return };
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(label);
    out.push_str(text);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Bridge, DecisionReason, TraceStep};

    fn example() -> Decision {
        Decision {
            summary: "Use Redis".to_owned(),
            decision: "Use Redis".to_owned(),
            category: "architecture".to_owned(),
            context: Some("Slow sessions".to_owned()),
            reasons: vec![
                DecisionReason {
                    kind: "analysis".to_owned(),
                    text: "Fast".to_owned(),
                    strength: 0.8,
                    unknown: serde_json::Map::new(),
                },
                DecisionReason {
                    kind: String::new(),
                    text: "Known".to_owned(),
                    strength: 0.8,
                    unknown: serde_json::Map::new(),
                },
            ],
            trace: vec![
                TraceStep {
                    step: 1,
                    thought: "Measured".to_owned(),
                    output: Some("40 ms".to_owned()),
                    ..TraceStep::default()
                },
                TraceStep { step: 2, thought: "Compared".to_owned(), ..TraceStep::default() },
            ],
            tags: vec!["cache".to_owned(), "db".to_owned()],
            pr: Some(7),
            bridge: Some(Bridge {
                structure: "A store in memory".to_owned(),
                function: "Quick sessions".to_owned(),
                ..Bridge::default()
            }),
            outcome: Some("success".to_owned()),
            ..Decision::default()
        }
    }

    #[test]
    fn no_embedder_sees_a_secret() {
        let told = Decision { decision: "Keep password=hunter22 in the vault".to_owned(), ..Decision::default() };
        for text in [embedding_text(&told, BridgeSide::Both), BridgeSide::Function.query("password=hunter22")] {
            assert!(text.contains("password=[") && !text.contains("hunter22"), "{text}");
        }
    }

    #[test]
    fn words_come_from_what_was_decided_and_why() {
        assert_eq!(
            keyword_text(&example()),
            "Use Redis Use Redis Slow sessions architecture cache db Fast analysis Known"
        );
        assert_eq!(keyword_text(&Decision::default()), "");
    }

    #[test]
    fn meaning_has_a_line_for_each_part_that_is_there() {
        let whole = "Decision: Use Redis\nContext: Slow sessions\nCategory: architecture\nReasons: Fast | Known\n\
            Reasoning Trace:\nStep 1: Measured -> 40 ms\nStep 2: Compared\nTags: cache, db\nPR #7\n\
            Structure: A store in memory\nFunction: Quick sessions\nOutcome: success";
        assert_eq!(embedding_text(&example(), BridgeSide::Both), whole);
        assert_eq!(embedding_text(&example(), BridgeSide::Structure), "Structure: A store in memory");
        assert_eq!(embedding_text(&example(), BridgeSide::Function), "Function: Quick sessions");
        let bare = Decision { decision: "x".to_owned(), ..Decision::default() };
        assert_eq!(embedding_text(&bare, BridgeSide::Function), "Decision: x");
    }
}

//! A briefing as Markdown.

use std::borrow::Cow;

use serde_json::Value;

use super::Briefing;
use super::escape::plain_text;
use crate::profile::AgentProfile;
use crate::ready::OVERDUE;
use contextweaver_model::json::numbers::fixed;
use contextweaver_model::json::{float_text, number_text};
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::tokens::Estimator;

/// Bounds of the Markdown; lines are left out until it keeps both.
#[derive(Debug, Clone, Copy, Default)]
pub struct BriefingBudget {
    /// Most Unicode characters.
    pub chars: Option<u64>,
    /// Most tokens of the estimator.
    pub tokens: Option<u64>,
}

/// Markdown that fits a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FittedMarkdown {
    /// The text, without trailing white space.
    pub markdown: String,
    /// Number of lines that did not fit.
    pub omitted: usize,
}

/// A section: a heading, and lines that can be left out from the end.
struct BriefingSection {
    /// What is left out first: the lowest rank.
    rank: u8,
    heading: String,
    lines: Vec<String>,
    /// Whether the heading stands without lines.
    bare: bool,
}

impl BriefingSection {
    fn new(rank: u8, heading: &str, lines: Vec<String>) -> Self {
        Self { rank, heading: format!("### {heading}"), lines, bare: false }
    }

    fn is_shown(&self) -> bool {
        self.bare || !self.lines.is_empty()
    }
}

pub(super) fn write(briefing: &Briefing, agent: &str, budget: BriefingBudget) -> FittedMarkdown {
    let mut sections = sections(briefing, agent);
    // A credential may also come about between the texts of a line.
    if briefing.redact_secrets {
        for section in &mut sections {
            for line in std::iter::once(&mut section.heading).chain(&mut section.lines) {
                if let Cow::Owned(masked) = mask_secrets(line) {
                    *line = masked;
                }
            }
        }
    }
    let omitted = fit(&mut sections, budget);
    let mut markdown = String::new();
    for section in sections.iter().filter(|section| section.is_shown()) {
        for line in std::iter::once(&section.heading).chain(&section.lines) {
            markdown.push_str(line);
            markdown.push('\n');
        }
        markdown.push('\n');
    }
    markdown.truncate(markdown.trim_end().len());
    FittedMarkdown { markdown, omitted }
}

fn sections(briefing: &Briefing, agent: &str) -> Vec<BriefingSection> {
    let mask = briefing.redact_secrets;
    let each = |list: &[Value], line: fn(&Value, bool) -> String| -> Vec<String> {
        list.iter().map(|item| line(item, mask)).collect()
    };
    let none = Vec::new();
    let pending = format!("Pending Actions ({})", briefing.ready.len());
    let head = format!("## CSTP Decision Context ({})", plain_text(mask, agent));
    let contradictions = each(briefing.contradictions.as_ref().unwrap_or(&none), contradiction);
    let mut table = BriefingSection::new(3, "Calibration by Category", calibration(briefing));
    table.heading.push_str("\n| Category | Accuracy | Brier | Decisions |\n|---|---|---|---|");
    vec![
        BriefingSection { rank: 9, heading: head, lines: vec![], bare: true },
        BriefingSection::new(8, "Profile", profile(&briefing.profile, mask)),
        BriefingSection::new(7, "Active Guardrails", each(&briefing.guardrails, guardrail)),
        BriefingSection::new(6, "Circuit Breakers", each(&briefing.breakers, breaker)),
        table,
        BriefingSection::new(5, &pending, ready(briefing)),
        BriefingSection::new(2, "Confirmed Patterns", patterns(briefing)),
        BriefingSection::new(1, "Contradictions", contradictions),
        BriefingSection::new(0, "Wisdom", each(briefing.wisdom.as_ref().unwrap_or(&none), lesson)),
        BriefingSection::new(4, "Relevant Decisions", each(&briefing.relevant, relevant)),
        BriefingSection::new(8, "Protocol", vec![
            "Call `pre_action` before anything that matters: it finds what was decided before, checks the guardrails and \
             records the decision. Call `review_outcome` when the outcome is known."
                .to_owned(),
        ]),
    ]
}

/// Leaves out lines until the rest fits: the last of the least important section first.
fn fit(sections: &mut [BriefingSection], budget: BriefingBudget) -> usize {
    let estimator = Estimator::V3;
    let cost = |text: &str| (text.chars().count() as u64 + 1, estimator.quarters(text) + 1);
    let whole = |section: &BriefingSection| {
        let lines = std::iter::once(&section.heading).chain(&section.lines).map(|line| cost(line));
        // The empty line between sections, too.
        lines.fold((1, 1), |sum, line| (sum.0 + line.0, sum.1 + line.1))
    };
    let shown = sections.iter().filter(|section| section.is_shown()).map(whole);
    let mut size = shown.fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
    // The last two line feeds are not written.
    let fits = |size: (u64, u64)| {
        budget.chars.is_none_or(|chars| size.0 <= chars.saturating_add(2))
            && budget.tokens.is_none_or(|tokens| size.1 <= tokens.saturating_mul(4).saturating_add(2))
    };
    let mut omitted = 0;
    while !fits(size) {
        let least = sections.iter_mut().filter(|section| section.is_shown()).min_by_key(|section| section.rank);
        let Some(section) = least else { break };
        let mut gone = (0, 0);
        if let Some(line) = section.lines.pop() {
            gone = cost(&line);
            omitted += 1;
        } else {
            section.bare = false;
        }
        if !section.is_shown() {
            let heading = whole(section);
            gone = (gone.0 + heading.0, gone.1 + heading.1);
        }
        size = (size.0.saturating_sub(gone.0), size.1.saturating_sub(gone.1));
    }
    omitted
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn percent(ratio: f64) -> String {
    fixed(ratio * 100.0, 0) + "%"
}

fn profile(profile: &AgentProfile, mask: bool) -> Vec<String> {
    let mut out = vec![format!("- **Decisions:** {} total, {} reviewed", profile.total_decisions, profile.reviewed)];
    if let (Some(accuracy), Some(brier), Some(tendency)) =
        (profile.overall_accuracy, profile.brier_score, profile.tendency)
    {
        let (accuracy, brier) = (percent(accuracy), float_text(brier));
        out.push(format!("- **Accuracy:** {accuracy} | **Brier:** {brier} | **Tendency:** {tendency}"));
    }
    let named = [("Strongest", &profile.strongest_category), ("Weakest", &profile.weakest_category)];
    let named: Vec<String> = named
        .iter()
        .filter_map(|(name, category)| Some(format!("**{name}:** {}", plain_text(mask, category.as_deref()?))))
        .collect();
    if !named.is_empty() {
        out.push(format!("- {}", named.join(" | ")));
    }
    out
}

fn guardrail(rule: &Value, mask: bool) -> String {
    let description = text(rule, "description");
    let name = if description.is_empty() { text(rule, "id") } else { description };
    format!("- [{}] {}", text(rule, "action"), plain_text(mask, name))
}

fn breaker(breaker: &Value, mask: bool) -> String {
    let number = |key: &str| breaker.get(key).and_then(Value::as_i64);
    let resets = number("resetsInMs").map_or_else(String::new, |millis| {
        let seconds = millis.div_euclid(1000);
        if seconds < 60 { format!(", resets in {seconds}s") } else { format!(", resets in {}m", seconds / 60) }
    });
    let state = text(breaker, "state").to_uppercase();
    let (failures, threshold) = (number("failures").unwrap_or(0), number("threshold").unwrap_or(0));
    format!("- [{state}] {} — {failures}/{threshold} failures{resets}", plain_text(mask, text(breaker, "scope")))
}

fn calibration(briefing: &Briefing) -> Vec<String> {
    let mask = briefing.redact_secrets;
    let row = |(category, figures): &(String, crate::calibration::Calibration)| {
        let (accuracy, brier) = (percent(figures.accuracy), float_text(figures.brier_score));
        format!("| {} | {accuracy} | {brier} | {} |", plain_text(mask, category), figures.reviewed_decisions)
    };
    briefing.calibration.iter().map(row).collect()
}

fn ready(briefing: &Briefing) -> Vec<String> {
    let mask = briefing.redact_secrets;
    let lines = briefing.ready.iter().map(|due| {
        let sign = if due.kind == OVERDUE { "OVERDUE" } else { "STALE" };
        let of = |text: &Option<String>| plain_text(mask, text.as_deref().unwrap_or_default());
        format!("- [{sign}] {}: {} ({})", of(&due.decision_id), of(&due.title), of(&due.detail))
    });
    lines.collect()
}

fn patterns(briefing: &Briefing) -> Vec<String> {
    let mask = briefing.redact_secrets;
    let lines = briefing.patterns.iter().map(|pattern| {
        let facts: Vec<String> = std::iter::once(format!("{}x", pattern.count))
            .chain(pattern.categories.iter().map(|category| plain_text(mask, category)))
            .collect();
        format!("- {} ({})", plain_text(mask, &pattern.pattern), facts.join(", "))
    });
    lines.collect()
}

fn contradiction(item: &Value, mask: bool) -> String {
    let [a, b, detail] = ["aId", "bId", "detail"].map(|key| plain_text(mask, text(item, key)));
    format!("- {a} and {b}: {detail}")
}

fn lesson(item: &Value, mask: bool) -> String {
    let [lesson, category, outcome] = ["lesson", "category", "outcome"].map(|key| plain_text(mask, text(item, key)));
    format!("- {lesson} ({category}, {outcome})")
}

fn relevant(decision: &Value, mask: bool) -> String {
    let confidence = match decision.get("confidence") {
        Some(Value::Number(number)) => number.as_f64().map_or_else(|| number_text(number), float_text),
        _ => "?".to_owned(),
    };
    let outcome = Some(text(decision, "outcome")).filter(|outcome| !outcome.is_empty()).unwrap_or("pending");
    let superseded = if decision.get("superseded").is_some() { ", superseded" } else { "" };
    let [title, category, outcome] =
        [text(decision, "title"), text(decision, "category"), outcome].map(|text| plain_text(mask, text));
    format!("- [{confidence}] {title} ({category}, {outcome}{superseded})")
}

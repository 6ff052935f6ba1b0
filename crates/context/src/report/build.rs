//! A report on one build: for a terminal, for a console that understands Rich markup, and as data.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use contextweaver_model::BuildStats;
use contextweaver_model::json::numbers::percent;
use contextweaver_text::markdown::one_line;

/// Version of the data form.
pub const REPORT_VERSION: u32 = 2;

/// Share of the budget above which a section is worth a recommendation.
const LARGE_SECTION: f64 = 0.5;
/// Use of the budget below which the report speaks of headroom.
const COMFORTABLE_USE: f64 = 0.95;

/// What a build did, in three forms with the same content. None holds text of an item.
#[derive(Debug, Clone, PartialEq)]
pub struct BuildReport {
    /// For a terminal or a log.
    pub text: String,
    /// The same with Rich markup tags for colour.
    pub markup: String,
    /// For programs; its version is [`REPORT_VERSION`].
    pub data: Value,
}

impl BuildReport {
    /// Reports on stats; `phase` is a label and `budget` what shares are computed of, by default the build's own.
    ///
    /// ```
    /// use contextweaver_context::report::BuildReport;
    /// use contextweaver_context::{BuildRequest, ContextManager, ManagerOptions};
    /// use contextweaver_model::{ContextItem, ItemKind, Phase};
    ///
    /// let mut manager = ContextManager::new(ManagerOptions::default());
    /// manager.ingest(ContextItem::new("u1", ItemKind::UserTurn, "hello"))?;
    /// let pack = manager.build(&BuildRequest::new(Phase::Answer, ""))?.done().unwrap().pack;
    /// let report = BuildReport::of(&pack.stats, Some("answer"), None);
    /// assert!(!report.text.contains("hello"), "a report holds no text of an item");
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn of(stats: &BuildStats, phase: Option<&str>, budget: Option<i64>) -> Self {
        let figures = Figures::of(stats, phase, budget);
        Self { text: figures.text(), markup: figures.markup(), data: figures.data() }
    }
}

struct Figures<'a> {
    stats: &'a BuildStats,
    phase: Option<&'a str>,
    budget: Option<i64>,
    sections: Vec<&'a (String, u64)>,
    reasons: Vec<&'a (String, u64)>,
    total: i64,
}

impl<'a> Figures<'a> {
    fn of(stats: &'a BuildStats, phase: Option<&'a str>, budget: Option<i64>) -> Self {
        let sorted = |pairs: &'a [(String, u64)]| {
            let mut pairs: Vec<_> = pairs.iter().collect();
            contextweaver_base::order::sort_by(&mut pairs, |a, b| a.0.cmp(&b.0));
            pairs
        };
        Self {
            stats,
            phase,
            budget: budget.or_else(|| stats.budget_tokens.map(whole)),
            sections: sorted(&stats.tokens_per_section),
            reasons: sorted(&stats.dropped_reasons),
            total: whole(stats.prompt_tokens()),
        }
    }

    /// Returns the budget unless it is 0, of which nothing is a share.
    fn divisor(&self) -> Option<i64> {
        self.budget.filter(|budget| *budget != 0)
    }

    fn recommendations(&self) -> Vec<String> {
        let Some(budget) = self.budget.filter(|budget| *budget > 0) else { return Vec::new() };
        let mut out: Vec<String> = self
            .sections
            .iter()
            .filter(|(_, tokens)| ratio(whole(*tokens), budget) > LARGE_SECTION)
            .map(|(name, tokens)| {
                let share = percent(ratio(whole(*tokens), budget), 0);
                format!("⚠ {share} of budget used by {name} — consider lowering firewall threshold")
            })
            .collect();
        let headroom = budget.saturating_sub(self.total);
        if headroom <= 0 {
            out.push(format!("⚠ over budget by {} tokens — raise the budget or drop more aggressively", -headroom));
        } else if ratio(self.total, budget) < COMFORTABLE_USE {
            out.push(format!("✓ {} budget headroom — efficient", percent(ratio(headroom, budget), 1)));
        }
        out
    }

    fn data(&self) -> Value {
        json!({
            "version": REPORT_VERSION,
            "phase": self.phase,
            "budget": self.budget,
            "prompt_tokens": self.total,
            "tokens_per_section": as_map(&self.sections),
            "candidates": {
                "total": self.stats.total_candidates,
                "included": self.stats.included_count,
                "dropped": self.stats.dropped_count,
                "deduplicated": self.stats.dedup_removed,
                "dependency_closures": self.stats.dependency_closures,
            },
            "dropped_reasons": as_map(&self.reasons),
            "dropped_items": self.stats.dropped_items,
            "recommendations": self.recommendations(),
        })
    }

    fn text(&self) -> String {
        let rule = "=".repeat(50);
        // Writing to a string cannot fail.
        let mut title = format!("{rule}\nContext Build Report\n{rule}");
        if let Some(phase) = self.phase.filter(|phase| !phase.is_empty()) {
            let _ = write!(title, "\nPhase:  {}", one_line(phase));
        }
        if let Some(budget) = self.divisor() {
            let _ = write!(title, "\nBudget: {budget} tokens");
        }
        let stats = self.stats;
        let candidates = format!(
            "-- Candidates --\n  Generated:    {}\n  Included:     {}\n  Dropped:      {}\n  Deduplicated: {}\n  \
             Dep. closures:{}",
            stats.total_candidates,
            stats.included_count,
            stats.dropped_count,
            stats.dedup_removed,
            stats.dependency_closures
        );
        let mut blocks = vec![title, candidates, self.text_usage()];
        if !self.reasons.is_empty() {
            let lines = self.reasons.iter().map(|(reason, count)| format!("\n  {}: {count}", one_line(reason)));
            blocks.push("-- Dropped Items --".to_owned() + &lines.collect::<String>());
        }
        self.close(blocks, "-- Recommendations --", one_line)
    }

    fn text_usage(&self) -> String {
        let mut out = "-- Token Usage --".to_owned();
        if self.sections.is_empty() {
            return out + "\n  (no sections rendered)";
        }
        let budget = self.divisor();
        let _ = write!(out, "\n  {:<16}{:>10}", "Section", "Tokens");
        if budget.is_some() {
            let _ = write!(out, "{:>12}", "% Budget");
        }
        for (name, tokens) in &self.sections {
            let _ = write!(out, "\n  {:<16}{tokens:>10}", one_line(name));
            if let Some(budget) = budget {
                let _ = write!(out, "{:>12}", percent(ratio(whole(*tokens), budget), 1));
            }
        }
        let _ = write!(out, "\n  {}\n  {:<16}{:>10}", "-".repeat(36), "Total", self.total);
        if let Some(budget) = budget {
            let rest = budget.saturating_sub(self.total);
            let _ = write!(out, "{:>11}", percent(ratio(self.total, budget), 1));
            let _ = write!(out, "\n  {:<16}{rest:>10}{:>11}", "Remaining", percent(ratio(rest, budget), 1));
        }
        out
    }

    fn markup(&self) -> String {
        let mut title = "[bold cyan]Context Build Report[/bold cyan]".to_owned();
        if let Some(phase) = self.phase.filter(|phase| !phase.is_empty()) {
            let _ = write!(title, "  phase=[yellow]{}[/yellow]", untagged(phase));
        }
        if let Some(budget) = self.divisor() {
            let _ = write!(title, "  budget=[yellow]{budget}[/yellow] tokens");
        }
        let stats = self.stats;
        let candidates = format!(
            "[bold]Candidates[/bold]\n  generated={}  included=[green]{}[/green]  dropped=[red]{}[/red]  \
             dedup={}  closures={}",
            stats.total_candidates,
            stats.included_count,
            stats.dropped_count,
            stats.dedup_removed,
            stats.dependency_closures
        );
        let mut blocks = vec![title, candidates, self.markup_usage()];
        if !self.reasons.is_empty() {
            let lines =
                self.reasons.iter().map(|(reason, count)| format!("\n  [red]{}[/red]: {count}", untagged(reason)));
            blocks.push("[bold]Dropped Items[/bold]".to_owned() + &lines.collect::<String>());
        }
        self.close(blocks, "[bold]Recommendations[/bold]", untagged)
    }

    fn markup_usage(&self) -> String {
        let mut out = "[bold]Token Usage[/bold]".to_owned();
        if self.sections.is_empty() {
            return out + "\n  [dim](no sections rendered)[/dim]";
        }
        let budget = self.divisor();
        for (name, tokens) in &self.sections {
            let _ = write!(out, "\n  {:<16}{tokens:>8}", untagged(name));
            if let Some(budget) = budget {
                let share = ratio(whole(*tokens), budget);
                let colour = if share > LARGE_SECTION { "red" } else { "green" };
                let _ = write!(out, "  [{colour}]{:>6}[/{colour}]", percent(share, 1));
            }
        }
        let _ = write!(out, "\n  [bold]{:<16}{:>8}", "Total", self.total);
        if let Some(budget) = budget {
            let rest = budget.saturating_sub(self.total);
            let colour = if rest < 0 { "red" } else { "green" };
            let _ = write!(out, "  {:>6}[/bold]", percent(ratio(self.total, budget), 1));
            let _ = write!(
                out,
                "\n  [{colour}]{:<16}{rest:>8}  {:>6}[/{colour}]",
                "Remaining",
                percent(ratio(rest, budget), 1)
            );
        } else {
            out.push_str("[/bold]");
        }
        out
    }

    /// Joins blocks by blank lines; the last one without recommendations ends its line.
    fn close(&self, mut blocks: Vec<String>, title: &str, clean: fn(&str) -> String) -> String {
        let advice = self.recommendations();
        if advice.is_empty() {
            return blocks.join("\n\n") + "\n";
        }
        let lines = advice.iter().map(|line| format!("\n  {}", clean(line)));
        blocks.push(title.to_owned() + &lines.collect::<String>());
        blocks.join("\n\n")
    }
}

/// Brackets open tags in Rich markup; names are shown with parentheses instead.
fn untagged(text: &str) -> String {
    one_line(text).replace('[', "(").replace(']', ")")
}

fn as_map(pairs: &[&(String, u64)]) -> Map<String, Value> {
    pairs.iter().map(|(name, count)| (name.clone(), (*count).into())).collect()
}

fn whole(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn ratio(part: i64, of: i64) -> f64 {
    part as f64 / of as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(value: Value) -> BuildStats {
        BuildStats::from_value(value, "").unwrap()
    }

    fn advice(budget: i64) -> Vec<String> {
        let stats =
            stats(json!({"tokens_per_section": {"user_turn": 30, "tool_result": 50}, "header_footer_tokens": 20}));
        let data = BuildReport::of(&stats, None, Some(budget)).data;
        serde_json::from_value(data["recommendations"].clone()).unwrap()
    }

    #[test]
    fn advice_depends_on_the_use_of_the_budget() {
        assert_eq!(advice(0), Vec::<String>::new());
        assert_eq!(advice(-3), Vec::<String>::new());
        assert_eq!(advice(1000), ["✓ 90.0% budget headroom — efficient"]);
        assert_eq!(advice(101), Vec::<String>::new());
        assert_eq!(advice(100), ["⚠ over budget by 0 tokens — raise the budget or drop more aggressively"]);
        assert_eq!(advice(60).len(), 2);
    }

    #[test]
    fn names_cannot_forge_lines_or_tags() {
        let stats = stats(
            json!({"tokens_per_section": {"a\n-- Candidates --": 1, "[/red]": 2}, "dropped_reasons": {"[bold]x\n": 1}}),
        );
        let report = BuildReport::of(&stats, Some("[blink]"), Some(2));
        assert_eq!(report.text.matches("\n-- Candidates").count(), 1);
        for (forged, shown) in [("[blink]", "(blink)"), ("[/red]      ", "(/red)      "), ("[bold]x", "(bold)x")] {
            assert!(!report.markup.contains(forged) && report.markup.contains(shown), "{forged}");
        }
        assert_eq!(report.data["tokens_per_section"]["[/red]"], 2);
    }

    #[test]
    fn the_budget_of_the_build_is_the_default() {
        let mut stats = BuildStats::empty("heuristic/v3");
        stats.budget_tokens = Some(10);
        stats.prompt_tokens = Some(9);
        let report = BuildReport::of(&stats, None, None);
        assert_eq!((&report.data["budget"], &report.data["prompt_tokens"]), (&json!(10), &json!(9)));
        assert_eq!(BuildReport::of(&stats, None, Some(20)).data["budget"], 20);
    }
}

//! What is due: reviews that are late, decisions that wait for long, calibration that drifts.

use serde::Serialize;

use crate::calibration::{DriftAlert, drift, halves};
use crate::record::Decision;
use crate::terms::truncate_masked;
use crate::timestamps::{day, day_of};
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_model::Warning;
use contextweaver_model::json::numbers::fixed;
use contextweaver_text::quote::quote;
use contextweaver_text::unicode::prefix;

/// The kinds of actions, in the order they are listed in.
pub const KINDS: &[&str] = &[OVERDUE, DRIFT, STALE];
/// Kind of an action: the date of review has passed.
pub const OVERDUE: &str = "review_outcome";
/// Kind of an action: pending for thirty days without a date of review.
pub const STALE: &str = "stale_pending";
const DRIFT: &str = "calibration_drift";
/// Priorities of actions, the lowest first.
pub const PRIORITIES: &[&str] = &["low", "medium", "high"];
/// Days after which a decision without a date of review has waited for long, and for very long.
const STALE_DAYS: i64 = 30;
const VERY_STALE_DAYS: i64 = 60;
/// Most characters of the title in an action.
const TITLE: usize = 80;
/// Characters of an id, where they are enough to tell it.
const SHORT_ID: usize = 8;
/// Most warnings of one queue; dates that cannot be read beyond them are not listed.
const MAX_WARNINGS: usize = 20;

/// One entry of the ready queue.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DueAction {
    /// `review_outcome`, `calibration_drift` or `stale_pending`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// `high`, `medium` or `low`.
    pub priority: &'static str,
    /// Why it is due, as a sentence.
    pub reason: String,
    /// What to do about it, as a sentence.
    pub suggestion: String,
    /// Id of the decision; absent for drift, which is about a category.
    pub decision_id: Option<String>,
    /// Category of the decision, or the one that drifts.
    pub category: Option<String>,
    /// Day the decision was made, `2026-03-15`.
    pub date: Option<String>,
    /// Start of the decision's title.
    pub title: Option<String>,
    /// How long it has been due.
    pub detail: Option<String>,
}

/// Which actions of the queue are returned.
#[derive(Debug, Clone, Copy)]
pub struct DueFilter<'a> {
    /// The lowest priority that is returned: `low`, `medium` or `high`.
    pub min_priority: &'a str,
    /// The kinds that are returned; all when empty.
    pub kinds: &'a [String],
    /// Most actions that are returned.
    pub limit: usize,
    /// Only decisions of this category.
    pub category: Option<&'a str>,
}

/// Actions that are due, as the tool `ready` returns them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ReadyQueue {
    /// What is to be done, the most urgent first.
    pub actions: Vec<DueAction>,
    /// How much there is of all priorities.
    pub total: usize,
    /// How much of it has too low a priority.
    pub filtered: usize,
    /// Decisions whose dates could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Returns what is due among decisions.
pub fn queue<'d>(decisions: impl Iterator<Item = &'d Decision>, now: i64, filter: &DueFilter<'_>) -> ReadyQueue {
    let decisions: Vec<&Decision> =
        decisions.filter(|decision| filter.category.is_none_or(|category| decision.category == category)).collect();
    let is_wanted = |kind: &str| filter.kinds.is_empty() || filter.kinds.iter().any(|name| name == kind);
    let mut out = ReadyQueue::default();
    for decision in decisions.iter().filter(|decision| decision.status == "pending") {
        match waiting(decision, now) {
            Ok(Some(due)) if is_wanted(due.kind) => out.actions.push(due),
            Err(warning) if out.warnings.len() < MAX_WARNINGS => out.warnings.push(warning),
            _ => {}
        }
    }
    if is_wanted(DRIFT) {
        drifting(&decisions, now, &mut out.actions);
    }
    out.total = out.actions.len();
    let lowest = rank(PRIORITIES, filter.min_priority).unwrap_or(0);
    out.actions.retain(|due| rank(PRIORITIES, due.priority) >= Some(lowest));
    out.filtered = out.total - out.actions.len();
    sort_by(&mut out.actions, |a, b| {
        let rank_of = |due: &DueAction| (rank(PRIORITIES, due.priority), rank(KINDS, due.kind));
        let (first, second) = (rank_of(a), rank_of(b));
        let late = |due: &DueAction| (due.date.is_none(), due.date.clone(), due.decision_id.clone());
        second.0.cmp(&first.0).then(first.1.cmp(&second.1)).then_with(|| late(a).cmp(&late(b)))
    });
    out.actions.truncate(filter.limit);
    out
}

fn rank(list: &[&str], name: &str) -> Option<usize> {
    list.iter().position(|known| *known == name)
}

/// Says what a pending decision waits for.
fn waiting(decision: &Decision, now: i64) -> Result<Option<DueAction>, Warning> {
    let today = day(now);
    let review_by = decision.review_by.as_deref().filter(|date| !date.is_empty());
    let (kind, priority, detail, days) = if let Some(date) = review_by {
        let late = today - read_day(decision, "review_by", date)?;
        if late <= 0 {
            return Ok(None);
        }
        let priority = match decision.stakes.as_deref() {
            Some("high" | "critical") => "high",
            Some("low") => "low",
            _ => "medium",
        };
        (OVERDUE, priority, format!("review by {} ({late}d overdue)", prefix(date, 10)), late)
    } else {
        let age = today - read_day(decision, "date", &decision.date)?;
        if age <= STALE_DAYS {
            return Ok(None);
        }
        let priority = if age > VERY_STALE_DAYS { "high" } else { "medium" };
        (STALE, priority, format!("pending {age} days"), age)
    };
    let (reason, suggestion) = if kind == OVERDUE {
        (format!("The review is {days} days late"), "Record the outcome with review_outcome")
    } else {
        (
            format!("Nobody reviewed it for {days} days"),
            "Record the outcome with review_outcome, or that it was abandoned",
        )
    };
    let title = if decision.summary.is_empty() { &decision.decision } else { &decision.summary };
    Ok(Some(DueAction {
        kind,
        priority,
        reason,
        suggestion: suggestion.to_owned(),
        decision_id: Some(decision.id.clone()),
        category: Some(decision.category.clone()),
        date: Some(prefix(&decision.date, 10).to_owned()),
        title: Some(truncate_masked(title, TITLE).into_owned()),
        detail: Some(detail),
    }))
}

/// Reads a date that counts. A date in some other form does not, rather than being compared as text.
fn read_day(decision: &Decision, field: &str, text: &str) -> Result<i64, Warning> {
    day_of(text).ok_or_else(|| {
        let message = format!("{field} of {} is no date: {}", quote(&decision.id), quote(text));
        Warning::new("unreadable_date", message, format!("/{}/{field}", decision.id))
    })
}

/// Adds the categories whose calibration got worse.
fn drifting(decisions: &[&Decision], now: i64, out: &mut Vec<DueAction>) {
    let mut categories: SortedMap<&str, Vec<&Decision>> = SortedMap::new();
    for decision in decisions.iter().filter(|decision| decision.reviewed_value().is_some()) {
        categories.get_or_insert(&decision.category.as_str(), Vec::new()).push(decision);
    }
    for (category, decisions) in categories.iter() {
        let Some(halves) = halves(&decisions.iter().copied(), now) else { continue };
        out.extend(drift(&halves, Some(category), 0.20, 0.15).iter().map(|alert| drift_action(alert, category)));
    }
}

fn drift_action(alert: &DriftAlert, category: &str) -> DueAction {
    let (what, suggestion) = if alert.kind == "accuracy_drop" {
        ("Accuracy fell", "Look at what failed of late before deciding more of the kind")
    } else {
        ("The Brier score rose", "Adjust confidence in this category")
    };
    let by = fixed(alert.change_pct.abs(), 1);
    DueAction {
        kind: DRIFT,
        priority: if alert.change_pct.abs() >= 40.0 { "high" } else { "medium" },
        reason: format!("{what} by {by}% in the last 30 days"),
        suggestion: suggestion.to_owned(),
        category: Some(category.to_owned()),
        ..DueAction::default()
    }
}

/// Shortens ids to the eight characters that contextweaver 0.18 shows, unless another decision's id starts so too.
pub fn shorten_ids(actions: &mut [DueAction], is_only: impl Fn(&str) -> bool) {
    for id in actions.iter_mut().filter_map(|due| due.decision_id.as_mut()) {
        let short = prefix(id, SHORT_ID);
        if short.len() < id.len() && is_only(short) {
            *id = short.to_owned();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timestamps::parse;

    fn pending(id: &str, date: &str, review_by: Option<&str>, stakes: &str) -> Decision {
        Decision {
            id: id.to_owned(),
            decision: format!("Decision {id}"),
            category: "process".to_owned(),
            status: "pending".to_owned(),
            date: date.to_owned(),
            stakes: Some(stakes.to_owned()),
            review_by: review_by.map(str::to_owned),
            ..Decision::default()
        }
    }

    #[test]
    fn only_what_is_late_is_due() {
        let now = parse("2026-03-15T12:00:00Z").unwrap();
        let filter = DueFilter { min_priority: "low", kinds: &[], limit: 20, category: None };
        for (date, review_by, stakes, expected) in [
            ("2026-03-14", None, "high", None),
            ("2026-02-13T23:00:00+00:00", None, "high", None),
            ("2026-02-12", None, "high", Some((STALE, "medium"))),
            ("2026-01-14", None, "low", Some((STALE, "medium"))),
            ("2026-01-13", None, "low", Some((STALE, "high"))),
            ("2025-01-01", Some("2026-03-15"), "high", None),
            ("2025-01-01", Some("2026-03-14"), "critical", Some((OVERDUE, "high"))),
            ("2025-01-01", Some("2026-03-14T10:00:00Z"), "odd", Some((OVERDUE, "medium"))),
            ("2025-01-01", Some("2026-03-14"), "low", Some((OVERDUE, "low"))),
        ] {
            let decision = pending("a", date, review_by, stakes);
            let due = queue([&decision].into_iter(), now, &filter);
            let found = due.actions.first().map(|due| (due.kind, due.priority));
            assert_eq!(found, expected, "{date} {review_by:?}");
        }
        for (date, review_by) in [("someday", None), ("2026-01-01", Some("2026-3-1")), ("", None)] {
            let decision = pending("a", date, review_by, "low");
            let due = queue([&decision].into_iter(), now, &filter);
            assert_eq!((due.actions.len(), due.warnings[0].code), (0, "unreadable_date"), "{date}");
        }
    }

    #[test]
    fn the_most_urgent_come_first() {
        let now = parse("2026-03-15T12:00:00Z").unwrap();
        let decisions = [
            pending("b", "2025-01-01", None, "low"),
            pending("a", "2025-01-01", None, "low"),
            pending("c", "2024-01-01", None, "low"),
            pending("d", "2026-01-01", Some("2026-03-01"), "high"),
            pending("e", "2026-01-01", Some("2026-03-01"), "low"),
        ];
        let of = |min_priority, limit| {
            let filter = DueFilter { min_priority, kinds: &[], limit, category: None };
            let due = queue(decisions.iter(), now, &filter);
            let ids: String = due.actions.iter().filter_map(|due| due.decision_id.clone()).collect();
            (ids, due.total, due.filtered)
        };
        assert_eq!(of("low", 20), ("dcabe".to_owned(), 5, 0));
        assert_eq!(of("high", 2), ("dc".to_owned(), 5, 1));
    }

    #[test]
    fn ids_are_short_where_that_is_enough() {
        let mut due = [DueAction { decision_id: Some("abcdef0123".to_owned()), ..DueAction::default() }];
        shorten_ids(&mut due, |_| false);
        assert_eq!(due[0].decision_id.as_deref(), Some("abcdef0123"));
        shorten_ids(&mut due, |_| true);
        assert_eq!(due[0].decision_id.as_deref(), Some("abcdef01"));
    }
}

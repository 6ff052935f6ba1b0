//! Which kinds of reasons hold.

use serde_json::{Value, json};

use crate::calibration::statistics::{average, round};
use crate::calibration::{CalibrationAdvice, NO_CONFIDENCE};
use crate::record::Decision;
use contextweaver_base::order::{SortedMap, sort_by};

/// The types of reasons that the store knows.
const KINDS: &[&str] =
    &["authority", "analogy", "analysis", "pattern", "intuition", "empirical", "elimination", "constraint"];
/// The kind of reasons that do not say.
const UNKNOWN: &str = "unknown";
/// Reviewed decisions that a bucket needs to be compared.
const MIN_IN_BUCKET: u64 = 2;

/// Sums over decisions, from which rates and means are taken.
#[derive(Debug, Clone, Copy, Default)]
struct OutcomeSums {
    uses: u64,
    confidence: f64,
    reviewed: u64,
    reviewed_confidence: f64,
    successes: u64,
    partial: u64,
    value: f64,
    square: f64,
}

impl OutcomeSums {
    fn add(&mut self, decision: &Decision) {
        let confidence = decision.confidence.unwrap_or(NO_CONFIDENCE);
        self.uses += 1;
        self.confidence += confidence;
        if let Some(value) = decision.reviewed_value() {
            self.reviewed += 1;
            self.reviewed_confidence += confidence;
            self.value += value;
            self.square += (confidence - value) * (confidence - value);
            self.successes += u64::from(value > 0.75);
            self.partial += u64::from((0.25..=0.75).contains(&value));
        }
    }

    fn rate(&self) -> f64 {
        average(self.value, self.reviewed)
    }

    fn brier(&self) -> f64 {
        round(average(self.square, self.reviewed), 4)
    }
}

/// Sums over the decisions that have a reason of one type.
struct ReasonTypeStats<'d> {
    name: &'d str,
    sums: OutcomeSums,
    strength: f64,
    reasons: u64,
}

impl ReasonTypeStats<'_> {
    fn to_json(&self, min_reviewed: u64) -> Value {
        let sums = &self.sums;
        let mut out = json!({
            "reasonType": self.name,
            "totalUses": sums.uses,
            "reviewedUses": sums.reviewed,
            "successCount": sums.successes,
            "partialCount": sums.partial,
            "failureCount": sums.reviewed - sums.successes - sums.partial,
            "successRate": round(sums.rate(), 3),
            "avgConfidence": round(average(sums.confidence, sums.uses), 3),
            "avgStrength": round(average(self.strength, self.reasons), 3),
        });
        if sums.reviewed >= min_reviewed {
            out["brierScore"] = sums.brier().into();
        }
        out
    }
}

/// Everything that is counted in one pass.
#[derive(Default)]
struct ReasonCounts<'d> {
    kinds: Vec<ReasonTypeStats<'d>>,
    places: SortedMap<&'d str, usize>,
    /// By how many kinds of reasons a decision has.
    diversity: SortedMap<usize, OutcomeSums>,
    decisions: u64,
    reviewed: u64,
    kinds_used: u64,
    reasons: u64,
}

impl<'d> ReasonCounts<'d> {
    fn add(&mut self, decision: &'d Decision) {
        if decision.reasons.is_empty() {
            return;
        }
        self.decisions += 1;
        self.reviewed += u64::from(decision.reviewed_value().is_some());
        self.reasons += decision.reasons.len() as u64;
        let mut seen: Vec<usize> = Vec::new();
        for reason in &decision.reasons {
            let name = if reason.kind.is_empty() { UNKNOWN } else { reason.kind.as_str() };
            let place = self.place(name);
            self.kinds[place].strength += reason.strength;
            self.kinds[place].reasons += 1;
            if !seen.contains(&place) {
                seen.push(place);
                self.kinds[place].sums.add(decision);
            }
        }
        self.kinds_used += seen.len() as u64;
        self.diversity.get_or_insert(&seen.len(), OutcomeSums::default()).add(decision);
    }

    fn place(&mut self, name: &'d str) -> usize {
        let place = *self.places.get_or_insert(&name, self.kinds.len());
        if place == self.kinds.len() {
            self.kinds.push(ReasonTypeStats { name, sums: OutcomeSums::default(), strength: 0.0, reasons: 0 });
        }
        place
    }

    fn per_decision(&self, count: u64) -> f64 {
        round(average(count as f64, self.decisions), 2)
    }

    fn diversity(&self) -> Value {
        let bucket = |(kinds, sums): (&usize, &OutcomeSums)| {
            let is_reviewed = sums.reviewed > 0;
            let confidence = if is_reviewed {
                average(sums.reviewed_confidence, sums.reviewed)
            } else {
                average(sums.confidence, sums.uses)
            };
            let mut out = json!({
                "distinctReasonTypes": kinds,
                "totalDecisions": sums.uses,
                "reviewedDecisions": sums.reviewed,
                "successRate": is_reviewed.then(|| round(sums.rate(), 3)),
                "avgConfidence": round(confidence, 3),
            });
            if is_reviewed {
                out["brierScore"] = sums.brier().into();
            }
            out
        };
        json!({
            "avgTypesPerDecision": self.per_decision(self.kinds_used),
            "avgReasonsPerDecision": self.per_decision(self.reasons),
            "diversityBuckets": self.diversity.iter().map(bucket).collect::<Vec<_>>(),
        })
    }

    fn advice(&self, min_reviewed: u64) -> Vec<CalibrationAdvice> {
        let mut out = Vec::new();
        let known: Vec<&ReasonTypeStats> =
            self.kinds.iter().filter(|kind| kind.sums.reviewed >= min_reviewed).collect();
        let rate = |kind: &&ReasonTypeStats| round(kind.sums.rate(), 3);
        if let ([best, .., worst], true) = (known.as_slice(), known.len() > 1)
            && rate(best) - rate(worst) > 0.15
        {
            let message =
                format!("Decisions with reasons of type {} turn out best, of type {} worst.", best.name, worst.name);
            out.push(CalibrationAdvice::info("best_reason_type", message));
        }
        for kind in &known {
            let confidence = round(average(kind.sums.confidence, kind.sums.uses), 3);
            if confidence > 0.8 && rate(kind) < 0.6 {
                let message = format!("Reasons of type {} come with more confidence than they earn.", kind.name);
                out.push(CalibrationAdvice::warning("overconfident_type", message));
            }
        }
        if self.per_decision(self.kinds_used) < 1.5 {
            let message = "Most decisions have reasons of one type only. Look from another side as well.";
            out.push(CalibrationAdvice::warning("low_diversity", message));
        }
        out.extend(self.benefit());
        let unused: Vec<&str> = KINDS.iter().copied().filter(|kind| !self.places.contains_key(kind)).collect();
        if !unused.is_empty() {
            out.push(CalibrationAdvice::info("unused_types", format!("Never used: {}.", unused.join(", "))));
        }
        out
    }

    /// Compares decisions with one type of reasons and those with the number of types that did best.
    fn benefit(&self) -> Option<CalibrationAdvice> {
        let buckets = || self.diversity.iter().filter(|(_, sums)| sums.reviewed >= MIN_IN_BUCKET);
        let rate = |sums: &OutcomeSums| round(sums.rate(), 3);
        let single = buckets().find(|(kinds, _)| **kinds == 1).map(|(_, sums)| rate(sums))?;
        let several = buckets().filter(|(kinds, _)| **kinds > 1).map(|(_, sums)| rate(sums)).reduce(f64::max)?;
        if several - single > 0.1 {
            let message = "Decisions with reasons of several types turn out better.";
            return Some(CalibrationAdvice::info("diversity_benefit", message));
        }
        let message = "Decisions with reasons of one type turn out better than those with several.";
        (single - several > 0.1).then(|| CalibrationAdvice::info("diversity_no_benefit", message))
    }
}

/// Statistics of reasons, with what the tracker notes of them.
pub struct ReasonStats {
    /// The statistics as the tool returns them, without the time.
    pub json: Value,
    /// Number of decisions with reasons.
    pub decisions: u64,
    /// Number of distinct types of reasons.
    pub types: usize,
    /// Mean number of distinct types per decision.
    pub diversity: f64,
}

/// Counts which types of reasons decisions have and how those decisions turned out.
///
/// # Examples
///
/// ```
/// use contextweaver_decisions::{Decision, reason_stats};
/// use serde_json::json;
///
/// let record = json!({ "id": "d1", "decision": "Use Postgres", "reasons": [{ "type": "analysis", "text": "ACID" }] });
/// let decision = Decision::from_value(record, "")?;
/// let stats = reason_stats([decision].iter(), 3);
/// assert_eq!((stats.decisions, stats.types), (1, 1));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn reason_stats<'d>(decisions: impl Iterator<Item = &'d Decision>, min_reviewed: u64) -> ReasonStats {
    let mut counted = ReasonCounts::default();
    for decision in decisions {
        counted.add(decision);
    }
    sort_by(&mut counted.kinds, |a, b| {
        let key = |kind: &ReasonTypeStats| (kind.sums.reviewed >= min_reviewed, round(kind.sums.rate(), 3));
        let (a, b) = (key(a), key(b));
        b.0.cmp(&a.0).then(b.1.total_cmp(&a.1))
    });
    let types: Vec<Value> = counted.kinds.iter().map(|kind| kind.to_json(min_reviewed)).collect();
    ReasonStats {
        json: json!({
            "byReasonType": types,
            "diversity": counted.diversity(),
            "recommendations": counted.advice(min_reviewed),
            "totalDecisions": counted.decisions,
            "reviewedDecisions": counted.reviewed,
        }),
        decisions: counted.decisions,
        types: counted.kinds.len(),
        diversity: counted.per_decision(counted.kinds_used),
    }
}

//! What a build did, in numbers.

use std::borrow::Cow;

use serde::Serialize;
use serde::Serializer;
use serde::ser::SerializeMap;

use super::{FirewallStats, FirewallSummary, Stage};
use crate::json::{Field, Fields, Record};
use contextweaver_base::Result;

/// A candidate that is not in the prompt, and why.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct DroppedItem {
    /// Id of the item.
    pub item_id: String,
    /// Why.
    #[cfg_attr(feature = "ts", ts(as = "super::DropReason"))]
    pub reason: Cow<'static, str>,
    /// The stage that decided.
    pub stage: Option<Stage>,
    /// Tokens it would have cost.
    pub tokens: Option<u64>,
}

/// The numbers of one build. `included_count + dropped_count === total_candidates`.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct BuildStats {
    /// Tokens per kind, in order of first appearance. A function as `estimator` counts each section by itself, so that their
    /// sum may differ from `prompt_tokens`.
    #[serde(serialize_with = "as_map")]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, u64>"))]
    #[record(with = counts)]
    pub tokens_per_section: Vec<(String, u64)>,
    /// Count of items that were considered.
    #[record(default)]
    pub total_candidates: u64,
    /// Count of items in the prompt.
    #[record(default)]
    pub included_count: u64,
    /// Count of items that were considered and left out.
    #[record(default)]
    pub dropped_count: u64,
    /// Count of dropped items by reason.
    #[serde(serialize_with = "as_map")]
    #[cfg_attr(feature = "ts", ts(as = "std::collections::BTreeMap<String, u64>"))]
    #[record(with = counts)]
    pub dropped_reasons: Vec<(String, u64)>,
    /// Every drop, or the first `list_dropped`.
    pub dropped_items: Vec<DroppedItem>,
    /// Count of items dropped as repeats of another.
    #[record(default)]
    pub dedup_removed: u64,
    /// Items brought in because another one needs them.
    #[record(default)]
    pub dependency_closures: u64,
    /// Tokens of header and footer.
    #[record(default)]
    pub header_footer_tokens: u64,
    /// Name of the token estimator.
    #[record(default)]
    pub token_estimator: String,
    /// What the firewall did.
    pub firewall_events: Vec<FirewallStats>,
    /// Tokens of the whole prompt, at most the budget.
    pub prompt_tokens: Option<u64>,
    /// Tokens the prompt may have.
    pub budget_tokens: Option<u64>,
    /// What made other tokens of the budget that was asked for; absent where nothing is known of the model.
    pub calibration: Option<TokenCalibration>,
    /// The ledger in the prompt; absent where there is none. Its tokens are among those of header and footer.
    pub ledger: Option<LedgerStats>,
    /// The standing instructions that the prompt repeats; absent where there are none. Their tokens are among those of
    /// header and footer.
    pub rules: Option<RulesStats>,
}

/// What a prompt says of what the user stated and it does not show elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RulesStats {
    /// Tokens with what is put around them, at most a twelfth of the budget, and 360.
    #[record(default)]
    pub tokens: u64,
    /// Statements that it repeats.
    #[record(default)]
    pub statements: u64,
}

/// What a prompt says of what left it: identifiers, and where they are found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct LedgerStats {
    /// Tokens with what is put around it, at most a fiftieth of the budget, a twenty-fifth in a running prompt.
    #[record(default)]
    pub tokens: u64,
    /// Identifiers that it names.
    #[record(default)]
    pub identifiers: u64,
}

/// What is known of the tokens of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TokenCalibration {
    /// Name of the model.
    pub model: String,
    /// Tokens of the model for one of the estimator, in hundredths, 0.4 to 2.5.
    #[record(default = 1.0, range = 0.0..=f64::MAX)]
    pub factor: f64,
    /// Calls that this was seen in, at most 16.
    #[record(default)]
    pub observations: u64,
}

impl BuildStats {
    /// Returns the stats of an empty build.
    pub fn empty(token_estimator: &str) -> Self {
        Self {
            tokens_per_section: Vec::new(),
            total_candidates: 0,
            included_count: 0,
            dropped_count: 0,
            dropped_reasons: Vec::new(),
            dropped_items: Vec::new(),
            dedup_removed: 0,
            dependency_closures: 0,
            header_footer_tokens: 0,
            token_estimator: token_estimator.to_owned(),
            firewall_events: Vec::new(),
            prompt_tokens: None,
            budget_tokens: None,
            calibration: None,
            ledger: None,
            rules: None,
        }
    }

    /// Returns the tokens of the prompt: measured, or the sum that 0.18 records of sections, header and footer.
    pub fn prompt_tokens(&self) -> u64 {
        self.prompt_tokens.unwrap_or_else(|| {
            self.tokens_per_section.iter().map(|(_, n)| n).fold(self.header_footer_tokens, |a, b| a.saturating_add(*b))
        })
    }

    /// Sums up the firewall's events.
    pub fn firewall_summary(&self) -> FirewallSummary {
        FirewallSummary::of(&self.firewall_events)
    }

    /// Adds tokens to a section.
    pub fn add_section(&mut self, section: &str, tokens: u64) {
        match self.tokens_per_section.iter_mut().find(|(name, _)| name == section) {
            Some((_, sum)) => *sum += tokens,
            None => self.tokens_per_section.push((section.to_owned(), tokens)),
        }
    }

    /// Records a drop; the counts follow.
    pub fn add_drop(&mut self, drop: DroppedItem) {
        self.count_drop(&drop.reason);
        self.dropped_items.push(drop);
    }

    /// Counts a drop that is not listed.
    pub fn count_drop(&mut self, reason: &str) {
        match self.dropped_reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, count)) => *count += 1,
            None => self.dropped_reasons.push((reason.to_owned(), 1)),
        }
        self.dropped_count += 1;
    }
}

fn counts(fields: &mut Fields, key: &'static str) -> Result<Vec<(String, u64)>> {
    let counts = fields.entries(key, |name, value, at| Ok((name.to_owned(), u64::read(value, at)?)))?;
    Ok(counts.unwrap_or_default())
}

fn as_map<S: Serializer>(pairs: &[(String, u64)], s: S) -> std::result::Result<S::Ok, S::Error> {
    let mut map = s.serialize_map(Some(pairs.len()))?;
    for (name, count) in pairs {
        map.serialize_entry(name, count)?;
    }
    map.end()
}

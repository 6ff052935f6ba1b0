//! Adds the standing instructions that a query is about to the answer of a recall, and says whether they still hold.

use super::search::Wanted;
use crate::digest_note::safe_handle;
use crate::rules::ours::{ADDED, TITLE};
use crate::rules::rule::{RuleState, StandingRule};
use contextweaver_base::order::sort_by;
use contextweaver_text::tokens::Estimator;

/// Most instructions in an answer, and the least share of the query that each must match.
const MOST_RULES: usize = 4;
const LEAST_SHARE: f64 = 0.34;
/// The instructions may take the tokens of the answer divided by this.
const ANSWER_SHARE: u64 = 2;

/// The instructions that a query speaks of, written.
#[derive(Debug, Default)]
pub(super) struct RecalledRules {
    pub rules: Vec<StandingRule>,
    pub text: String,
}

impl RecalledRules {
    /// Takes the instructions that match the query best; of equals, the newest. A replaced instruction comes with those
    /// that replaced it.
    pub(super) fn of(listed: &[StandingRule], wanted: &Wanted, max_tokens: u64, estimator: &Estimator) -> Self {
        let mut found: Vec<(f64, usize)> = listed.iter().map(|rule| wanted.share(&rule.text)).zip(0..).collect();
        found.retain(|(share, _)| *share >= LEAST_SHARE);
        sort_by(&mut found, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let mut told = Self { rules: Vec::new(), text: TITLE.to_owned() };
        for (_, at) in found.into_iter().take(MOST_RULES) {
            let chain = successors(listed, at);
            let is_new = |place: &usize| told.rules.iter().all(|rule| rule.id != listed[*place].id);
            let fresh: Vec<usize> = chain.into_iter().filter(is_new).collect();
            let lines: String = fresh.iter().map(|place| line(&listed[*place])).collect();
            if estimator.tokens(&told.text) + estimator.tokens(&lines) <= max_tokens / ANSWER_SHARE {
                told.text.push_str(&lines);
                told.rules.extend(fresh.into_iter().map(|place| listed[place].clone()));
            }
        }
        if told.rules.is_empty() { Self::default() } else { told }
    }
}

/// Returns an instruction with what took its place, and what took the place of that; what holds stands first.
fn successors(listed: &[StandingRule], at: usize) -> Vec<usize> {
    let mut chain = vec![at];
    let next = |at: usize| listed.iter().position(|rule| Some(&rule.id) == listed[at].replaced_by.as_ref());
    let mut last = at;
    while let Some(by) = next(last).filter(|by| !chain.contains(by) && chain.len() < MOST_RULES) {
        chain.insert(0, by);
        last = by;
    }
    chain
}

fn line(rule: &StandingRule) -> String {
    let place = rule.item_id.as_ref().map_or_else(|| ADDED.to_owned(), |id| safe_handle(id));
    let by = rule.replaced_by.as_ref().map_or_else(String::new, |by| format!(" by {}", safe_handle(by)));
    let state = match rule.state {
        RuleState::InForce => String::new(),
        RuleState::Once => "for one time only: ".to_owned(),
        RuleState::Replaced => format!("no longer in force, replaced{by}: "),
        RuleState::Withdrawn => format!("no longer in force, withdrawn{by}: "),
    };
    format!("\n- {state}{} ({place})", rule.text)
}

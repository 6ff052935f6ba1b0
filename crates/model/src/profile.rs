//! Bundles of settings with names.

use serde::Serialize;

use super::{ContextBudget, ContextPolicy, Mode};
use crate::json::{Fields, Record};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// Settings of the router, kept here because profiles carry them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(default)]
pub struct RoutingConfig {
    /// Paths that a search of the tree follows at once.
    #[record(max = 1 << 20)]
    pub beam_width: u64,
    /// Levels of the tree below its root, at most.
    #[record(max = 1 << 20)]
    pub max_depth: u64,
    /// Tools that a route returns, at most.
    #[record(max = 1 << 20)]
    pub top_k: u64,
    /// Distance of the first score to the second below which a choice is ambiguous.
    #[record(range = 0.0..=1.0)]
    pub confidence_gap: f64,
    /// Children of one node of the tree, at most.
    #[record(max = 1 << 20)]
    pub max_children: u64,
}

impl Default for RoutingConfig {
    fn default() -> Self {
        Self { beam_width: 2, max_depth: 8, top_k: 10, confidence_gap: 0.15, max_children: 20 }
    }
}

/// Budget, policy and routing under one name.
#[derive(Debug, Clone, PartialEq, Serialize, Record)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[record(default)]
pub struct ProfileConfig {
    /// Run mode; all behave the same.
    pub mode: Mode,
    /// Seed of the `seeded` mode of 0.18; unused, kept.
    pub seed: Option<i64>,
    /// Token budget of each phase.
    pub budget: ContextBudget,
    /// Kinds and sensitivity that a prompt admits.
    #[record(with = policy)]
    pub policy: ContextPolicy,
    /// Settings of the router.
    pub routing: RoutingConfig,
}

impl Default for ProfileConfig {
    fn default() -> Self {
        Self {
            mode: Mode::Strict,
            seed: None,
            budget: ContextBudget::default(),
            policy: ContextPolicy::of_profiles(),
            routing: RoutingConfig::default(),
        }
    }
}

impl ProfileConfig {
    /// Returns the preset `fast`, `balanced` or `accurate`.
    ///
    /// # Errors
    /// `INVALID_INPUT` for another name.
    ///
    /// ```
    /// use contextweaver_model::ProfileConfig;
    ///
    /// assert_eq!(ProfileConfig::preset("fast")?.budget.answer, 3000);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn preset(name: &str) -> Result<Self> {
        let (beam_width, max_depth, top_k, confidence_gap, max_children, answer) = match name {
            "fast" => (1, 4, 5, 0.20, 15, 3000),
            "balanced" => (2, 8, 10, 0.15, 20, 6000),
            "accurate" => (4, 12, 20, 0.10, 30, 8000),
            other => {
                return Err(Error::new(ErrorCode::InvalidInput, format!("unknown profile {}", quote(other)))
                    .hint("one of: fast balanced accurate"));
            }
        };
        Ok(Self {
            budget: ContextBudget { answer, ..ContextBudget::default() },
            routing: RoutingConfig { beam_width, max_depth, top_k, confidence_gap, max_children },
            ..Self::default()
        })
    }
}

/// Takes the policy of a profile, over that of profiles.
fn policy(fields: &mut Fields, key: &'static str, base: ContextPolicy) -> Result<ContextPolicy> {
    match fields.nested(key)? {
        Some(mut fields) => base.over(&mut fields),
        None => Ok(base),
    }
}

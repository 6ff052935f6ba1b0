//! Bundles of settings with names.

use serde::Serialize;
use serde_json::Value;

use super::{ContextBudget, ContextPolicy, Mode};
use crate::json::Fields;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_text::quote::quote;

/// Settings of the router, kept here because profiles carry them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RoutingConfig {
    /// Paths that a search of the tree follows at once.
    pub beam_width: u64,
    /// Levels of the tree below its root, at most.
    pub max_depth: u64,
    /// Tools that a route returns, at most.
    pub top_k: u64,
    /// Distance of the first score to the second below which a choice is ambiguous.
    pub confidence_gap: f64,
    /// Children of one node of the tree, at most.
    pub max_children: u64,
}

impl Default for RoutingConfig {
    fn default() -> Self {
        Self { beam_width: 2, max_depth: 8, top_k: 10, confidence_gap: 0.15, max_children: 20 }
    }
}

impl RoutingConfig {
    /// Reads settings over the defaults.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let base = Self::default();
        Ok(Self {
            beam_width: fields.uint_or("beam_width", base.beam_width, 1 << 20)?,
            max_depth: fields.uint_or("max_depth", base.max_depth, 1 << 20)?,
            top_k: fields.uint_or("top_k", base.top_k, 1 << 20)?,
            confidence_gap: fields.number_or("confidence_gap", base.confidence_gap, 0.0, 1.0)?,
            max_children: fields.uint_or("max_children", base.max_children, 1 << 20)?,
        })
    }
}

/// Budget, policy and routing under one name.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ProfileConfig {
    /// Run mode; all behave the same.
    pub mode: Mode,
    /// Seed of the `seeded` mode of 0.18; unused, kept.
    pub seed: Option<i64>,
    /// Token budget of each phase.
    pub budget: ContextBudget,
    /// Kinds and sensitivity that a prompt admits.
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

    /// Reads a profile as 0.18 writes it; other fields are ignored, among them the weights of its scoring.
    ///
    /// # Errors
    /// `INVALID_INPUT`, `MISSING_FIELD`, `OUT_OF_RANGE` and the like, with the path of the field.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let base = Self::default();
        let mode = fields.parsed_or("mode", base.mode, Mode::parse)?;
        let seed =
            match fields.take("seed") {
                None => None,
                Some(value) => Some(value.as_i64().ok_or_else(|| {
                    Error::new(ErrorCode::InvalidInput, "expected a whole number").at(fields.at("seed"))
                })?),
            };
        let mut sub = |key: &'static str| fields.take(key).map(|value| (value, fields.at(key)));
        let budget = sub("budget").map(|(v, at)| ContextBudget::from_value(v, &at, false)).transpose()?;
        let policy = sub("policy")
            .map(|(v, at)| ContextPolicy::from_value(v, &at, ContextPolicy::of_profiles(), false))
            .transpose()?;
        let routing = sub("routing").map(|(v, at)| RoutingConfig::from_value(v, &at)).transpose()?;
        Ok(Self {
            mode,
            seed,
            budget: budget.unwrap_or(base.budget),
            policy: policy.unwrap_or(base.policy),
            routing: routing.unwrap_or(base.routing),
        })
    }
}

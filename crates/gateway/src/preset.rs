//! Policies by name: what a configuration need not spell out.

use crate::cache::CachePolicy;
use crate::policy::{PolicyAction, ToolPolicy};
use crate::rate::{CallLimits, RateLimits};
use crate::retry::RetryPolicy;
use contextweaver_model::json::Record;

contextweaver_model::string_enum! {
    /// A set of policies that has a name.
    Preset, "preset" {
        /// Every call of a tool needs approval; 30 calls in a minute, two attempts.
        Safe = "safe",
        /// Calls are allowed; 120 in a minute, three attempts.
        Balanced = "balanced",
        /// Calls are allowed without a limit; five attempts at times that differ, results of read-only tools are kept.
        Throughput = "throughput",
    }
}

/// The policies of a preset. Each stands until the configuration has its own.
#[derive(Debug, Clone, Default, PartialEq, Record)]
#[record(default, partial)]
pub struct PresetParts {
    /// What may be called.
    pub policy: ToolPolicy,
    /// How often.
    pub rate_limits: RateLimits,
    /// When a call is made again.
    pub retry: RetryPolicy,
    /// What is kept of results; none for nothing.
    pub cache: Option<CachePolicy>,
}

impl Preset {
    /// Returns the policies.
    pub fn parts(self) -> PresetParts {
        let policy = match self {
            Self::Safe => ToolPolicy::of_meta_tool(PolicyAction::Ask, "tool_execute", "preset safe"),
            Self::Balanced | Self::Throughput => ToolPolicy::default(),
        };
        let a_minute = |calls| {
            let limits = CallLimits { per_minute: Some(calls), per_session: None };
            RateLimits::of_meta_tool("tool_execute", limits)
        };
        let (rate_limits, max_attempts, jitter) = match self {
            Self::Safe => (a_minute(30), 2, 0.0),
            Self::Balanced => (a_minute(120), 3, 0.0),
            Self::Throughput => (RateLimits::default(), 5, 0.2),
        };
        let cache = (self == Self::Throughput).then(CachePolicy::default);
        PresetParts {
            policy,
            rate_limits,
            retry: RetryPolicy { max_attempts, jitter, ..RetryPolicy::default() },
            cache,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::policy::PolicySubject;
    use crate::rate::RateState;

    #[test]
    fn each_preset_is_what_its_name_says() {
        for (name, action, calls, attempts, jitter, caches) in [
            ("safe", PolicyAction::Ask, Some(30), 2, 0.0, false),
            ("balanced", PolicyAction::Allow, Some(120), 3, 0.0, false),
            ("throughput", PolicyAction::Allow, None, 5, 0.2, true),
        ] {
            let preset = Preset::parse(name).unwrap();
            assert_eq!(preset.as_str(), name);
            let parts = preset.parts();
            let subject = |meta_tool| PolicySubject { meta_tool: Some(meta_tool), ..PolicySubject::default() };
            assert_eq!(parts.policy.evaluate(&subject("tool_execute")).action, action);
            // What was called with approval can be read.
            assert_eq!(parts.policy.evaluate(&subject("tool_view")).action, PolicyAction::Allow);
            let mut state = RateState::default();
            let meta_tool = Some("tool_execute");
            let made = (0..200).take_while(|_| {
                let allowed = state.check(&parts.rate_limits, meta_tool, None, 0.0).allowed;
                state.record(&parts.rate_limits, meta_tool, None, 0.0);
                allowed
            });
            assert_eq!(made.count(), calls.unwrap_or(200));
            assert_eq!(parts.retry.to_json()["max_attempts"], attempts);
            assert_eq!(parts.retry.to_json()["jitter"], json!(jitter));
            assert_eq!((parts.cache.is_some(), parts.retry.retry_writes), (caches, false));
        }
        assert!(Preset::parse("fast").is_err());
    }
}

//! How often something may be called: for each meta-tool and each tool, in a minute and in a session.

use std::collections::VecDeque;

use serde_json::{Value, json};

use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::numbers::round;
use contextweaver_model::json::{Field, Fields, JsonMap, Record, pointer};
use contextweaver_text::quote::quote;

use crate::failure::{GatewayError, GatewayErrorCode};

/// The meta-tools that a limit may be set for. Calls of tools count as `tool_execute` in every mode, reads of stored
/// results as `tool_view`.
pub const RATE_META_TOOLS: &[&str] = &[
    "tool_browse",
    "tool_execute",
    "tool_view",
    "tool_hydrate",
    "resource_browse",
    "resource_read",
    "prompt_browse",
    "prompt_get",
];

/// Largest limit; a minute's calls are remembered one by one.
pub const MAX_CALLS: u64 = 100_000;
/// Tools with a limit of their own.
pub const MAX_LIMITED_TOOLS: usize = 10_000;

/// Length of the window in milliseconds.
const WINDOW_MS: f64 = 60_000.0;

/// How often one thing may be called; what is absent is not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Record)]
#[record(closed)]
pub struct CallLimits {
    /// Calls within any sixty seconds.
    #[record(name = "max_calls_per_minute", with = call_limit)]
    pub per_minute: Option<u64>,
    /// Calls in all.
    #[record(name = "max_calls_per_session", with = call_limit)]
    pub per_session: Option<u64>,
}

fn call_limit(fields: &mut Fields, key: &'static str) -> Result<Option<u64>> {
    let limit = fields.opt_uint(key, MAX_CALLS)?;
    if limit == Some(0) {
        let error = Error::new(ErrorCode::OutOfRange, format!("expected a number from 1 to {MAX_CALLS}, got 0"));
        return Err(error.at(fields.at(key)).hint("a policy denies calls"));
    }
    Ok(limit)
}

impl CallLimits {
    fn to_json(self) -> Value {
        let mut map = JsonMap::new();
        for (key, limit) in [("max_calls_per_minute", self.per_minute), ("max_calls_per_session", self.per_session)] {
            if let Some(limit) = limit {
                map.insert(key.to_owned(), limit.into());
            }
        }
        Value::Object(map)
    }
}

/// The limits of a gateway.
///
/// ```
/// use contextweaver_gateway::{RateLimits, RateState};
/// use serde_json::json;
///
/// let limits = RateLimits::from_value(json!({ "tool_execute": { "max_calls_per_minute": 1 } }), "/rate_limits")?;
/// let mut state = RateState::default();
/// assert!(state.check(&limits, Some("tool_execute"), None, 0.0).allowed);
/// state.record(&limits, Some("tool_execute"), None, 0.0);
/// let ruling = state.check(&limits, Some("tool_execute"), None, 1_000.0);
/// assert_eq!((ruling.allowed, ruling.scope.as_str()), (false, "tool_execute/minute"));
/// assert_eq!(ruling.retry_after_ms, Some(59_000.0));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RateLimits {
    meta_tools: SortedMap<String, CallLimits>,
    tools: SortedMap<String, CallLimits>,
}

impl Field for RateLimits {
    fn read(value: Value, path: &str) -> Result<Self> {
        Self::from_value(value, path)
    }
}

impl RateLimits {
    /// Makes limits of one meta-tool.
    pub(crate) fn of_meta_tool(meta_tool: &str, limits: CallLimits) -> Self {
        let mut out = Self::default();
        out.meta_tools.insert(meta_tool.to_owned(), limits);
        out
    }

    /// Reads an object of meta-tools and `per_tool`, an object of tool ids, each with `max_calls_per_minute` and
    /// `max_calls_per_session`.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD` for another meta-tool, `OUT_OF_RANGE` for limits beyond 1 to 100,000, `INVALID_INPUT`.
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let mut out = Self::default();
        for name in RATE_META_TOOLS {
            if let Some(limits) = fields.take(name) {
                out.meta_tools.insert((*name).to_owned(), CallLimits::from_value(limits, &fields.at(name))?);
            }
        }
        let at = fields.at("per_tool");
        let per_tool = fields.object("per_tool")?;
        if per_tool.len() > MAX_LIMITED_TOOLS {
            let message = format!("{} tools have limits, {MAX_LIMITED_TOOLS} may have", per_tool.len());
            return Err(Error::new(ErrorCode::TooLarge, message).at(at));
        }
        for (id, limits) in per_tool {
            let limits = CallLimits::from_value(limits, &pointer(&at, &id))?;
            out.tools.insert(id, limits);
        }
        fields.finish()?;
        Ok(out)
    }

    /// Returns the limits as [`Self::from_value`] reads them.
    pub fn to_json(&self) -> Value {
        let object = |limits: &SortedMap<String, CallLimits>| -> JsonMap {
            limits.iter().map(|(name, limits)| (name.clone(), limits.to_json())).collect()
        };
        let mut out = object(&self.meta_tools);
        if !self.tools.is_empty() {
            out.insert("per_tool".to_owned(), Value::Object(object(&self.tools)));
        }
        Value::Object(out)
    }

    /// Tells whether a tool with this id has a limit of its own.
    pub(crate) fn names(&self, tool_id: &str) -> bool {
        self.tools.contains_key(tool_id)
    }

    /// Returns the buckets that a call counts in, the meta-tool's first.
    fn buckets(&self, meta_tool: Option<&str>, tool_id: Option<&str>) -> impl Iterator<Item = (String, CallLimits)> {
        let of_meta = meta_tool.and_then(|name| Some((name.to_owned(), *self.meta_tools.get(name)?)));
        let of_tool = tool_id.and_then(|id| Some((format!("tool:{id}"), *self.tools.get(id)?)));
        of_meta.into_iter().chain(of_tool)
    }
}

/// Whether a call may go on now.
#[derive(Debug, Clone, PartialEq)]
pub struct RateRuling {
    /// Whether it may.
    pub allowed: bool,
    /// The limit that is reached, such as `tool_execute/minute`; empty for none.
    pub scope: String,
    /// When the limit lets a call through again, in milliseconds; none for one of a session.
    pub retry_after_ms: Option<f64>,
}

impl RateRuling {
    fn allowed() -> Self {
        Self { allowed: true, scope: String::new(), retry_after_ms: None }
    }

    /// Returns what a model is told, unless the call may go on. `retry_after` is in seconds.
    pub fn to_error(&self) -> Option<GatewayError> {
        if self.allowed {
            return None;
        }
        let error =
            GatewayError::new(GatewayErrorCode::RateLimited, format!("too many calls ({})", quote(&self.scope)));
        let wait = self.retry_after_ms.map_or(Value::Null, |wait| json!(round(wait / 1000.0, 3)));
        let mut error = error.detail("scope", self.scope.as_str()).detail("retry_after", wait);
        // What a session has used up does not come back.
        error.retryable = self.retry_after_ms.is_some();
        Some(error)
    }
}

/// What counts towards one limit.
#[derive(Debug, Clone, Default, PartialEq)]
struct CallCounts {
    total: u64,
    /// When the calls of the last minute were; no more than the limit.
    recent: VecDeque<f64>,
}

impl CallCounts {
    fn in_window(&self, now_ms: f64) -> impl Iterator<Item = f64> {
        self.recent.iter().copied().filter(move |at| *at > now_ms - WINDOW_MS)
    }
}

/// The calls of one session, as far as limits ask for them. Its size is bounded by the limits.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RateState {
    counts: SortedMap<String, CallCounts>,
    /// The latest time that was told; clocks that are set back do not open the limits.
    latest_ms: f64,
}

impl RateState {
    /// Tells whether a call may go on; counts nothing.
    pub fn check(
        &self,
        limits: &RateLimits,
        meta_tool: Option<&str>,
        tool_id: Option<&str>,
        now_ms: f64,
    ) -> RateRuling {
        let now_ms = now_ms.max(self.latest_ms);
        for (bucket, limit) in limits.buckets(meta_tool, tool_id) {
            let Some(counts) = self.counts.get(&bucket) else { continue };
            if limit.per_session.is_some_and(|limit| counts.total >= limit) {
                return RateRuling { allowed: false, scope: format!("{bucket}/session"), retry_after_ms: None };
            }
            let Some(per_minute) = limit.per_minute else { continue };
            if counts.in_window(now_ms).count() as u64 >= per_minute {
                let oldest = counts.in_window(now_ms).next().unwrap_or(now_ms);
                let retry_after_ms = Some(WINDOW_MS - (now_ms - oldest));
                return RateRuling { allowed: false, scope: format!("{bucket}/minute"), retry_after_ms };
            }
        }
        RateRuling::allowed()
    }

    /// Counts a call, in all buckets that it belongs to.
    pub fn record(&mut self, limits: &RateLimits, meta_tool: Option<&str>, tool_id: Option<&str>, now_ms: f64) {
        self.latest_ms = self.latest_ms.max(now_ms);
        let now_ms = self.latest_ms;
        for (bucket, limit) in limits.buckets(meta_tool, tool_id) {
            let counts = self.counts.get_or_insert(&bucket, CallCounts::default());
            counts.total = counts.total.saturating_add(1);
            let Some(per_minute) = limit.per_minute else { continue };
            counts.recent.push_back(now_ms);
            // Of calls that went on in spite of the limit, the newest count.
            let beyond = |recent: &VecDeque<f64>| {
                recent.len() as u64 > per_minute || recent.front().is_some_and(|at| *at <= now_ms - WINDOW_MS)
            };
            while beyond(&counts.recent) {
                counts.recent.pop_front();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use contextweaver_test_support::property;
    use proptest::prelude::*;

    use super::*;

    fn limits(value: Value) -> RateLimits {
        RateLimits::from_value(value, "").unwrap()
    }

    #[test]
    fn a_refused_call_counts_nowhere_and_the_session_comes_first() {
        let limits = limits(json!({
            "tool_execute": { "max_calls_per_minute": 1, "max_calls_per_session": 2 },
            "per_tool": { "a": { "max_calls_per_session": 1 } },
        }));
        let mut state = RateState::default();
        let execute = Some("tool_execute");
        assert!(state.check(&limits, execute, Some("a"), 0.0).allowed);
        state.record(&limits, execute, Some("a"), 0.0);
        let refused = |state: &RateState, tool: Option<&str>, now: f64| {
            let ruling = state.check(&limits, execute, tool, now);
            (ruling.scope, ruling.retry_after_ms)
        };
        assert_eq!(refused(&state, Some("b"), 59_999.0), ("tool_execute/minute".into(), Some(1.0)));
        assert_eq!(refused(&state, Some("a"), 60_000.0), ("tool:a/session".into(), None));
        state.record(&limits, execute, Some("b"), 60_000.0);
        assert_eq!(refused(&state, Some("b"), 60_001.0), ("tool_execute/session".into(), None));
        let error = state.check(&limits, execute, None, 60_001.0).to_error().unwrap();
        assert_eq!((error.retryable, error.details["retry_after"].is_null()), (false, true));
        assert_eq!(state.check(&limits, Some("tool_view"), None, 60_001.0).to_error(), None);
    }

    #[test]
    fn a_clock_that_is_set_back_opens_nothing() {
        let limits = limits(json!({ "tool_view": { "max_calls_per_minute": 1 } }));
        let mut state = RateState::default();
        state.record(&limits, Some("tool_view"), None, 500_000.0);
        for now in [0.0, 500_000.0, f64::NAN] {
            let ruling = state.check(&limits, Some("tool_view"), None, now);
            assert_eq!((ruling.allowed, ruling.retry_after_ms), (false, Some(WINDOW_MS)), "{now}");
        }
    }

    #[test]
    fn limits_of_another_shape_are_refused() {
        for (given, code, path) in [
            (json!({ "tool_zap": {} }), "UNKNOWN_FIELD", "/r/tool_zap"),
            (json!({ "tool_view": 1 }), "INVALID_INPUT", "/r/tool_view"),
            (json!({ "tool_view": { "max_calls": 1 } }), "UNKNOWN_FIELD", "/r/tool_view/max_calls"),
            (
                json!({ "tool_view": { "max_calls_per_minute": 0 } }),
                "OUT_OF_RANGE",
                "/r/tool_view/max_calls_per_minute",
            ),
            (
                json!({ "tool_view": { "max_calls_per_minute": true } }),
                "INVALID_INPUT",
                "/r/tool_view/max_calls_per_minute",
            ),
            (
                json!({ "per_tool": { "a/b": { "max_calls_per_session": 1.5 } } }),
                "OUT_OF_RANGE",
                "/r/per_tool/a~1b/max_calls_per_session",
            ),
        ] {
            let error = RateLimits::from_value(given.clone(), "/r").unwrap_err();
            assert_eq!((error.code().as_str(), error.path()), (code, path), "{given}");
        }
        let given = json!({ "tool_view": { "max_calls_per_minute": 3 }, "per_tool": { "x": {} } });
        assert_eq!(limits(given.clone()).to_json(), given);
    }

    #[test]
    fn memory_is_bounded_by_the_limits() {
        let limits = limits(json!({ "tool_execute": { "max_calls_per_minute": 5 } }));
        let mut state = RateState::default();
        for call in 0..10_000 {
            state.record(&limits, Some("tool_execute"), Some(&format!("tool{call}")), 1.0);
        }
        assert_eq!(state.counts.len(), 1);
        assert!(state.counts.values().all(|counts| counts.recent.len() == 5));
    }

    proptest! {
        #![proptest_config(property(2_000))]

        #[test]
        fn no_window_has_more_calls_than_allowed(
            steps in prop::collection::vec((0_u32..30_000, any::<bool>()), 1..60), per_minute in 1_u64..5,
            per_session in 1_u64..40,
        ) {
            let limits = limits(json!({
                "tool_execute": { "max_calls_per_minute": per_minute, "max_calls_per_session": per_session },
                "per_tool": { "a": { "max_calls_per_minute": 2 } },
            }));
            let mut state = RateState::default();
            let (mut now, mut made): (f64, Vec<(f64, bool)>) = (0.0, Vec::new());
            for (wait, is_a) in steps {
                now += f64::from(wait);
                let tool = Some(if is_a { "a" } else { "b" });
                let ruling = state.check(&limits, Some("tool_execute"), tool, now);
                if ruling.allowed {
                    state.record(&limits, Some("tool_execute"), tool, now);
                    made.push((now, is_a));
                } else if let Some(wait) = ruling.retry_after_ms {
                    // What it says is the first moment at which this limit lets a call through.
                    prop_assert!(wait > 0.0 && wait <= WINDOW_MS);
                    let then = state.check(&limits, Some("tool_execute"), tool, now + wait);
                    prop_assert_ne!(&then.scope, &ruling.scope);
                    let before = state.check(&limits, Some("tool_execute"), tool, now + wait - 1.0);
                    prop_assert_eq!(&before.scope, &ruling.scope);
                }
            }
            prop_assert!(made.len() as u64 <= per_session);
            for (start, _) in &made {
                let within = |at: f64| at >= *start && at < *start + WINDOW_MS;
                prop_assert!(made.iter().filter(|(at, _)| within(*at)).count() as u64 <= per_minute);
                prop_assert!(made.iter().filter(|(at, is_a)| within(*at) && *is_a).count() <= 2);
            }
        }
    }
}

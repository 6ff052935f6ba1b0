//! When a call that failed is made again, and after how long.

use serde_json::{Value, json};

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Fields, Record, nearest};
use contextweaver_text::quote::quote;

use crate::failure::GatewayErrorCode;

/// Most attempts of one call.
pub const MAX_ATTEMPTS: u64 = 20;
/// Longest wait between attempts, in seconds.
pub const MAX_DELAY_SECONDS: f64 = 3_600.0;

/// How often a call is tried, and how long to wait in between.
///
/// A call is made again when its error is retryable and listed here, and when doing it twice does no harm: the tool is
/// read-only or idempotent, or the operator takes the risk with `retry_writes`.
///
/// ```
/// use contextweaver_gateway::{GatewayErrorCode, RetryPolicy};
/// use serde_json::json;
///
/// let retry = RetryPolicy::from_value(json!({ "max_attempts": 3 }), "/retry")?;
/// assert!(retry.allows(GatewayErrorCode::UpstreamTimeout, 1, true));
/// // It may have been done before the time was over.
/// assert!(!retry.allows(GatewayErrorCode::UpstreamTimeout, 1, false));
/// assert_eq!(retry.delay_ms(1, 0.0), 200.0);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Record)]
#[record(default, closed)]
pub struct RetryPolicy {
    /// Attempts in all, 1 for none after the first.
    #[record(with = max_attempts)]
    pub max_attempts: u32,
    /// Seconds before the second attempt; it doubles with every further one.
    #[record(range = 0.0..=MAX_DELAY_SECONDS)]
    pub base_delay: f64,
    /// Most seconds between two attempts.
    #[record(range = 0.0..=MAX_DELAY_SECONDS)]
    pub max_delay: f64,
    /// Part of the delay, 0 to 1, that a random fraction may take off.
    #[record(range = 0.0..=1.0)]
    pub jitter: f64,
    /// Errors after which a call is made again.
    #[record(with = retryable_codes)]
    pub retryable_codes: Vec<GatewayErrorCode>,
    /// Whether calls that may change something are made again too.
    pub retry_writes: bool,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 1,
            base_delay: 0.1,
            max_delay: 5.0,
            jitter: 0.0,
            retryable_codes: vec![GatewayErrorCode::UpstreamTimeout, GatewayErrorCode::UpstreamUnavailable],
            retry_writes: false,
        }
    }
}

impl RetryPolicy {
    /// Returns the policy as [`Self::from_value`] reads it.
    pub fn to_json(&self) -> Value {
        let codes: Vec<&str> = self.retryable_codes.iter().map(|code| code.as_str()).collect();
        json!({
            "max_attempts": self.max_attempts, "base_delay": self.base_delay, "max_delay": self.max_delay,
            "jitter": self.jitter, "retryable_codes": codes, "retry_writes": self.retry_writes,
        })
    }

    /// Tells whether a call that failed is made again after so many attempts.
    pub fn allows(&self, code: GatewayErrorCode, attempts: u32, is_idempotent: bool) -> bool {
        attempts < self.max_attempts
            && code.is_retryable()
            && self.retryable_codes.contains(&code)
            && (is_idempotent || self.retry_writes)
    }

    /// Returns the seconds to wait after an attempt; 0 is the first. `random` is a fraction from 0 to 1.
    pub fn delay_seconds(&self, attempt_index: u32, random: f64) -> f64 {
        // Powers of two are exact however they are made.
        let doubled = f64::from_bits((1023 + u64::from(attempt_index.min(1023))) << 52);
        let random = if random.is_nan() { 0.0 } else { random.clamp(0.0, 1.0) };
        (self.base_delay * doubled).min(self.max_delay) * (1.0 - self.jitter * random)
    }

    /// Does the same in milliseconds.
    pub fn delay_ms(&self, attempt_index: u32, random: f64) -> f64 {
        self.delay_seconds(attempt_index, random) * 1000.0
    }

    /// Returns the milliseconds to wait where the server may have asked for more; none when that is longer than this
    /// policy waits: to ask again before would be in vain.
    pub fn delay_after_ms(&self, attempt_index: u32, random: f64, retry_after_ms: Option<f64>) -> Option<f64> {
        let delay = self.delay_ms(attempt_index, random);
        match retry_after_ms.filter(|asked| *asked > delay) {
            None => Some(delay),
            Some(asked) => (asked <= self.max_delay * 1000.0).then_some(asked),
        }
    }
}

fn max_attempts(fields: &mut Fields, key: &'static str, base: u32) -> Result<u32> {
    match fields.uint_or(key, u64::from(base), MAX_ATTEMPTS)? {
        0 => Err(Error::new(ErrorCode::OutOfRange, format!("expected a number from 1 to {MAX_ATTEMPTS}, got 0"))
            .at(fields.at(key))
            .hint("1 is no attempt after the first")),
        attempts => Ok(attempts as u32),
    }
}

fn retryable_codes(
    fields: &mut Fields,
    key: &'static str,
    base: Vec<GatewayErrorCode>,
) -> Result<Vec<GatewayErrorCode>> {
    let at = fields.at(key);
    let Some(codes) = fields.get::<Option<Vec<String>>>(key)? else { return Ok(base) };
    codes.iter().enumerate().map(|(index, code)| listed(code, &format!("{at}/{index}"))).collect()
}

fn listed(code: &str, path: &str) -> Result<GatewayErrorCode> {
    let code = GatewayErrorCode::parse(code).map_err(|error| {
        let meant = nearest(code, GatewayErrorCode::ALL.iter().map(|code| code.as_str()));
        let error = error.at(path);
        match meant {
            Some(meant) => error.hint(format!("did you mean `{meant}`?")),
            None => error,
        }
    })?;
    if code.is_retryable() {
        return Ok(code);
    }
    let retryable = GatewayErrorCode::ALL.iter().filter(|code| code.is_retryable());
    let names: Vec<&str> = retryable.map(|code| code.as_str()).collect();
    let message = format!("a call that fails with {} fails again", quote(code.as_str()));
    Err(Error::new(ErrorCode::InvalidInput, message).at(path).hint(format!("some of {}", names.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(value: Value) -> RetryPolicy {
        RetryPolicy::from_value(value, "").unwrap()
    }

    #[test]
    fn a_misspelt_code_is_told_with_what_it_may_stand_for() {
        let error = RetryPolicy::from_value(json!({ "retryable_codes": ["UPSTREAM_TIMOUT"] }), "").unwrap_err();
        assert_eq!((error.path(), error.hint_text()), ("/retryable_codes/0", Some("did you mean `UPSTREAM_TIMEOUT`?")));
    }

    #[test]
    fn only_what_does_no_harm_is_done_again() {
        use GatewayErrorCode::{AuthFailed, RateLimited, UpstreamTimeout, UpstreamUnavailable};
        let three = policy(json!({ "max_attempts": 3 }));
        let writes = policy(json!({ "max_attempts": 3, "retry_writes": true, "retryable_codes": ["RATE_LIMITED"] }));
        for (policy, code, attempts, is_idempotent, wanted) in [
            (&three, UpstreamTimeout, 1, true, true),
            (&three, UpstreamUnavailable, 2, true, true),
            (&three, UpstreamTimeout, 3, true, false),
            (&three, UpstreamTimeout, 1, false, false),
            (&three, RateLimited, 1, true, false),
            (&three, AuthFailed, 1, true, false),
            (&writes, RateLimited, 1, false, true),
            (&writes, UpstreamTimeout, 1, true, false),
            (&RetryPolicy::default(), UpstreamTimeout, 1, true, false),
        ] {
            assert_eq!(policy.allows(code, attempts, is_idempotent), wanted, "{code:?} {attempts} {is_idempotent}");
        }
    }

    #[test]
    fn delays_double_and_heed_the_server() {
        let retry = policy(json!({ "base_delay": 1, "max_delay": 10 }));
        let delays: Vec<f64> = [0, 1, 2, 3, 4, u32::MAX].iter().map(|index| retry.delay_ms(*index, 0.5)).collect();
        assert_eq!(delays, [1_000.0, 2_000.0, 4_000.0, 8_000.0, 10_000.0, 10_000.0]);
        for (asked, wanted) in [
            (None, Some(1_000.0)),
            (Some(500.0), Some(1_000.0)),
            (Some(3_000.0), Some(3_000.0)),
            (Some(10_000.0), Some(10_000.0)),
            (Some(10_001.0), None),
        ] {
            assert_eq!(retry.delay_after_ms(0, 0.0, asked), wanted);
        }
        let jitter = policy(json!({ "base_delay": 1, "jitter": 1 }));
        for (random, wanted) in [(0.0, 1_000.0), (0.25, 750.0), (1.0, 0.0), (7.0, 0.0), (f64::NAN, 1_000.0)] {
            assert!((jitter.delay_ms(0, random) - wanted).abs() < 1e-9);
        }
        assert!(policy(json!({ "base_delay": 0 })).delay_ms(5_000, 0.0).abs() < 1e-9);
    }

    #[test]
    fn policies_of_another_shape_are_refused() {
        for (given, code, path) in [
            (json!({ "max_attempts": 0 }), "OUT_OF_RANGE", "/r/max_attempts"),
            (json!({ "max_attempts": 21 }), "OUT_OF_RANGE", "/r/max_attempts"),
            (json!({ "max_attempts": "3" }), "INVALID_INPUT", "/r/max_attempts"),
            (json!({ "base_delay": -1 }), "OUT_OF_RANGE", "/r/base_delay"),
            (json!({ "jitter": 1.5 }), "OUT_OF_RANGE", "/r/jitter"),
            (json!({ "retryable_codes": [1] }), "INVALID_INPUT", "/r/retryable_codes/0"),
            (json!({ "retryable_codes": ["RATE_LIMITED", "TIMEOUT"] }), "INVALID_INPUT", "/r/retryable_codes/1"),
            (json!({ "retryable_codes": ["ARGS_INVALID"] }), "INVALID_INPUT", "/r/retryable_codes/0"),
            (json!({ "max_atempts": 2 }), "UNKNOWN_FIELD", "/r/max_atempts"),
        ] {
            let error = RetryPolicy::from_value(given.clone(), "/r").unwrap_err();
            assert_eq!((error.code().as_str(), error.path()), (code, path), "{given}");
        }
        let given = policy(json!({ "max_attempts": 2, "retryable_codes": [], "jitter": 0.5 }));
        assert_eq!(policy(given.to_json()), given);
    }
}

//! What a model is told when something is refused or fails: one code, one short sentence, whether to try again.

use serde_json::{Value, json};

use contextweaver_model::json::{JsonMap, Record};
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode::{floor_char_boundary, is_space, prefix};

/// Code points of what a server said about its failure.
pub const DETAIL_CHARS: usize = 256;

/// Bytes of a server's message that are looked at.
const READ_BYTES: usize = 64 * 1024;

contextweaver_model::string_enum! {
    /// Why a call of the gateway has no result.
    GatewayErrorCode, "error of a call" {
        /// The arguments of a meta-tool, or those of the tool, are not what its schema says.
        ArgsInvalid = "ARGS_INVALID",
        /// No tool has this id.
        HydrateFailed = "HYDRATE_FAILED",
        /// The tool's own schema is no JSON Schema.
        SchemaInvalid = "SCHEMA_INVALID",
        /// The server did not answer in time.
        UpstreamTimeout = "UPSTREAM_TIMEOUT",
        /// The server cannot be reached.
        UpstreamUnavailable = "UPSTREAM_UNAVAILABLE",
        /// The server does not know who calls.
        AuthFailed = "AUTH_FAILED",
        /// The server forbids the call.
        PermissionDenied = "PERMISSION_DENIED",
        /// The server or a limit of the gateway asks to wait.
        RateLimited = "RATE_LIMITED",
        /// The server failed in another way.
        UpstreamError = "UPSTREAM_ERROR",
        /// A policy of the gateway denies the call.
        PolicyDenied = "POLICY_DENIED",
        /// A policy of the gateway asks for approval first.
        AuthRequired = "AUTH_REQUIRED",
    }
}

impl GatewayErrorCode {
    /// Tells whether the same call may succeed later.
    pub const fn is_retryable(self) -> bool {
        matches!(self, Self::UpstreamTimeout | Self::UpstreamUnavailable | Self::RateLimited)
    }
}

/// A value, or what a model is told in place of a result.
pub(crate) type Checked<T> = std::result::Result<T, GatewayError>;

/// The record of a call without a result, as a model gets it.
///
/// ```
/// use contextweaver_gateway::{GatewayError, GatewayErrorCode};
/// use serde_json::json;
///
/// let error = GatewayError::new(GatewayErrorCode::HydrateFailed, "no such tool").at("github:x");
/// let record = json!({ "error": "HYDRATE_FAILED", "message": "no such tool", "path": "github:x", "retryable": false });
/// assert_eq!(error.to_json(), record);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GatewayError {
    /// The code.
    pub code: GatewayErrorCode,
    /// A short sentence.
    pub message: String,
    /// The name of the tool or the handle; empty where there is none.
    pub path: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// More for a program to read. Boxed, as functions return errors by value.
    pub details: Box<JsonMap>,
}

impl GatewayError {
    /// Makes an error that is retryable if its code is.
    pub fn new(code: GatewayErrorCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, path: String::new(), retryable: code.is_retryable(), details: Box::default() }
    }

    /// Makes the error for a server that failed: the code of [`classify`], and what the server said, made safe.
    pub fn of_upstream(failure: &UpstreamFailure) -> Self {
        let mut error =
            Self::new(classify(failure), format!("upstream call failed: {}", upstream_detail(&failure.message)));
        if let Some(wait) = failure.retry_after_ms {
            error = error.detail("retry_after", contextweaver_model::json::numbers::round(wait / 1000.0, 3));
        }
        error
    }

    /// Sets the tool id, the handle or the browse path.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Adds a detail.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    /// Returns the record; without details the key is absent.
    pub fn to_json(&self) -> Value {
        let mut record = json!({
            "error": self.code.as_str(), "message": self.message, "path": self.path, "retryable": self.retryable,
        });
        if let (Some(map), false) = (record.as_object_mut(), self.details.is_empty()) {
            map.insert("details".to_owned(), Value::Object((*self.details).clone()));
        }
        record
    }
}

contextweaver_model::string_enum! {
    /// In what way a server failed, as far as the host saw it.
    FailureKind, "kind" {
        /// No answer in time.
        Timeout = "timeout",
        /// No connection.
        Unavailable = "unavailable",
        /// The answer is an error of JSON-RPC.
        Rpc = "rpc",
        /// The answer is a status of HTTP.
        Http = "http",
        /// The call was given up.
        Cancelled = "cancelled",
        /// The answer is no answer of MCP.
        Malformed = "malformed",
        /// Anything else.
        Other = "other",
    }
}

/// What a host knows of a call that a server did not answer with a result.
#[derive(Debug, Clone, PartialEq, Record)]
#[record(closed)]
pub struct UpstreamFailure {
    /// In what way it failed.
    pub kind: FailureKind,
    /// The code of the JSON-RPC error.
    #[record(range = -9e15..=9e15)]
    pub code: Option<i64>,
    /// The status of HTTP.
    #[record(max = 999)]
    pub status: Option<u16>,
    /// What the server or the transport said.
    #[record(default)]
    pub message: String,
    /// The data of the JSON-RPC error.
    pub data: Option<Value>,
    /// How long the server asks to wait, in milliseconds.
    #[record(range = 0.0..=f64::MAX)]
    pub retry_after_ms: Option<f64>,
}

impl UpstreamFailure {
    /// Makes a failure of which only this is known.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, code: None, status: None, message: message.into(), data: None, retry_after_ms: None }
    }
}

/// Returns what may be shown of a server's text: on one line, without control characters and credentials, at most 256
/// code points.
///
/// ```
/// use contextweaver_gateway::upstream_detail;
///
/// assert_eq!(upstream_detail("a\nb\u{1b}[31m"), "a b [31m");
/// assert_eq!(upstream_detail("password=hunter22"), "password=[REDACTED-SECRET]");
/// ```
pub fn upstream_detail(text: &str) -> String {
    upstream_detail_within(text, DETAIL_CHARS)
}

/// Does the same with another number of code points.
pub fn upstream_detail_within(text: &str, chars: usize) -> String {
    let text = within_bytes(text);
    // Masked before it is cut, as half a credential is not recognised as one, and once more on one line.
    let masked = mask_secrets(text);
    let mut line = String::with_capacity(masked.len());
    for ch in masked.chars() {
        let blank = ch.is_control() || is_space(ch);
        match blank {
            true if line.is_empty() || line.ends_with(' ') => {}
            true => line.push(' '),
            false if contextweaver_text::unicode::is_invisible(ch) => line.extend(ch.escape_unicode()),
            false => line.push(ch),
        }
    }
    let line = line.trim_end_matches(' ');
    let line = mask_secrets(line);
    if prefix(&line, chars).len() == line.len() {
        return line.into_owned();
    }
    format!("{}…", prefix(&line, chars.saturating_sub(1)).trim_end_matches(' '))
}

/// Cuts a text that is too long to be read, between two words: half a credential is not recognised as one.
fn within_bytes(text: &str) -> &str {
    let end = floor_char_boundary(text, READ_BYTES);
    let read = &text[..end];
    if end == text.len() {
        read
    } else {
        read.rfind(|ch: char| ch.is_control() || is_space(ch)).map_or(read, |at| &read[..at])
    }
}

/// Returns the code of a failure: by how it failed and the numbers that say so, and only then by words of the message.
///
/// Words count as whole words, and a number only where it is a status: `row 401 missing` is no question of who calls.
pub fn classify(failure: &UpstreamFailure) -> GatewayErrorCode {
    match failure.kind {
        FailureKind::Timeout => return GatewayErrorCode::UpstreamTimeout,
        FailureKind::Unavailable => return GatewayErrorCode::UpstreamUnavailable,
        FailureKind::Cancelled | FailureKind::Malformed => return GatewayErrorCode::UpstreamError,
        FailureKind::Rpc | FailureKind::Http | FailureKind::Other => {}
    }
    let in_data = ["status", "statusCode", "status_code"].iter().find_map(|key| failure.data.as_ref()?.get(*key));
    let numbers = [failure.status.map(i64::from), failure.code, in_data.and_then(Value::as_i64)];
    if let Some(code) = numbers.into_iter().flatten().find_map(of_status) {
        return code;
    }
    // The server says that the request itself is at fault; words of its message speak of that.
    if failure.code.is_some_and(|code| code == -32_700 || (-32_602..=-32_600).contains(&code)) {
        return GatewayErrorCode::UpstreamError;
    }
    by_words(within_bytes(&failure.message))
}

/// Returns the code for a status of HTTP that says more than that something failed.
fn of_status(status: i64) -> Option<GatewayErrorCode> {
    Some(match status {
        401 | 407 => GatewayErrorCode::AuthFailed,
        403 => GatewayErrorCode::PermissionDenied,
        429 => GatewayErrorCode::RateLimited,
        408 | 504 => GatewayErrorCode::UpstreamTimeout,
        502 | 503 => GatewayErrorCode::UpstreamUnavailable,
        _ => return None,
    })
}

/// Words that say how a call failed, in the order in which they count.
const WORDS: &[(&[&str], GatewayErrorCode)] = &[
    (
        &[
            "unauthorized",
            "unauthenticated",
            "not authenticated",
            "authentication failed",
            "authentication required",
            "authentication error",
            "invalid authentication",
            "invalid api key",
            "invalid credentials",
        ],
        GatewayErrorCode::AuthFailed,
    ),
    (&["forbidden", "permission denied", "access denied"], GatewayErrorCode::PermissionDenied),
    (
        &["rate limit", "rate limited", "rate limit exceeded", "ratelimit", "too many requests"],
        GatewayErrorCode::RateLimited,
    ),
    (&["timed out", "timeout", "etimedout", "deadline exceeded"], GatewayErrorCode::UpstreamTimeout),
    (
        &[
            "connection refused",
            "connection reset",
            "service unavailable",
            "bad gateway",
            "econnrefused",
            "econnreset",
            "enotfound",
        ],
        GatewayErrorCode::UpstreamUnavailable,
    ),
];

/// Words after which a number is a status.
const BEFORE_STATUS: &[&str] = &["http", "status", "code"];

fn by_words(message: &str) -> GatewayErrorCode {
    let lower = message.to_lowercase();
    let words: Vec<&str> = lower.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let has = |phrase: &str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.windows(phrase.len()).any(|window| window == phrase)
    };
    let by_phrase = WORDS.iter().find(|(phrases, _)| phrases.iter().any(|phrase| has(phrase))).map(|(_, code)| *code);
    let status = words.iter().enumerate().find_map(|(at, word)| {
        let is_last = at + 1 == words.len();
        // Of any other number nobody knows what it counts: rows, issues, bytes.
        let is_status = match at.checked_sub(1).and_then(|before| words.get(before)) {
            None => is_last || lower.trim_start().strip_prefix(word).is_some_and(|rest| rest.starts_with(':')),
            Some(before) => BEFORE_STATUS.contains(before) || *before == "error" && is_last,
        };
        (is_status && word.len() == 3).then(|| of_status(word.parse().ok()?)).flatten()
    });
    by_phrase.or(status).unwrap_or(GatewayErrorCode::UpstreamError)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_count_before_words_and_words_as_a_whole() {
        use GatewayErrorCode::{
            AuthFailed, PermissionDenied, RateLimited, UpstreamError, UpstreamTimeout, UpstreamUnavailable,
        };
        for (failure, wanted) in [
            (json!({ "kind": "timeout", "message": "unauthorized" }), UpstreamTimeout),
            (json!({ "kind": "unavailable", "message": "" }), UpstreamUnavailable),
            (json!({ "kind": "cancelled", "message": "timeout" }), UpstreamError),
            (json!({ "kind": "malformed", "message": "401" }), UpstreamError),
            (json!({ "kind": "http", "status": 401, "message": "forbidden" }), AuthFailed),
            (json!({ "kind": "http", "status": 403 }), PermissionDenied),
            (json!({ "kind": "http", "status": 429, "retry_after_ms": 1000 }), RateLimited),
            (json!({ "kind": "http", "status": 504 }), UpstreamTimeout),
            (json!({ "kind": "http", "status": 503 }), UpstreamUnavailable),
            (json!({ "kind": "http", "status": 500, "message": "row 401 missing" }), UpstreamError),
            (json!({ "kind": "rpc", "code": 429, "message": "slow down" }), RateLimited),
            (json!({ "kind": "rpc", "code": -32602, "message": "missing the timeout" }), UpstreamError),
            (json!({ "kind": "rpc", "code": -32603, "message": "request timed out" }), UpstreamTimeout),
            (json!({ "kind": "rpc", "code": -32000, "message": "", "data": { "status": 403 } }), PermissionDenied),
            (json!({ "kind": "rpc", "code": -32000, "message": "", "data": [403] }), UpstreamError),
            (json!({ "kind": "other", "message": "row 401 missing" }), UpstreamError),
            (json!({ "kind": "other", "message": "issue #429 is closed" }), UpstreamError),
            (json!({ "kind": "other", "message": "the class TimeoutPolicy is unknown" }), UpstreamError),
            (json!({ "kind": "other", "message": "see the chapter on authentication" }), UpstreamError),
            (json!({ "kind": "other", "message": "401" }), AuthFailed),
            (json!({ "kind": "other", "message": "401: no token" }), AuthFailed),
            (json!({ "kind": "other", "message": "429 rows were found" }), UpstreamError),
            (json!({ "kind": "other", "message": "Error: 503 rows failed" }), UpstreamError),
            (json!({ "kind": "other", "message": "Error 503" }), UpstreamUnavailable),
            (json!({ "kind": "other", "message": "502 Bad Gateway" }), UpstreamUnavailable),
            (json!({ "kind": "other", "message": "HTTP 401 from the server" }), AuthFailed),
            (json!({ "kind": "other", "message": "Request failed with status code 403" }), PermissionDenied),
            (json!({ "kind": "other", "message": "403 Forbidden" }), PermissionDenied),
            (json!({ "kind": "other", "message": "Error: Unauthorized." }), AuthFailed),
            (json!({ "kind": "other", "message": "invalid API key" }), AuthFailed),
            (json!({ "kind": "other", "message": "429 Too Many Requests" }), RateLimited),
            (json!({ "kind": "other", "message": "rate-limit exceeded" }), RateLimited),
            (json!({ "kind": "other", "message": "connect ECONNREFUSED 127.0.0.1:3000" }), UpstreamUnavailable),
            (json!({ "kind": "other", "message": "bad" }), UpstreamError),
            (json!({ "kind": "other", "message": "" }), UpstreamError),
        ] {
            assert_eq!(classify(&UpstreamFailure::from_value(failure.clone(), "").unwrap()), wanted, "{failure}");
        }
    }

    #[test]
    fn failures_of_another_shape_are_refused() {
        for (failure, path) in [
            (json!({ "message": "x" }), "/f/kind"),
            (json!({ "kind": "slow" }), "/f/kind"),
            (json!({ "kind": "rpc", "code": "x" }), "/f/code"),
            (json!({ "kind": "http", "status": 1000 }), "/f/status"),
            (json!({ "kind": "http", "retry_after_ms": -1 }), "/f/retry_after_ms"),
            (json!({ "kind": "http", "retry_after": 1 }), "/f/retry_after"),
        ] {
            assert_eq!(UpstreamFailure::from_value(failure, "/f").unwrap_err().path(), path);
        }
    }

    #[test]
    fn what_a_server_says_is_short_plain_and_without_secrets() {
        let token = format!("ghp_{}", "s3Kq9ZtWx7Lm2Vb8Rn4Yc6Hd1Jf5Pg0TaUeQ");
        let long = format!("{} {token}", "word ".repeat(48));
        // Where reading ends, half of it would be left.
        let cut = format!("x{}{token}", " ".repeat(READ_BYTES - 31));
        assert_eq!(upstream_detail(&cut), "x");
        for text in [format!("bad token {token}"), format!("a\u{0}b {token}\n"), long, format!("token\n{token}")] {
            let shown = upstream_detail(&text);
            assert!(!shown.contains(&token[..16]), "{shown}");
            assert!(shown.chars().count() <= DETAIL_CHARS && !shown.contains(char::is_control));
        }
        assert_eq!(upstream_detail(&"é".repeat(300)), format!("{}…", "é".repeat(255)));
        assert_eq!(upstream_detail("a\u{202e}b"), "a\\u{202e}b");
        let error = GatewayError::of_upstream(&UpstreamFailure {
            retry_after_ms: Some(1234.5678),
            status: Some(429),
            ..UpstreamFailure::new(FailureKind::Http, "wait")
        });
        let wanted = json!({ "error": "RATE_LIMITED", "message": "upstream call failed: wait", "path": "github:x",
            "retryable": true, "details": { "retry_after": 1.235 } });
        assert_eq!(error.at("github:x").to_json(), wanted);
        assert!(upstream_detail(&"x".repeat(10_000_000)).len() < 300);
    }
}

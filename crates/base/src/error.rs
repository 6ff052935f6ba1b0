//! The one error type of the workspace: a stable code, a sentence, the path to the offending field.

use std::fmt;

use serde_json::{Map, Value, json};

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The stable identity of a failure; adding one is a minor change, renaming one a major change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorCode {
    /// A value has the wrong type or form.
    InvalidInput,
    /// An options object carries a field that does not exist.
    UnknownField,
    /// A required field is absent.
    MissingField,
    /// A number lies outside its documented range.
    OutOfRange,
    /// An id is already taken.
    DuplicateId,
    /// No item, hook, profile or episode has this id.
    NotFound,
    /// A JavaScript value refers to itself.
    Cycle,
    /// A value nests deeper than the limit.
    TooDeep,
    /// A value is larger than the limit.
    TooLarge,
    /// A store is full, and nothing may be evicted or that would not be enough.
    QuotaExceeded,
    /// The items that must be in the prompt do not fit, or the overflow policy asks for an error.
    BudgetExceeded,
    /// The sensitivity policy forbids the operation.
    PolicyViolation,
    /// A model-backed function would run although only deterministic ones may.
    Determinism,
    /// No artifact has this handle.
    ArtifactNotFound,
    /// The artifact expired or was evicted to make room, as the caller's limits ask for.
    ArtifactExpired,
    /// Text is not valid JSON, UTF-8 or base64.
    DecodeFailed,
    /// The operation or value is not supported.
    Unsupported,
    /// A snapshot was written by an incompatible version.
    SnapshotVersion,
    /// Parts of a journal are missing, or are not what was written.
    JournalDamaged,
    /// Somebody else has changed what was to be written.
    Conflict,
    /// A function supplied by the caller threw or returned an unusable value.
    CallbackFailed,
    /// A function supplied by the caller called back into the object that is calling it.
    Reentrant,
    /// Nothing is left to choose from: the catalog is empty, or the filters leave no tool.
    NoCandidates,
    /// A graph of tools has a cycle, no root, or tools that cannot be reached.
    GraphInvalid,
    /// The object was freed.
    Disposed,
    /// The WebAssembly instance died and could not be brought back.
    Poisoned,
    /// A defect in this library.
    Internal,
}

impl ErrorCode {
    /// Lists every code, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self::InvalidInput,
        Self::UnknownField,
        Self::MissingField,
        Self::OutOfRange,
        Self::DuplicateId,
        Self::NotFound,
        Self::Cycle,
        Self::TooDeep,
        Self::TooLarge,
        Self::QuotaExceeded,
        Self::BudgetExceeded,
        Self::PolicyViolation,
        Self::Determinism,
        Self::ArtifactNotFound,
        Self::ArtifactExpired,
        Self::DecodeFailed,
        Self::Unsupported,
        Self::SnapshotVersion,
        Self::JournalDamaged,
        Self::Conflict,
        Self::CallbackFailed,
        Self::Reentrant,
        Self::NoCandidates,
        Self::GraphInvalid,
        Self::Disposed,
        Self::Poisoned,
        Self::Internal,
    ];

    /// Returns the stable string that callers compare with.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidInput => "INVALID_INPUT",
            Self::UnknownField => "UNKNOWN_FIELD",
            Self::MissingField => "MISSING_FIELD",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::DuplicateId => "DUPLICATE_ID",
            Self::NotFound => "NOT_FOUND",
            Self::Cycle => "CYCLE",
            Self::TooDeep => "TOO_DEEP",
            Self::TooLarge => "TOO_LARGE",
            Self::QuotaExceeded => "QUOTA_EXCEEDED",
            Self::BudgetExceeded => "BUDGET_EXCEEDED",
            Self::PolicyViolation => "POLICY_VIOLATION",
            Self::Determinism => "DETERMINISM",
            Self::ArtifactNotFound => "ARTIFACT_NOT_FOUND",
            Self::ArtifactExpired => "ARTIFACT_EXPIRED",
            Self::DecodeFailed => "DECODE_FAILED",
            Self::Unsupported => "UNSUPPORTED",
            Self::SnapshotVersion => "SNAPSHOT_VERSION",
            Self::JournalDamaged => "JOURNAL_DAMAGED",
            Self::Conflict => "CONFLICT",
            Self::CallbackFailed => "CALLBACK_FAILED",
            Self::Reentrant => "REENTRANT",
            Self::NoCandidates => "NO_CANDIDATES",
            Self::GraphInvalid => "GRAPH_INVALID",
            Self::Disposed => "DISPOSED",
            Self::Poisoned => "POISONED",
            Self::Internal => "INTERNAL",
        }
    }
}

/// A failure of any operation; a failed operation has changed nothing.
#[derive(Debug, Clone)]
pub struct Error(Box<ErrorInner>);

#[derive(Debug, Clone)]
struct ErrorInner {
    code: ErrorCode,
    message: String,
    path: String,
    hint: Option<String>,
    details: Map<String, Value>,
}

impl Error {
    /// Makes an error from a code and one sentence (lower-case start, no final stop).
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self(Box::new(ErrorInner {
            code,
            message: message.into(),
            path: String::new(),
            hint: None,
            details: Map::new(),
        }))
    }

    /// Sets the JSON pointer of the offending field; the innermost caller's path wins.
    ///
    /// ```
    /// use contextweaver_base::{Error, ErrorCode};
    ///
    /// let error = Error::new(ErrorCode::MissingField, "missing field `id`").at("/items/3/id").at("/items");
    /// assert_eq!(error.path(), "/items/3/id");
    /// ```
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        if self.0.path.is_empty() {
            self.0.path = path.into();
        }
        self
    }

    /// Replaces the path, for an operation whose argument wraps what the error speaks of.
    #[must_use]
    pub fn under(mut self, path: impl Into<String>) -> Self {
        self.0.path = path.into();
        self
    }

    /// Adds a sentence saying what to do instead.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Returns the hint, if it has one.
    #[must_use]
    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }

    /// Adds one machine-readable detail.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(key.to_owned(), value.into());
        self
    }

    /// Returns the code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns the JSON pointer of the offending field, empty when no field is at fault.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns the sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the machine-readable details, such as `over_by` of a budget error.
    pub fn details(&self) -> &Map<String, Value> {
        &self.0.details
    }

    /// Returns the error as the record that crosses to JavaScript.
    ///
    /// ```
    /// use contextweaver_base::{Error, ErrorCode};
    /// use serde_json::json;
    ///
    /// let error = Error::new(ErrorCode::BudgetExceeded, "the prompt does not fit").detail("over_by", 12);
    /// let record = json!({ "code": "BUDGET_EXCEEDED", "message": "the prompt does not fit", "details": { "over_by": 12 } });
    /// assert_eq!(error.to_json(), record);
    /// ```
    pub fn to_json(&self) -> Value {
        let mut record = json!({ "code": self.0.code.as_str(), "message": self.0.message });
        if let Some(map) = record.as_object_mut() {
            if !self.0.path.is_empty() {
                map.insert("path".into(), self.0.path.clone().into());
            }
            if let Some(hint) = &self.0.hint {
                map.insert("hint".into(), hint.clone().into());
            }
            if !self.0.details.is_empty() {
                map.insert("details".into(), Value::Object(self.0.details.clone()));
            }
        }
        record
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code.as_str(), self.0.message)?;
        if !self.0.path.is_empty() {
            write!(f, " (at {})", self.0.path)?;
        }
        Ok(())
    }
}

impl std::error::Error for Error {}

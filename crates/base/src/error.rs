//! The error type of all crates: a stable code, a message of one sentence, and the path of the field at fault.

use std::fmt;

use serde_json::{Map, Value, json};

/// A result whose error is [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// The stable identity of a failure, for callers to compare.
///
/// In semantic versioning, a new code is a minor change and a renamed one a major change.
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
    /// A store is full, and eviction is not allowed or would not free enough.
    QuotaExceeded,
    /// The items that must be in the prompt do not fit its budget, or the overflow policy asks for an error.
    BudgetExceeded,
    /// The sensitivity policy forbids the operation.
    PolicyViolation,
    /// The call would run a function that asks a model, but only deterministic functions are allowed.
    Determinism,
    /// No artifact has this handle.
    ArtifactNotFound,
    /// The artifact expired, or was evicted to make room. Both happen only by limits that the caller set.
    ArtifactExpired,
    /// Text is not valid JSON, UTF-8 or base64.
    DecodeFailed,
    /// The operation or value is not supported.
    Unsupported,
    /// A snapshot was written by an incompatible version.
    SnapshotVersion,
    /// Parts of a journal are missing, or differ from what was written.
    JournalDamaged,
    /// Another writer has changed the data in the meantime, so nothing was written.
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

/// A failure of an operation. An operation that fails has changed nothing.
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

    /// Sets the JSON pointer of the field at fault. A path that is set already stays: the innermost code knows it best.
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

    /// Replaces the path, even one that is set.
    ///
    /// An operation uses it where the old path is that of an inner call, and its own caller knows the field by another.
    #[must_use]
    pub fn under(mut self, path: impl Into<String>) -> Self {
        self.0.path = path.into();
        self
    }

    /// Sets the hint: what to do instead.
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

    /// Adds a detail for programs to read, such as `over_by` of a budget error.
    #[must_use]
    pub fn detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.details.insert(key.to_owned(), value.into());
        self
    }

    /// Returns the code.
    pub fn code(&self) -> ErrorCode {
        self.0.code
    }

    /// Returns the JSON pointer of the field at fault; empty when there is none.
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// Returns the message, one sentence.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the details for programs to read.
    pub fn details(&self) -> &Map<String, Value> {
        &self.0.details
    }

    /// Returns the error as the JSON record that JavaScript gets. Empty fields are absent.
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

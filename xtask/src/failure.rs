//! What a command reports when it cannot go on: one sentence, what to do, and the end of the log.

use std::fmt;

/// A result whose error is shown to the person who ran the command.
pub type Outcome<T> = Result<T, Failure>;

/// Why a command stopped.
#[derive(Debug, Clone)]
pub struct Failure {
    message: String,
    hint: Option<String>,
    log_tail: Option<String>,
}

impl Failure {
    /// A failure that says what went wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), hint: None, log_tail: None }
    }

    /// Adds what the reader can do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the end of a command's output.
    pub fn log_tail(mut self, tail: impl Into<String>) -> Self {
        self.log_tail = Some(tail.into());
        self
    }

    /// The sentence alone, for a list of skipped stages.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tail) = &self.log_tail {
            for line in tail.lines() {
                writeln!(f, "    {line}")?;
            }
        }
        write!(f, "error: {}", self.message)?;
        if let Some(hint) = &self.hint {
            write!(f, "\n       {hint}")?;
        }
        Ok(())
    }
}

/// Gives a bare I/O error the path or action it belongs to.
pub trait Context<T> {
    /// Turns the error into a [`Failure`] that begins with `what`.
    fn context(self, what: impl FnOnce() -> String) -> Outcome<T>;
}

impl<T, E: fmt::Display> Context<T> for Result<T, E> {
    fn context(self, what: impl FnOnce() -> String) -> Outcome<T> {
        self.map_err(|error| Failure::new(format!("{}: {error}", what())))
    }
}

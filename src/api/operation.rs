//! What a manager can be asked across the boundary: a row for each operation. The facade's list is made of these rows
//! (`tests/boundary/bindings/operations.rs`).

use serde_json::{Value, json};

use super::{done, unknown};
use contextweaver_base::Result;
use contextweaver_context::ContextManager;
use contextweaver_model::json;

/// What an operation does to the manager, as far as the facade must know to make it again after a trap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// It sets something, as small as its argument.
    Changes,
    /// What the argument says becomes items of the log, which stay.
    Appends,
    /// As `Appends`, and bytes of others may go for it.
    Takes,
    /// Bytes of others may go, or are overwritten.
    Replaces,
    /// One thing goes.
    Removes,
    /// A thing goes for good: nothing may hold what it said.
    Erases,
    /// It takes long to repeat, and replaces what the one before left.
    Compiles,
}

impl Effect {
    /// Returns its name in the facade.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Changes => "changes",
            Self::Appends => "appends",
            Self::Takes => "takes",
            Self::Replaces => "replaces",
            Self::Removes => "removes",
            Self::Erases => "erases",
            Self::Compiles => "compiles",
        }
    }
}

/// What crosses beside the argument.
#[derive(Debug, Default)]
pub struct Beside<'a> {
    /// The JSON of a result.
    pub text: &'a str,
    /// Bytes that were taken out of it, or of an argument.
    pub bytes: Vec<Vec<u8>>,
}

impl Beside<'_> {
    /// Returns the first bytes; there is one stretch where an operation takes bytes alone.
    pub fn into_first(self) -> Vec<u8> {
        self.bytes.into_iter().next().unwrap_or_default()
    }
}

type Run = fn(&mut ContextManager, Value) -> Result<String>;
type RunBeside = fn(&mut ContextManager, Value, Beside) -> Result<String>;

/// An operation of a manager.
#[derive(Debug, Clone, Copy)]
pub struct Operation {
    pub name: &'static str,
    pub effect: Effect,
    /// Whether its argument is a conversation of a provider or a result of MCP, which only modules with the converters read.
    pub converts: bool,
    run: How,
}

#[derive(Debug, Clone, Copy)]
enum How {
    Small(Run),
    /// The answer is empty.
    Silent(fn(&mut ContextManager, Value) -> Result<()>),
    /// The argument may be as large as a snapshot.
    Large(Run),
    Beside(RunBeside),
}

impl Operation {
    pub const fn new(name: &'static str, effect: Effect, run: Run) -> Self {
        Self { name, effect, converts: false, run: How::Small(run) }
    }

    /// One that has nothing to say.
    pub const fn silent(name: &'static str, effect: Effect, run: fn(&mut ContextManager, Value) -> Result<()>) -> Self {
        Self { name, effect, converts: false, run: How::Silent(run) }
    }

    /// One whose argument comes with bytes.
    pub const fn beside(name: &'static str, effect: Effect, run: RunBeside) -> Self {
        Self { name, effect, converts: false, run: How::Beside(run) }
    }

    /// One whose argument has messages of a provider.
    pub const fn of_messages(name: &'static str, effect: Effect, run: Run) -> Self {
        Self { name, effect, converts: true, run: How::Large(run) }
    }

    /// The same, needing the converters.
    pub const fn converting(self) -> Self {
        Self { converts: true, ..self }
    }

    /// Runs it.
    pub fn run(&self, manager: &mut ContextManager, arguments: &str, beside: Beside) -> Result<String> {
        match self.run {
            How::Small(run) => run(manager, json::parse(arguments)?),
            How::Silent(run) => {
                run(manager, json::parse(arguments)?)?;
                done(&json!({}))
            }
            How::Large(run) => run(manager, json::parse_snapshot(arguments)?),
            How::Beside(run) => run(manager, json::parse(arguments)?, beside),
        }
    }
}

/// Finds an operation in tables.
pub fn find(tables: &[&'static [Operation]], name: &str) -> Result<&'static Operation> {
    tables.iter().copied().flatten().find(|operation| operation.name == name).ok_or_else(|| unknown(name))
}

//! Operations of objects across the boundary, a row for each. The facade's list of those of a manager is made of
//! these rows (`tests/boundary/bindings/operations.rs`).

use serde_json::{Value, json};

use super::{done, unknown};
use contextweaver_base::Result;
use contextweaver_model::json::{self, Fields};

/// The effect of an operation on its manager, which the facade must know to make it again after a trap.
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

/// A result and bytes that cross beside the argument.
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

type Run<T> = fn(&mut T, Value) -> Result<String>;
type RunFields<T> = fn(&mut T, Fields) -> Result<String>;

/// An operation of an object.
#[derive(Debug)]
pub struct Operation<T: 'static> {
    /// The name that the facade asks by.
    pub name: &'static str,
    /// Its effect on a manager; the facades of other objects record each change by itself.
    pub effect: Option<Effect>,
    /// Whether its argument is a conversation of a provider or a result of MCP, which only modules with the converters read.
    pub converts: bool,
    run: How<T>,
}

#[derive(Debug)]
enum How<T: 'static> {
    Small(Run<T>),
    /// The answer is empty.
    Silent(fn(&mut T, Value) -> Result<()>),
    /// The argument may be as large as a snapshot.
    Large(Run<T>),
    Fields(RunFields<T>),
    LargeFields(RunFields<T>),
    Beside(fn(&mut T, Value, Beside) -> Result<String>),
}

impl<T> Operation<T> {
    const fn of(name: &'static str, effect: Option<Effect>, run: How<T>) -> Self {
        Self { name, effect, converts: false, run }
    }

    /// One that reads its argument as a whole.
    pub const fn new(name: &'static str, effect: Effect, run: Run<T>) -> Self {
        Self::of(name, Some(effect), How::Small(run))
    }

    /// One that has nothing to say.
    pub const fn silent(name: &'static str, effect: Effect, run: fn(&mut T, Value) -> Result<()>) -> Self {
        Self::of(name, Some(effect), How::Silent(run))
    }

    /// One that reads its argument by field.
    pub const fn of_fields(name: &'static str, run: RunFields<T>) -> Self {
        Self::of(name, None, How::Fields(run))
    }

    /// The same, of an argument that may be as large as a snapshot.
    pub const fn of_large_fields(name: &'static str, run: RunFields<T>) -> Self {
        Self::of(name, None, How::LargeFields(run))
    }

    /// One whose argument comes with bytes.
    pub const fn beside(name: &'static str, effect: Effect, run: fn(&mut T, Value, Beside) -> Result<String>) -> Self {
        Self::of(name, Some(effect), How::Beside(run))
    }

    /// One whose argument has messages of a provider.
    pub const fn of_messages(name: &'static str, effect: Effect, run: Run<T>) -> Self {
        Self::of(name, Some(effect), How::Large(run)).converting()
    }

    /// The same, needing the converters.
    #[must_use]
    pub const fn converting(mut self) -> Self {
        self.converts = true;
        self
    }

    /// Runs it.
    pub fn run(&self, object: &mut T, arguments: &str, beside: Beside) -> Result<String> {
        match self.run {
            How::Small(run) => run(object, json::parse(arguments)?),
            How::Silent(run) => {
                run(object, json::parse(arguments)?)?;
                done(&json!({}))
            }
            How::Large(run) => run(object, json::parse_snapshot(arguments)?),
            How::Fields(run) => run(object, Fields::open(json::parse(arguments)?, "")?),
            How::LargeFields(run) => run(object, Fields::open(json::parse_snapshot(arguments)?, "")?),
            How::Beside(run) => run(object, json::parse(arguments)?, beside),
        }
    }
}

/// Finds an operation in tables.
pub fn find<T>(tables: &[&'static [Operation<T>]], name: &str) -> Result<&'static Operation<T>> {
    tables.iter().copied().flatten().find(|operation| operation.name == name).ok_or_else(|| unknown(name))
}

/// Runs an operation of one table.
pub fn call<T>(table: &'static [Operation<T>], object: &mut T, name: &str, arguments: &str) -> Result<String> {
    find(&[table], name)?.run(object, arguments, Beside::default())
}

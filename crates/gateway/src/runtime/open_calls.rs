//! Calls that wait for a server or for a user.

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::JsonMap;

use super::ClientLimits;
use crate::front::FrontMode;
use crate::repair::ArgumentRepair;
use crate::servers::ToolRef;

/// A call that is not done.
#[derive(Debug, Clone)]
pub(crate) struct OpenCall {
    pub session: String,
    /// The tool that is called.
    pub tool: ToolRef,
    /// What the client calls it.
    pub label: String,
    /// What the client saw when it called.
    pub mode: FrontMode,
    /// What waits for a user; nothing when the server was asked.
    pub waiting: Option<WaitingCall>,
    /// How often the server was asked.
    pub attempts: u32,
    /// What was repaired in the arguments.
    pub repairs: Vec<ArgumentRepair>,
    /// The key under which the result is kept; nothing where it is not to be.
    pub cache_key: Option<String>,
    /// Whether to call again does no harm.
    pub is_idempotent: bool,
}

/// A call that waits for a user.
#[derive(Debug, Clone)]
pub(crate) struct WaitingCall {
    pub arguments: JsonMap,
    pub meta: JsonMap,
    pub limits: ClientLimits,
    /// Digest of the tool that the user was asked about.
    pub digest: String,
}

/// The calls that are not done, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenCalls {
    by_number: SortedMap<u64, OpenCall>,
    last: u64,
}

impl OpenCalls {
    /// Keeps a call and returns its number; nothing when too many are open.
    pub fn add(&mut self, call: OpenCall) -> Option<u64> {
        if self.by_number.len() >= limits::MAX_OPEN_CALLS {
            return None;
        }
        self.last += 1;
        self.by_number.insert(self.last, call);
        Some(self.last)
    }

    /// Keeps a call again under its number.
    pub fn put_back(&mut self, number: u64, call: OpenCall) {
        self.by_number.insert(number, call);
    }

    /// Returns a call that was sent to its server.
    pub fn sent(&self, number: u64) -> Result<&OpenCall> {
        let call = self.by_number.get(&number).ok_or_else(|| not_open(number))?;
        match call.waiting {
            None => Ok(call),
            Some(_) => {
                Err(Error::new(ErrorCode::NotFound, format!("the call {number} waits for its user")).at("/call"))
            }
        }
    }

    /// Takes a call out that was sent to its server.
    pub fn take_sent(&mut self, number: u64) -> Result<OpenCall> {
        self.sent(number)?;
        self.by_number.remove(&number).ok_or_else(|| not_open(number))
    }

    /// Takes a call out that waits for its user.
    pub fn take_waiting(&mut self, number: u64) -> Result<(OpenCall, WaitingCall)> {
        let call = self.by_number.get_mut(&number).ok_or_else(|| not_open(number))?;
        let Some(waiting) = call.waiting.take() else {
            let message = format!("the call {number} was sent to its server");
            return Err(Error::new(ErrorCode::NotFound, message).at("/call"));
        };
        let call = self.by_number.remove(&number).ok_or_else(|| not_open(number))?;
        Ok((call, waiting))
    }

    /// Drops a call.
    pub fn drop(&mut self, number: u64) {
        self.by_number.remove(&number);
    }

    /// Drops the calls of a client.
    pub fn end_session(&mut self, session: &str) {
        let of_session = self.by_number.iter().filter(|(_, call)| call.session == session).map(|(number, _)| *number);
        for number in of_session.collect::<Vec<_>>() {
            self.by_number.remove(&number);
        }
    }

    /// Counts the calls.
    pub fn len(&self) -> usize {
        self.by_number.len()
    }
}

fn not_open(number: u64) -> Error {
    Error::new(ErrorCode::NotFound, format!("no call {number} is open")).at("/call")
}

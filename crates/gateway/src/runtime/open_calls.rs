//! Calls that wait for a server or for a user.

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::JsonMap;

use super::sessions::ToolRef;
use crate::front::FrontMode;

/// A call that is not done.
#[derive(Debug, Clone)]
pub(crate) struct OpenCall {
    pub session: String,
    pub caller: Option<String>,
    pub tool: ToolRef,
    /// What the client saw when it called.
    pub mode: FrontMode,
    /// What waits for a user; nothing when the server was asked.
    pub waiting: Option<WaitingCall>,
    /// How often the server was asked.
    pub attempts: u32,
}

/// A call that waits for a user.
#[derive(Debug, Clone)]
pub(crate) struct WaitingCall {
    pub arguments: JsonMap,
    pub meta: JsonMap,
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

    /// Takes a call out that the server was asked, or that waits for a user.
    pub fn take(&mut self, number: u64, is_waiting: bool) -> Result<OpenCall> {
        let known = self.by_number.get(&number);
        let message = match known {
            None => format!("no call {number} is open"),
            Some(call) if call.waiting.is_some() != is_waiting => {
                let state = if is_waiting { "was sent to its server" } else { "waits for its user" };
                format!("the call {number} {state}")
            }
            Some(_) => match self.by_number.remove(&number) {
                Some(call) => return Ok(call),
                None => String::new(),
            },
        };
        Err(Error::new(ErrorCode::NotFound, message).at("/call"))
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

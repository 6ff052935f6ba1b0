//! What is known of each client.

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use serde_json::Value;

use crate::cache::{CachePolicy, ResultCache};
use crate::front::FrontMode;
use crate::rate::RateState;
use crate::servers::ToolRef;

/// States of the names of which a client's are kept.
const MAX_SEEN_NAMES: usize = 32;

/// What is known of one client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Session {
    /// When it was last heard of, counted in calls of all.
    tick: u64,
    /// The states of the names that it saw, the latest last.
    seen_names: Vec<u64>,
    /// Which tools it saw last, where it searches by itself.
    pub mode: Option<FrontMode>,
    /// Tools it used last, the latest last.
    used: Vec<ToolRef>,
    /// The tool of each handle.
    owners: SortedMap<String, (u64, ToolRef)>,
    /// Counts the handles, to know the oldest.
    handles: u64,
    /// How often it called.
    pub rate: RateState,
    /// Results of tools that only read.
    cache: Option<ResultCache>,
}

impl Session {
    /// Notes that a tool was used; tells whether the list of those used last has another tool in it now.
    pub fn note_use(&mut self, tool: &ToolRef, most: usize) -> bool {
        if most == 0 {
            return false;
        }
        let known = self.used.iter().position(|used| used == tool);
        if let Some(place) = known {
            self.used.remove(place);
        } else if self.used.len() == most {
            self.used.remove(0);
        }
        self.used.push(tool.clone());
        known.is_none()
    }

    /// Notes that it saw the names of a state.
    pub fn saw_names(&mut self, epoch: u64) {
        if self.seen_names.last() == Some(&epoch) {
            return;
        }
        if self.seen_names.len() == MAX_SEEN_NAMES {
            self.seen_names.remove(0);
        }
        self.seen_names.push(epoch);
    }

    /// The states of the names that it saw, the latest last.
    pub fn seen_names(&self) -> &[u64] {
        &self.seen_names
    }

    /// Tools it used last, the latest last.
    pub fn used(&self) -> &[ToolRef] {
        &self.used
    }

    /// Notes whose result a handle is; the oldest is forgotten when there are too many.
    pub fn own(&mut self, handle: &str, tool: &ToolRef) {
        self.handles += 1;
        self.owners.insert(handle.to_owned(), (self.handles, tool.clone()));
        if self.owners.len() > limits::MAX_SESSION_HANDLES {
            let oldest = self.owners.iter().min_by_key(|(_, (number, _))| *number).map(|(handle, _)| handle.clone());
            self.owners.remove(oldest.as_deref().unwrap_or_default());
        }
    }

    /// Returns a result that is kept.
    pub fn cached(&mut self, key: &str, now_ms: u64) -> Option<Value> {
        self.cache.as_mut()?.get(key, now_ms as f64).cloned()
    }

    /// Keeps a result.
    pub fn keep(&mut self, policy: &CachePolicy, key: &str, reply: &Value, now_ms: u64) {
        let cache = self.cache.get_or_insert_with(|| ResultCache::new(policy.clone()));
        cache.insert(key, reply.clone(), reply.to_string().len(), now_ms as f64);
    }

    /// Returns the handles whose results are known.
    pub fn handles(&self) -> impl Iterator<Item = &String> {
        self.owners.keys()
    }

    /// Returns whose result a handle is.
    pub fn owner(&self, handle: &str) -> Option<&ToolRef> {
        self.owners.get(handle).map(|(_, tool)| tool)
    }
}

/// The clients, each by the name that the host gave it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sessions {
    by_name: SortedMap<String, Session>,
    tick: u64,
}

impl Sessions {
    /// Returns a session, which begins when its name is new; the one that was idle longest ends where there are too many.
    /// Also returns the name of the one that ended.
    pub fn touch(&mut self, name: &str) -> (&mut Session, Option<String>) {
        self.tick += 1;
        let mut ended = None;
        if !self.by_name.contains_key(name) && self.by_name.len() >= limits::MAX_GATEWAY_SESSIONS {
            let idle = self.by_name.iter().min_by_key(|(_, session)| session.tick).map(|(name, _)| name.clone());
            ended = idle.inspect(|name| {
                self.by_name.remove(name.as_str());
            });
        }
        let session = self.by_name.get_or_insert(&name.to_owned(), Session::default());
        session.tick = self.tick;
        (session, ended)
    }

    /// Forgets all results that are kept, and what was browsed: tools have changed.
    pub fn tools_changed(&mut self) {
        for name in self.by_name.keys().cloned().collect::<Vec<_>>() {
            if let Some(session) = self.by_name.get_mut(&name) {
                session.cache = None;
            }
        }
    }

    /// Drops kept results until all sessions together have few enough, those of sessions that were idle longest first.
    pub fn bound_kept(&mut self) {
        let bytes = |session: &Session| session.cache.as_ref().map_or(0, ResultCache::bytes);
        let mut all: u64 = self.by_name.values().map(bytes).sum();
        while all > limits::MAX_KEPT_RESULTS {
            let with = self.by_name.iter().filter(|(_, session)| bytes(session) > 0);
            let Some(idle) = with.min_by_key(|(_, session)| session.tick).map(|(name, _)| name.clone()) else { break };
            let Some(session) = self.by_name.get_mut(&idle) else { break };
            all -= bytes(session);
            session.cache = None;
        }
    }

    /// Returns a session that is known.
    pub fn get(&self, name: &str) -> Option<&Session> {
        self.by_name.get(name)
    }

    /// Ends a session.
    pub fn end(&mut self, name: &str) {
        self.by_name.remove(name);
    }

    /// Counts the sessions.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str) -> ToolRef {
        ToolRef { server: 0, name: name.into() }
    }

    #[test]
    fn the_session_that_was_idle_longest_ends() {
        let mut sessions = Sessions::default();
        for number in 0..limits::MAX_GATEWAY_SESSIONS {
            assert_eq!(sessions.touch(&format!("s{number}")).1, None);
        }
        sessions.touch("s0");
        assert_eq!(sessions.touch("new").1.as_deref(), Some("s1"));
        assert_eq!(sessions.len(), limits::MAX_GATEWAY_SESSIONS);
        assert!(sessions.get("s0").is_some() && sessions.get("s1").is_none());
    }

    #[test]
    fn what_was_used_last_is_bounded() {
        let mut session = Session::default();
        let names = |session: &Session| session.used().iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
        assert!(session.note_use(&tool("a"), 2) && session.note_use(&tool("b"), 2));
        assert!(!session.note_use(&tool("a"), 2));
        assert!(session.note_use(&tool("c"), 2));
        assert_eq!(names(&session), ["a", "c"]);
        assert!(!session.note_use(&tool("d"), 0));
    }

    #[test]
    fn the_oldest_handle_is_forgotten() {
        let mut session = Session::default();
        for number in 0..=limits::MAX_SESSION_HANDLES {
            session.own(&format!("h{number}"), &tool("a"));
        }
        assert!(session.owner("h0").is_none() && session.owner("h1").is_some());
    }
}

//! What names meant to clients that have not listed since they changed.

use contextweaver_base::limits;

use super::names::{NameTable, ToolPlace};
use crate::servers::Server;
use crate::servers::ToolRef;

/// A name that meant something else until the names changed.
#[derive(Debug, Clone)]
struct FormerName {
    name: String,
    tool: ToolRef,
    /// The states of the names in which it meant this tool: from, and the one after the last.
    from: u64,
    until: u64,
}

/// The names of today, and what they meant before.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameHistory {
    pub table: NameTable,
    /// Counts the states of the names.
    pub epoch: u64,
    /// Since when each name of today means what it means, by name.
    since: contextweaver_base::order::SortedMap<String, (u64, ToolRef)>,
    former: Vec<FormerName>,
}

/// What a name means to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// This tool.
    Tool(ToolPlace),
    /// A tool that is no longer listed; another one may have its name now.
    Gone,
    /// Nothing.
    Unknown,
}

impl NameHistory {
    /// Gives the tools of today their names.
    pub fn renew(&mut self, servers: &[Server], own: &[&str]) {
        let listed: Vec<(&str, Vec<&str>)> =
            servers.iter().map(|server| (server.name.as_str(), server.wanted_names())).collect();
        let table = NameTable::of(&listed, own);
        let mut since = contextweaver_base::order::SortedMap::new();
        let mut has_changed = false;
        let next = self.epoch + 1;
        for (name, place) in table.iter() {
            let tool = servers[place.server].tool_ref(place);
            let from = match self.since.get(name) {
                Some((from, known)) if *known == tool => *from,
                _ => {
                    has_changed = true;
                    next
                }
            };
            since.insert(name.to_owned(), (from, tool));
        }
        for (name, (from, tool)) in self.since.iter() {
            if since.get(name).is_none_or(|(_, now)| now != tool) {
                has_changed = true;
                let former = FormerName { name: name.clone(), tool: tool.clone(), from: *from, until: next };
                self.former.push(former);
            }
        }
        let beyond = self.former.len().saturating_sub(limits::MAX_NAME_CHANGES);
        self.former.drain(..beyond);
        self.table = table;
        self.since = since;
        self.epoch += u64::from(has_changed);
    }

    /// Returns the tool that a name means to a client that saw the names of these states, the latest last.
    ///
    /// A name never reaches another tool than the one it was shown for last; one that means nothing any more goes on meaning what
    /// it did.
    pub fn resolve(&self, name: &str, seen: &[u64], servers: &[Server]) -> Resolved {
        let all: Vec<&FormerName> = self.former.iter().rev().filter(|former| former.name == name).collect();
        let known = |epoch: &u64| all.iter().copied().find(|former| (former.from..former.until).contains(epoch));
        let meant = |former: &FormerName| {
            let place = servers.get(former.tool.server).and_then(|server| server.find(&former.tool.name));
            place.map_or(Resolved::Gone, |tool| Resolved::Tool(ToolPlace { server: former.tool.server, tool }))
        };
        if let Some(former) = seen.last().filter(|epoch| **epoch < self.epoch).and_then(known) {
            return meant(former);
        }
        if let Some(now) = self.table.shown(name).or_else(|| self.table.qualified(name)) {
            return Resolved::Tool(now);
        }
        seen.iter().rev().find_map(known).map_or(Resolved::Unknown, meant)
    }
}

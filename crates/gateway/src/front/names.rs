//! Names by which clients know tools: those of the servers where they are unambiguous, with the server before them elsewhere.

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode::prefix;

/// What stands between the name of a server and that of its tool.
const JOINT: &str = "__";

/// A tool by its place: of its server among the servers, and among the tools of that server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ToolPlace {
    pub server: usize,
    pub tool: usize,
}

/// Tells whether a name has only characters that MCP allows, and no more than `chars`.
pub(crate) fn is_legal_name(name: &str, chars: usize) -> bool {
    !name.is_empty() && name.len() <= chars && name.bytes().all(is_legal)
}

const fn is_legal(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Makes a name of characters that MCP allows; what looks like a credential is masked.
pub(crate) fn legal_name(name: &str, chars: usize) -> String {
    let masked = mask_secrets(name);
    let legal = |ch: char| if ch.is_ascii() && is_legal(ch as u8) { ch } else { '_' };
    let name: String = masked.chars().take(chars).map(legal).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}

/// The names of all tools of all servers, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct NameTable {
    shown: SortedMap<String, ToolPlace>,
    /// The name of each tool, by server and place.
    names: Vec<Vec<String>>,
    /// Names with the server before them, of tools that are shown under their own.
    qualified: SortedMap<String, ToolPlace>,
}

impl NameTable {
    /// Does the same for what may have any name, as prompts do, and has none of the gateway's beside it.
    pub fn of_any(servers: &[(&str, Vec<&str>)]) -> Self {
        Self::with(servers, &[], &|name| name.to_owned())
    }

    /// Gives every tool a name. `servers` are names of servers with the names of their tools; `own` are the gateway's.
    ///
    /// What a tool is called depends on the servers and their tools alone, not on the order in which they were listed.
    pub fn of(servers: &[(&str, Vec<&str>)], own: &[&str]) -> Self {
        Self::with(servers, own, &|name| legal_name(name, limits::MCP_NAME_CHARS))
    }

    fn with(servers: &[(&str, Vec<&str>)], own: &[&str], legal: &dyn Fn(&str) -> String) -> Self {
        let mut plain: Vec<Vec<String>> = Vec::new();
        let mut counts: SortedMap<String, usize> = SortedMap::new();
        for (_, tools) in servers {
            let names: Vec<String> = tools.iter().map(|name| legal(name)).collect();
            for name in &names {
                *counts.get_or_insert(name, 0) += 1;
            }
            plain.push(names);
        }
        let mut table =
            Self { names: plain.iter().map(|names| vec![String::new(); names.len()]).collect(), ..Self::default() };
        let place = |server, tool| ToolPlace { server, tool };
        // Those that are alone first: their names are the servers' and are not to be taken by a name made here.
        for (server, names) in plain.iter().enumerate() {
            for (tool, name) in names.iter().enumerate() {
                if counts.get(name) == Some(&1) && !own.contains(&name.as_str()) {
                    table.give(place(server, tool), name.clone());
                }
            }
        }
        for (server, names) in plain.iter().enumerate() {
            for (tool, name) in names.iter().enumerate() {
                let at = place(server, tool);
                let wanted = qualified(servers[server].0, name);
                if table.names[server][tool].is_empty() {
                    let name = table.free(&wanted, own);
                    table.give(at, name);
                } else if !table.qualified.contains_key(&wanted) {
                    table.qualified.insert(wanted, at);
                }
            }
        }
        table
    }

    fn give(&mut self, place: ToolPlace, name: String) {
        self.names[place.server][place.tool].clone_from(&name);
        self.shown.insert(name, place);
    }

    /// Returns the name, or the first of its variations that nothing has.
    fn free(&self, wanted: &str, own: &[&str]) -> String {
        let is_free = |name: &str| !self.shown.contains_key(name) && !own.contains(&name);
        let variations = (2..).map(|number: u32| {
            let end = format!("_{number}");
            let kept = prefix(wanted, limits::MCP_NAME_CHARS - end.len());
            format!("{kept}{end}")
        });
        std::iter::once(wanted.to_owned()).chain(variations).find(|name| is_free(name)).unwrap_or_default()
    }

    /// Returns what a tool is called.
    pub fn name(&self, place: ToolPlace) -> &str {
        self.names.get(place.server).and_then(|names| names.get(place.tool)).map_or("", String::as_str)
    }

    /// Returns the tool that is shown under a name.
    pub fn shown(&self, name: &str) -> Option<ToolPlace> {
        self.shown.get(name).copied()
    }

    /// Returns the tool with a name of the form `<server>__<tool>`, which no other tool is shown under.
    pub fn qualified(&self, name: &str) -> Option<ToolPlace> {
        self.qualified.get(name).copied()
    }

    /// Returns all names with their tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, ToolPlace)> {
        self.shown.iter().map(|(name, place)| (name.as_str(), *place))
    }
}

/// Puts the server before the name of its tool, within the length that MCP allows.
fn qualified(server: &str, name: &str) -> String {
    prefix(&[server, JOINT, name].concat(), limits::MCP_NAME_CHARS).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(servers: &[(&str, Vec<&str>)], own: &[&str]) -> Vec<Vec<String>> {
        NameTable::of(servers, own).names
    }

    #[test]
    fn only_what_collides_is_prefixed() {
        let servers = [("a", vec!["read", "drilldown", "x y"]), ("b", vec!["read", "write", "a__read", "x_y"])];
        assert_eq!(
            names(&servers, &["drilldown"]),
            [vec!["a__read_2", "a__drilldown", "a__x_y"], vec!["b__read", "write", "a__read", "b__x_y"]]
        );
        let table = NameTable::of(&servers, &["drilldown"]);
        let place = |server, tool| Some(ToolPlace { server, tool });
        assert_eq!(table.qualified("b__write"), place(1, 1));
        assert_eq!(table.shown("a__read"), place(1, 2));
        assert_eq!(table.shown("read"), None);
    }

    #[test]
    fn names_fit_the_protocol() {
        let long = "n".repeat(200);
        let servers = [("s", vec![long.as_str(), &long[..150], "", "日本", "AKIAABCDEFGHIJKLMNOP"])];
        let names = names(&servers, &[]).remove(0);
        assert!(names.iter().all(|name| is_legal_name(name, limits::MCP_NAME_CHARS)), "{names:?}");
        assert_eq!(names[2..4], ["tool", "__"]);
        assert!(!names[4].contains("AKIA"));
        assert_ne!(names[0], names[1]);
    }
}

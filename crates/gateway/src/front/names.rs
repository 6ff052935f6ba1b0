//! Names by which clients know tools: those of the servers where they are unambiguous, with the server before them elsewhere.

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_text::hash::sha256_hex;
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode::prefix;

/// What stands between the name of a server and that of its tool. A name that has it is never shown as its server wrote it: it
/// could be the name of another server's tool.
pub(crate) const JOINT: &str = "__";
/// Characters of a name that is made here: more of them model providers refuse.
const MADE_CHARS: usize = 64;
/// Characters of the digest that tells names apart.
const DIGEST_CHARS: usize = 8;

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
    /// The same with the server before them, also of those that are shown without.
    with_server: Vec<Vec<String>>,
    /// Names with the server before them, of tools that are shown under their own.
    qualified: SortedMap<String, ToolPlace>,
}

/// A tool with the name that is wanted for it.
struct Wanted {
    place: ToolPlace,
    /// Its name in legal characters.
    plain: String,
    /// With its server before it.
    name: String,
    /// Whether `name` says exactly what it is: nothing was replaced, and no part of it reads like a server.
    is_exact: bool,
    /// The name in place of `name` where that is too long, or another's.
    distinct: String,
}

impl Wanted {
    fn new(place: ToolPlace, server: &str, given: &str, legal: &dyn Fn(&str) -> String) -> Self {
        let plain = legal(given);
        let name = [server, JOINT, &plain].concat();
        let digest = sha256_hex(&format!("{server}\0{given}"));
        let kept = prefix(&name, MADE_CHARS - DIGEST_CHARS - 1);
        let distinct = format!("{kept}_{}", prefix(&digest, DIGEST_CHARS));
        let is_exact = plain == given && !given.contains(JOINT) && !given.starts_with('_');
        Self { place, plain, name, is_exact, distinct }
    }
}

impl NameTable {
    /// Does the same for what may have any name, as prompts do, and has none of the gateway's beside it.
    pub fn of_any(servers: &[(&str, Vec<&str>)]) -> Self {
        Self::with(servers, &[], &|name| name.to_owned())
    }

    /// Gives every tool a name. `servers` are names of servers with the names of their tools; `own` are the gateway's.
    ///
    /// What a tool is called depends on the servers and their tools alone, not on the order in which they were listed. No server
    /// can give a tool of its own the name of another's, or one of the gateway's.
    pub fn of(servers: &[(&str, Vec<&str>)], own: &[&str]) -> Self {
        Self::with(servers, own, &|name| legal_name(name, limits::MCP_NAME_CHARS))
    }

    fn with(servers: &[(&str, Vec<&str>)], own: &[&str], legal: &dyn Fn(&str) -> String) -> Self {
        let mut all: Vec<Wanted> = Vec::new();
        // How often each name is wanted without and with its server.
        let (mut counts, mut wants) = (SortedMap::<String, usize>::new(), SortedMap::<String, usize>::new());
        for (server, (name, tools)) in servers.iter().enumerate() {
            for (tool, given) in tools.iter().enumerate() {
                let wanted = Wanted::new(ToolPlace { server, tool }, name, given, legal);
                *counts.get_or_insert(&wanted.plain, 0) += 1;
                *wants.get_or_insert(&wanted.name, 0) += 1;
                all.push(wanted);
            }
        }
        let empty = || servers.iter().map(|(_, tools)| vec![String::new(); tools.len()]).collect::<Vec<_>>();
        let mut table = Self { names: empty(), with_server: empty(), ..Self::default() };
        // Those that say exactly what they are come first: nothing else can have their names.
        let is_first = |wanted: &Wanted| wanted.is_exact && wanted.name.len() <= MADE_CHARS;
        for wanted in all.iter().filter(|wanted| is_first(wanted)).chain(all.iter().filter(|wanted| !is_first(wanted)))
        {
            let at = wanted.place;
            let is_own = |name: &str| own.contains(&name);
            let fits = wanted.name.len() <= MADE_CHARS && (wanted.is_exact || wants.get(&wanted.name) == Some(&1));
            let name = table.free(if fits { &wanted.name } else { &wanted.distinct }, &wanted.distinct, &is_own);
            table.with_server[at.server][at.tool].clone_from(&name);
            let is_alone = counts.get(&wanted.plain) == Some(&1);
            if is_alone && !wanted.plain.contains(JOINT) && !is_own(&wanted.plain) {
                table.qualified.insert(name, at);
                table.give(at, wanted.plain.clone());
            } else {
                table.give(at, name);
            }
        }
        table
    }

    fn give(&mut self, place: ToolPlace, name: String) {
        self.names[place.server][place.tool].clone_from(&name);
        self.shown.insert(name, place);
    }

    /// Returns the name, the other one where it is taken, or the first variation of that which nothing has.
    fn free(&self, wanted: &str, distinct: &str, is_own: &dyn Fn(&str) -> bool) -> String {
        let is_free =
            |name: &str| !self.shown.contains_key(name) && !self.qualified.contains_key(name) && !is_own(name);
        let variations = (2..).map(|number: u32| {
            let end = format!("_{number}");
            let kept = prefix(distinct, MADE_CHARS - end.len());
            format!("{kept}{end}")
        });
        let wanted = [wanted, distinct].map(str::to_owned).into_iter();
        wanted.chain(variations).find(|name| is_free(name)).unwrap_or_default()
    }

    /// Returns what a tool is called.
    pub fn name(&self, place: ToolPlace) -> &str {
        self.names.get(place.server).and_then(|names| names.get(place.tool)).map_or("", String::as_str)
    }

    /// Returns what a tool is called with its server before it.
    pub fn with_server(&self, place: ToolPlace) -> &str {
        self.with_server.get(place.server).and_then(|names| names.get(place.tool)).map_or("", String::as_str)
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
            [vec!["a__read", "a__drilldown", "a__x_y"], vec!["b__read", "write", "b__a__read", "b__x_y"]]
        );
        let table = NameTable::of(&servers, &["drilldown"]);
        let place = |server, tool| Some(ToolPlace { server, tool });
        assert_eq!(table.qualified("b__write"), place(1, 1));
        assert_eq!(table.shown("a__read"), place(0, 0));
        assert_eq!(table.shown("read"), None);
    }

    #[test]
    fn no_server_takes_a_name_that_another_would_get() {
        // Each name is tried by a server before and one behind that whose name it would be.
        for stolen in [
            "plain__delete_all",
            "plain\u{200b}\u{200b}delete_all",
            "plain__",
            "plain_\u{e9}delete_all",
            "plain _delete_all",
        ] {
            for place in [0, 1] {
                let mut servers = vec![("plain", vec!["delete_all"]), ("other", vec!["delete_all"])];
                servers.insert(place, ("evil", vec![stolen, "delete_all"]));
                let table = NameTable::of(&servers, &[]);
                let honest = table.shown("plain__delete_all").or_else(|| table.qualified("plain__delete_all"));
                assert_eq!(honest.map(|found| servers[found.server].0), Some("plain"), "{stolen}");
                assert!(
                    table.names[place].iter().all(|name| name.starts_with("evil__")),
                    "{stolen}: {:?}",
                    table.names
                );
            }
        }
        // A server that is called like another with a part of the name of a tool.
        let servers = [("a", vec!["b__c", "_c", "b"]), ("a__b", vec!["c"]), ("a_", vec!["c"]), ("c", vec!["b", "c"])];
        let table = NameTable::of(&servers, &[]);
        assert_eq!(
            (table.name(ToolPlace { server: 1, tool: 0 }), table.name(ToolPlace { server: 2, tool: 0 })),
            ("a__b__c", "a___c")
        );
        assert!(table.names[0][0].starts_with("a__b__c_"));
        assert_eq!(table.names[0][1], "_c");
    }

    #[test]
    fn names_fit_the_protocol_and_providers() {
        let long = "n".repeat(200);
        let servers = [("s", vec![long.as_str(), &long[..150], "", "日本", "AKIAABCDEFGHIJKLMNOP"])];
        let found = names(&servers, &[]).remove(0);
        assert!(found.iter().all(|name| is_legal_name(name, limits::MCP_NAME_CHARS)), "{found:?}");
        assert_eq!(found[2], "tool");
        assert!(!found[4].contains("AKIA"));
        assert_ne!(found[0], found[1]);
        // What is made here is short, and the same whoever else is there and in whatever order.
        let server = "server-with-a-name-of-some-length-and-more";
        let tools = vec!["search_repositories_by_topic_and_language_1", "search_repositories_by_topic_and_language_2"];
        let two = [(server, tools.clone()), ("b", tools.clone())];
        let all = names(&two, &[]);
        assert!(all.iter().flatten().all(|name| is_legal_name(name, MADE_CHARS)), "{all:?}");
        let mut seen: Vec<&String> = all.iter().flatten().collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 4);
        let turned = [("b", vec![tools[1], tools[0]]), ("c", vec![tools[1]]), (server, vec![tools[1], tools[0]])];
        let again = names(&turned, &[]);
        assert_eq!([&again[2][1], &again[2][0]], [&all[0][0], &all[0][1]]);
    }
}

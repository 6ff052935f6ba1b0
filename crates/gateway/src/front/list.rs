//! The answer to `tools/list`.

use serde_json::{Value, json};

use contextweaver_base::order::sort_by;
use contextweaver_model::json::JsonMap;

use super::mode::{FrontMode, ToolList};
use super::names::ToolPlace;
use super::{mark_unavailable, own, safe_line};
use crate::runtime::{ClientTraits, Gateway};
use crate::servers::{AppUse, ServerTool, ToolRef};

/// Under this key of `_meta` stands what a client's own search of tools goes by beside name and description.
const SEARCH_HINT: &str = "anthropic/searchHint";
/// And under this one that the definition of a tool is not to be deferred.
const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

impl Gateway {
    /// Names of the gateway's own tools in any mode, which no tool of a server is shown under.
    pub(crate) fn own_names(&self) -> Vec<String> {
        self.options.names.all().map(str::to_owned).to_vec()
    }

    /// Returns the tools that a client sees; without a session those of one that has used nothing. Tools that views call are
    /// for clients that show views.
    pub(crate) fn front(&mut self, session: Option<&str>, caller: Option<&str>, client: &ClientTraits) -> ToolList {
        let mode = self.mode_for(client.name.as_deref());
        let has_views = client.has_views;
        let mut tools = match mode {
            FrontMode::Firewall => {
                let mut listed = self.listed(caller);
                listed.retain(|place| has_views || !self.is_for_views(*place));
                let mut tools: Vec<JsonMap> = listed.into_iter().map(|place| self.tool_as_shown(place)).collect();
                tools.push(own::drilldown(&self.options.names.drilldown));
                tools.push(own::recall(&self.options.names));
                tools
            }
            FrontMode::Search => {
                let listed = self.listed(caller);
                let servers = self.servers.iter().filter(|server| !server.tools.is_empty()).count();
                let mut tools = own::search_tools(&self.options.names, listed.len(), servers).to_vec();
                let at_hand = self.at_hand(session, &listed, has_views);
                tools.extend(at_hand.into_iter().map(|place| self.tool_as_shown(place)));
                tools
            }
        };
        if client.name.as_deref().is_some_and(|name| self.searches_itself(name)) {
            self.give_hints(&mut tools);
        }
        ToolList { mode, tools }
    }

    /// Adds what the search of clients goes by that search tools by themselves: of which server a tool is, which its name need not
    /// say, and which definitions stay at hand. What the server says goes before it.
    fn give_hints(&self, tools: &mut [JsonMap]) {
        let own = self.own_names();
        for shown in tools {
            let name = shown.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            let place = self.names.table.shown(&name);
            let hint = place.and_then(|place| self.search_hint(place));
            let is_at_hand = own.contains(&name) || place.is_some_and(|place| self.is_pinned_place(place));
            let meta = shown.entry("_meta").or_insert_with(|| json!({}));
            let Some(meta) = meta.as_object_mut() else { continue };
            if let Some(hint) = hint.filter(|_| !meta.contains_key(SEARCH_HINT)) {
                meta.insert(SEARCH_HINT.to_owned(), hint.into());
            }
            if is_at_hand {
                meta.entry(ALWAYS_LOAD).or_insert(Value::Bool(true));
            }
        }
    }

    fn search_hint(&self, place: ToolPlace) -> Option<String> {
        let (server, tool) = self.tool(place)?;
        let title = tool.shown.get("title").and_then(Value::as_str).unwrap_or_default();
        Some([server.name.as_str(), " ", &safe_line(title)].concat().trim_end().to_owned())
    }

    /// The tools that search mode lists: those that are pinned in the order of the servers, then those used last by name,
    /// so that the list stays the same while they are used again.
    fn at_hand(&self, session: Option<&str>, listed: &[ToolPlace], has_views: bool) -> Vec<ToolPlace> {
        let mut views = 0;
        let mut at_hand = listed.to_vec();
        at_hand.retain(|place| match self.tool(*place).and_then(|(_, tool)| tool.app_use()) {
            // No model pays for these.
            Some(AppUse::Only) => has_views,
            Some(AppUse::View) if has_views => {
                views += 1;
                views <= self.options.search_above || self.is_pinned_place(*place)
            }
            _ => self.is_pinned_place(*place),
        });
        let session = session.and_then(|session| self.sessions.get(session));
        let used = session.map_or(&[][..], crate::runtime::Session::used);
        let mut recent: Vec<ToolPlace> = used.iter().filter_map(|tool| self.place(tool)).collect();
        recent.retain(|place| listed.contains(place) && !at_hand.contains(place) && !self.is_for_views(*place));
        sort_by(&mut recent, |a, b| self.names.table.name(*a).cmp(self.names.table.name(*b)));
        at_hand.extend(recent);
        at_hand
    }

    /// Whether views alone call a tool.
    pub(crate) fn is_for_views(&self, place: ToolPlace) -> bool {
        self.tool(place).is_some_and(|(_, tool)| tool.app_use() == Some(AppUse::Only))
    }

    fn is_pinned_place(&self, place: ToolPlace) -> bool {
        let Some((server, tool)) = self.tool(place) else { return false };
        let qualified = format!("{}__{}", server.name, tool.name());
        let names = [self.names.table.name(place), tool.name(), qualified.as_str()];
        self.options.pinned_tools.iter().any(|glob| names.iter().any(|name| glob.matches(name)))
    }

    /// Whether search mode lists a tool for every client that may use it.
    pub(crate) fn is_pinned(&self, tool: &ToolRef) -> bool {
        self.place(tool).is_some_and(|place| self.is_pinned_place(place) || self.is_for_views(place))
    }

    /// The tools that are not in quarantine, in the order of the servers and of their lists.
    pub(crate) fn usable(&self) -> Vec<ToolPlace> {
        let all = self
            .servers
            .iter()
            .enumerate()
            .flat_map(|(server, listed)| listed.usable().map(move |(tool, _)| ToolPlace { server, tool }));
        all.collect()
    }

    /// Those of them that a client may see.
    pub(crate) fn listed(&self, caller: Option<&str>) -> Vec<ToolPlace> {
        self.usable().into_iter().filter(|place| self.may_see(*place, caller)).collect()
    }

    /// A tool as clients see it, under its name and with a mark where its server cannot be reached.
    ///
    /// Without `outputSchema`: clients refuse a result that lacks the structured content it promises, and a digest has none.
    pub(crate) fn tool_as_shown(&self, place: ToolPlace) -> JsonMap {
        let Some((server, tool)) = self.tool(place) else { return JsonMap::new() };
        let mut shown = JsonMap::new();
        shown.insert("name".to_owned(), self.names.table.name(place).into());
        let rest = tool.shown.iter().filter(|(key, _)| *key != "name" && *key != "outputSchema");
        shown.extend(rest.map(|(key, value)| (key.clone(), value.clone())));
        if let Some(address) = tool.view().and_then(|address| self.view_address(place.server, address)) {
            ServerTool::with_view(&mut shown, &address);
        }
        if server.is_unavailable() {
            mark_unavailable(&mut shown, &server.name);
        }
        shown
    }

    /// Names and digests of what clients see that have used nothing, to know whether that changed. Policies that speak of
    /// callers are taken to change with the tools.
    pub(crate) fn front_digests(&self) -> Vec<(String, String)> {
        let mode = self.mode();
        let mut digests: Vec<(String, String)> =
            self.own_names().into_iter().map(|name| (name, format!("{mode:?}"))).collect();
        let places = match mode {
            FrontMode::Search => {
                let usable = self.usable();
                // Their number is told in a description.
                digests.push((String::new(), usable.len().to_string()));
                let has_view = |place: ToolPlace| self.tool(place).is_some_and(|(_, tool)| tool.app_use().is_some());
                usable.into_iter().filter(|place| self.is_pinned_place(*place) || has_view(*place)).collect()
            }
            FrontMode::Firewall => self.usable(),
        };
        digests.extend(places.into_iter().filter_map(|place| {
            let (server, tool) = self.tool(place)?;
            let mark = if server.is_unavailable() { "!" } else { "" };
            Some((self.names.table.name(place).to_owned(), format!("{}{mark}", tool.digest)))
        }));
        digests
    }
}

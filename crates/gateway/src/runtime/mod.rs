//! The gateway: one object that stands between all clients and all servers.

mod call;
mod counters;
mod finish;
mod info;
mod listing;
mod open_calls;
mod request;
mod result_size;
mod searched;
mod sessions;
mod step;
mod unmatched;
mod validate;
mod view;

pub(crate) use call::CallContext;
pub use counters::CallCounts;
pub(crate) use counters::Counters;
pub use finish::{FailedCall, FinishedCall, FinishedReply, FinishedTask};
pub use info::{CallInfo, CallKind, NextStep};
pub use listing::{AcceptedTools, ListedServer, PinState};
pub use request::{CallRequest, MeasuredResult};
pub(crate) use result_size::ClientLimits;
pub(crate) use sessions::{Session, Sessions};
pub use step::{CallStep, ForwardedCall, RpcError};
pub use unmatched::UnmatchedRule;

use contextweaver_base::order::{SortedMap, WordSet};
use contextweaver_base::{Error, Result};
use contextweaver_model::json::JsonMap;
use contextweaver_routing::cards::ChoiceCard;
use contextweaver_routing::router::{RouteFilters, RouteOptions, RouteResult};

use crate::front::{FrontMode, NameHistory, ToolList, ToolPlace};
use crate::index::ToolIndex;
use crate::options::{GatewayMode, GatewayOptions, unknown_server};
use crate::policy::{PolicyAction, PolicySubject};
use crate::servers::{Server, ServerTool, ToolRef};
use open_calls::OpenCalls;

/// A gateway between MCP clients and servers.
///
/// It decides which tools each client sees, which calls it may make, and what happens to each call.
///
/// It has no transport, no clock and no randomness: a host provides them. The host passes in the tool lists of the
/// servers, asks what to do with each request of a client, and reports how the request ended.
///
/// ```
/// use contextweaver_gateway::{CallRequest, CallStep, FinishedCall, Gateway, GatewayOptions};
/// use serde_json::json;
///
/// let mut gateway = Gateway::new(GatewayOptions::from_value(json!({ "servers": [{ "name": "files" }] }))?);
/// let listing = json!({ "tools": [{ "name": "read", "inputSchema": { "type": "object", "required": ["path"] } }] });
/// gateway.set_listing("files", listing.to_string().as_bytes())?;
/// let names: Vec<_> = gateway.list_tools("client-1", None).tools.iter().map(|tool| tool["name"].clone()).collect();
/// assert_eq!(names, ["read", "drilldown", "recall"]);
///
/// let call = CallRequest { session: "client-1".into(), name: "read".into(), ..CallRequest::default() };
/// // The arguments are checked before the server is asked.
/// let CallStep::Reply(refusal) = gateway.begin_call(call.clone())?.step else { panic!() };
/// assert_eq!(refusal["isError"], true);
/// let call = CallRequest { arguments: json!({ "path": "a.txt" }), ..call };
/// let CallStep::Forward(forward) = gateway.begin_call(call)?.step else { panic!() };
/// assert_eq!((forward.server.as_str(), forward.tool.as_str()), ("files", "read"));
/// // The result goes to the client; what the gateway wants to know of it is how it went.
/// let finished = FinishedCall { call: forward.call, ..FinishedCall::default() };
/// assert!(!gateway.finish_call(finished)?.changed.tools);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug)]
pub struct Gateway {
    pub(crate) options: GatewayOptions,
    pub(crate) servers: Vec<Server>,
    pub(crate) names: NameHistory,
    /// Addresses of resources and views that several servers have, with the place of the first of these.
    pub(crate) shared_resources: SortedMap<String, usize>,
    pub(crate) sessions: Sessions,
    pub(crate) index: Option<ToolIndex>,
    pub(crate) stats: Counters,
    calls: OpenCalls,
}

/// What a client can do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClientTraits {
    /// The name that it says it has.
    pub name: Option<String>,
    /// Whether it shows views (MCP Apps).
    pub has_views: bool,
}

/// Tools that were chosen for a query.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RoutedTools {
    /// What the router found.
    pub result: RouteResult,
    /// A card of each tool, the best first; a tool that is too large for one has none.
    pub cards: Vec<ChoiceCard>,
}

impl Gateway {
    /// Makes a gateway that knows its servers' names, but none of their tools yet.
    pub fn new(options: GatewayOptions) -> Self {
        let servers = options.servers.iter().map(|server| Server::new(server, &options)).collect();
        let mut gateway = Self {
            options,
            servers,
            names: NameHistory::default(),
            shared_resources: SortedMap::new(),
            sessions: Sessions::default(),
            index: None,
            stats: Counters::default(),
            calls: OpenCalls::default(),
        };
        gateway.rename();
        gateway
    }

    /// Returns the mode in use, which decides which tools clients see. Resolves `auto` by the number of known tools.
    pub fn mode(&self) -> FrontMode {
        match self.options.mode {
            GatewayMode::Firewall => FrontMode::Firewall,
            GatewayMode::Search => FrontMode::Search,
            GatewayMode::Auto => {
                let known: usize = self.servers.iter().map(Server::known_tools).sum();
                if known > self.options.search_above { FrontMode::Search } else { FrontMode::Firewall }
            }
        }
    }

    /// Returns the tools to show to a client, in display order.
    ///
    /// These are the tools for a model, whoever its client is. For what some clients can do, see [`Self::list_tools_for`].
    pub fn list_tools(&mut self, session: &str, caller: Option<&str>) -> ToolList {
        self.list_tools_for(session, caller, &ClientTraits::default())
    }

    /// Returns the tools to show to a client. One that shows views (MCP Apps) also sees the tools that views call, and in search mode
    /// those that have a view, as it finds the view by the tool. One that searches tools by itself sees all of them where the mode
    /// is `auto`, with what its search goes by.
    pub fn list_tools_for(&mut self, session: &str, caller: Option<&str>, client: &ClientTraits) -> ToolList {
        self.saw_names(session);
        let mode = self.mode_for(client.name.as_deref());
        self.sessions.touch(session).0.mode = (mode != self.mode()).then_some(mode);
        self.front(Some(session), caller, client)
    }

    /// Returns which tools a client sees, by its name.
    pub(crate) fn mode_for(&self, client: Option<&str>) -> FrontMode {
        let is_auto = self.options.mode == GatewayMode::Auto;
        if is_auto && client.is_some_and(|name| self.searches_itself(name)) { FrontMode::Firewall } else { self.mode() }
    }

    /// Tells whether a client searches tools by itself and defers their definitions.
    pub(crate) fn searches_itself(&self, client: &str) -> bool {
        self.options.searching_clients.iter().any(|glob| glob.matches(client))
    }

    /// Returns which tools a session sees: those it saw last where it was shown all of them.
    pub(crate) fn mode_of(&self, session: &str) -> FrontMode {
        let seen = self.sessions.get(session).and_then(|session| session.mode);
        if seen == Some(FrontMode::Firewall) { FrontMode::Firewall } else { self.mode() }
    }

    /// Records that a client has seen the present tool names.
    pub(crate) fn saw_names(&mut self, session: &str) {
        self.heard_of(session);
        let epoch = self.names.epoch;
        self.sessions.touch(session).0.saw_names(epoch);
    }

    /// Records that a client is active. If this makes too many clients, the one idle longest is forgotten.
    pub(crate) fn heard_of(&mut self, session: &str) {
        if let Some(ended) = self.sessions.touch(session).1 {
            self.calls.end_session(&ended);
        }
    }

    /// Chooses tools for a query and makes a card of each.
    ///
    /// Only tools that a caller without a name may see are candidates, because the query comes from no client: the
    /// sidecar (a plain HTTP service) asks this way.
    ///
    /// # Errors
    /// `NO_CANDIDATES` when there is no tool, or the filters leave none.
    ///
    /// ```
    /// use contextweaver_gateway::{Gateway, GatewayOptions};
    /// use contextweaver_routing::RouteOptions;
    /// use serde_json::json;
    ///
    /// let mut gateway = Gateway::new(GatewayOptions::from_value(json!({ "servers": [{ "name": "files" }] }))?);
    /// gateway.set_listing("files", br#"{"tools":[{"name":"read","description":"Read a file."}]}"#)?;
    /// let routed = gateway.route("read a file", &RouteOptions::default())?;
    /// assert_eq!((routed.result.candidate_ids[0].as_str(), routed.cards[0].name.as_str()), ("read", "read"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn route(&mut self, query: &str, options: &RouteOptions) -> Result<RoutedTools> {
        let mut hidden = self.hidden(None, None).words().to_vec();
        hidden.extend_from_slice(options.filters.exclude_ids.words());
        let filters = RouteFilters { exclude_ids: WordSet::new(hidden), ..options.filters.clone() };
        let options = RouteOptions { filters, ..options.clone() };
        let router = self.index().router();
        let result = router.route(query, &options)?;
        let mut scores = SortedMap::new();
        scores.extend(result.candidate_ids.iter().cloned().zip(result.scores.iter().copied()));
        let found = result.candidate_ids.iter().filter_map(|id| router.catalog().find(id));
        let cards = crate::index::cards(found, &scores);
        Ok(RoutedTools { result, cards })
    }

    /// Adds a search to the statistics.
    pub(crate) fn searched_once(&mut self) {
        self.stats.searches += 1;
    }

    /// Returns how many calls wait for a server or for the user.
    pub(crate) fn open_calls(&self) -> usize {
        self.calls.len()
    }

    /// Forgets a client and its open calls.
    pub fn end_session(&mut self, session: &str) {
        self.sessions.end(session);
        self.calls.end_session(session);
    }

    /// Names all tools by the present lists of the servers, and drops the search index of the old names.
    pub(crate) fn rename(&mut self) {
        self.index = None;
        self.share_resources();
        let own = self.own_names();
        self.names.renew(&self.servers, &own.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Returns the index of the server with a name.
    pub(crate) fn server(&self, name: &str) -> Result<usize> {
        self.servers.iter().position(|server| server.name == name).ok_or_else(|| self.no_server(name))
    }

    fn no_server(&self, name: &str) -> Error {
        unknown_server(name, self.servers.iter().map(|server| server.name.as_str())).at("/server")
    }

    pub(crate) fn tool(&self, place: ToolPlace) -> Option<(&Server, &ServerTool)> {
        let server = self.servers.get(place.server)?;
        Some((server, server.tools.get(place.tool)?))
    }

    /// Returns the present place of a tool, or `None` if its server no longer lists it.
    pub(crate) fn place(&self, tool: &ToolRef) -> Option<ToolPlace> {
        let place = self.servers.get(tool.server)?.find(&tool.name)?;
        Some(ToolPlace { server: tool.server, tool: place })
    }

    /// Tells whether a client may see a tool: it is visible, not in quarantine, and no policy denies its calls.
    pub(crate) fn may_see(&self, place: ToolPlace, caller: Option<&str>) -> bool {
        let Some((_, tool)) = self.tool(place) else { return false };
        let is_visible = self.options.visibility.as_ref().is_none_or(|profile| profile.ruling(&tool.item).0);
        is_visible
            && tool.is_usable()
            && self.ruling(&self.subject(place, "tool_execute", caller)).action != PolicyAction::Deny
    }

    /// Returns the properties by which policies judge a call of a tool, or the reading of its result.
    ///
    /// For a tool that its server has not listed yet, only the names are known.
    pub(crate) fn subject<'a>(
        &'a self,
        place: ToolPlace,
        meta_tool: &'static str,
        caller: Option<&'a str>,
    ) -> PolicySubject<'a> {
        let (shown_name, qualified_name) = (self.names.table.name(place), self.names.table.with_server(place));
        let known = PolicySubject {
            meta_tool: Some(meta_tool),
            shown_name,
            qualified_name,
            caller,
            ..PolicySubject::default()
        };
        let Some(server) = self.servers.get(place.server) else { return known };
        let known = PolicySubject { server: &server.name, namespace: &server.name, ..known };
        let Some(tool) = server.tools.get(place.tool) else {
            return PolicySubject { tool_name: server.names().get(place.tool).copied().unwrap_or_default(), ..known };
        };
        PolicySubject {
            tool_id: &tool.item.id,
            namespace: &tool.item.namespace,
            tool_name: tool.name(),
            tags: &tool.item.tags,
            read_only: tool.hints.read_only_hint,
            destructive: tool.hints.destructive_hint,
            ..known
        }
    }

    /// Applies the gateway's policy and that of the tool's server, and returns the stricter ruling.
    pub(crate) fn ruling(&self, subject: &PolicySubject) -> crate::policy::PolicyRuling {
        let general = self.options.policy.evaluate(subject);
        let own = self.options.servers.iter().find(|server| server.name == subject.server);
        let Some(policy) = own.and_then(|server| server.policy.as_ref()) else { return general };
        let own = policy.evaluate(subject);
        let rank = |action| match action {
            PolicyAction::Allow => 0,
            PolicyAction::Ask => 1,
            PolicyAction::Deny => 2,
        };
        if rank(own.action) > rank(general.action) { own } else { general }
    }
}

/// Returns the entries of `_meta` whose keys are in `allowed`.
pub(crate) fn passing(mut meta: JsonMap, allowed: &[String]) -> JsonMap {
    meta.retain(|key, _| allowed.iter().any(|allowed| allowed == key));
    meta
}

//! The gateway as one object for all clients and servers.

mod call;
mod finish;
mod listing;
mod open_calls;
mod request;
mod sessions;
mod step;

pub use finish::{FailedCall, FinishedCall, FinishedReply};
pub use listing::{AcceptedTools, ListedServer, PinState};
pub use request::{CallRequest, MeasuredResult};
pub(crate) use sessions::{Session, Sessions, ToolRef};
pub use step::{CallStep, ForwardedCall, RpcError};

use contextweaver_base::{Error, Result};
use contextweaver_model::json::JsonMap;

use crate::front::{FrontMode, NameHistory, ToolList, ToolPlace};
use crate::options::{GatewayMode, GatewayOptions, unknown_server};
use crate::policy::{PolicyAction, PolicySubject};
use crate::servers::{Server, ServerTool};
use open_calls::OpenCalls;

/// A gateway in front of servers: what each client sees, what it may do, and how its calls go.
///
/// It knows no transport, no clock and no randomness. A host lists the servers' tools into it, asks it what to do with
/// each request of a client, and reports how that went.
///
/// ```
/// use contextweaver_gateway::{CallRequest, CallStep, FinishedCall, Gateway, GatewayOptions};
/// use serde_json::json;
///
/// let mut gateway = Gateway::new(GatewayOptions::from_value(json!({ "servers": [{ "name": "files" }] }))?);
/// let listing = json!({ "tools": [{ "name": "read", "inputSchema": { "type": "object", "required": ["path"] } }] });
/// gateway.set_listing("files", listing.to_string().as_bytes(), 0)?;
/// let names: Vec<_> = gateway.list_tools("client-1", None).tools.iter().map(|tool| tool["name"].clone()).collect();
/// assert_eq!(names, ["read", "drilldown"]);
///
/// let call = CallRequest { session: "client-1".into(), name: "read".into(), ..CallRequest::default() };
/// // The arguments are checked before the server is asked.
/// let CallStep::Reply(refusal) = gateway.begin_call(call.clone())? else { panic!() };
/// assert_eq!(refusal["isError"], true);
/// let call = CallRequest { arguments: json!({ "path": "a.txt" }), ..call };
/// let CallStep::Forward(forward) = gateway.begin_call(call)? else { panic!() };
/// assert_eq!((forward.server.as_str(), forward.tool.as_str()), ("files", "read"));
/// let reply = json!({ "content": [{ "type": "text", "text": "hello" }] });
/// let finished = FinishedCall { call: forward.call, reply: reply.clone(), ..FinishedCall::default() };
/// assert_eq!(gateway.finish_call(finished)?.reply, reply);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
#[derive(Debug)]
pub struct Gateway {
    pub(crate) options: GatewayOptions,
    pub(crate) servers: Vec<Server>,
    pub(crate) names: NameHistory,
    pub(crate) sessions: Sessions,
    calls: OpenCalls,
}

impl Gateway {
    /// Makes a gateway whose servers have listed nothing yet.
    pub fn new(options: GatewayOptions) -> Self {
        let servers = options.servers.iter().map(|server| Server::new(server, &options)).collect();
        let mut gateway = Self {
            options,
            servers,
            names: NameHistory::default(),
            sessions: Sessions::default(),
            calls: OpenCalls::default(),
        };
        gateway.rename();
        gateway
    }

    /// Returns which tools clients see now.
    pub fn mode(&self) -> FrontMode {
        match self.options.mode {
            GatewayMode::Firewall => FrontMode::Firewall,
            GatewayMode::Search => FrontMode::Search,
            GatewayMode::Reference => FrontMode::Reference,
            GatewayMode::Auto => {
                let usable: usize = self.servers.iter().map(|server| server.usable().count()).sum();
                if usable > self.options.search_above { FrontMode::Search } else { FrontMode::Firewall }
            }
        }
    }

    /// Returns the tools that a client sees, in the order in which they are to be shown.
    pub fn list_tools(&mut self, session: &str, caller: Option<&str>) -> ToolList {
        let epoch = self.names.epoch;
        self.sessions.touch(session).0.epoch = Some(epoch);
        self.front(Some(session), caller)
    }

    /// Forgets what is known of a client.
    pub fn end_session(&mut self, session: &str) {
        self.sessions.end(session);
        self.calls.end_session(session);
    }

    /// Gives the tools of today their names.
    pub(crate) fn rename(&mut self) {
        let own = self.own_names();
        self.names.renew(&self.servers, &own.iter().map(String::as_str).collect::<Vec<_>>());
    }

    /// Returns a server by its name.
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

    /// Returns the place of a tool as it is listed now.
    pub(crate) fn place(&self, tool: &ToolRef) -> Option<ToolPlace> {
        let place = self.servers.get(tool.server)?.find(&tool.name)?;
        Some(ToolPlace { server: tool.server, tool: place })
    }

    /// Tells whether a client may see a tool: it is not in quarantine, and no policy denies its calls.
    pub(crate) fn may_see(&self, place: ToolPlace, caller: Option<&str>) -> bool {
        let Some((server, tool)) = self.tool(place) else { return false };
        tool.is_usable() && self.ruling(&subject(server, tool, "tool_execute", caller)).action != PolicyAction::Deny
    }

    /// Asks the policies; the stricter one decides.
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

/// Returns what a policy is asked about a call of a tool, or about a result of it.
pub(crate) fn subject<'a>(
    server: &'a Server,
    tool: &'a ServerTool,
    meta_tool: &'static str,
    caller: Option<&'a str>,
) -> PolicySubject<'a> {
    PolicySubject {
        meta_tool: Some(meta_tool),
        tool_id: &tool.item.id,
        server: &server.name,
        namespace: &tool.item.namespace,
        tool_name: tool.name(),
        tags: &tool.item.tags,
        read_only: tool.hints.read_only_hint,
        destructive: tool.hints.destructive_hint,
        caller,
    }
}

/// Returns the entries of `_meta` that pass.
pub(crate) fn passing(mut meta: JsonMap, allowed: &[String]) -> JsonMap {
    meta.retain(|key, _| allowed.iter().any(|allowed| allowed == key));
    meta
}

//! Options of a gateway.

use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_base::order::SortedMap;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{Field, Fields, Record, as_string, pointer, there_are};
use contextweaver_text::quote::quote;

use crate::cache::CachePolicy;
use crate::front::{is_legal_name, legal_name};
use crate::glob::Glob;
use crate::overrides::{ToolOverrides, check_distinct, overrides, result_tokens};
use crate::policy::ToolPolicy;
use crate::preset::{Preset, PresetParts};
use crate::rate::RateLimits;
use crate::retry::RetryPolicy;
use crate::visibility::VisibilityProfile;

/// Tools up to which clients see all of them, unless the mode is given.
const SEARCH_ABOVE: u64 = 40;
/// Tools used last that are listed in search mode.
const RECENT_TOOLS: u64 = 5;
/// Most tools used last that may be listed.
const MAX_RECENT_TOOLS: u64 = 100;
/// Keys of `_meta` that a call carries on: the context of a trace, which reveals no identity.
const META_ALLOW: [&str; 3] = ["traceparent", "tracestate", "baggage"];
/// Clients that search tools by themselves. Claude Code: code.claude.com/docs/en/mcp, 2026-10.
const SEARCHING_CLIENTS: [&str; 1] = ["claude-code*"];
/// Characters of the name of a server: it stands before the names of its tools.
const SERVER_CHARS: usize = 64;

contextweaver_model::string_enum! {
    /// Which tools clients see.
    #[derive(Default)]
    GatewayMode, "mode" {
        /// Firewall up to a number of tools, search beyond.
        #[default]
        Auto = "auto",
        /// The tools of the servers as they are, and one that reads on in results.
        Firewall = "firewall",
        /// A tool that searches and one that calls, with the tools that are pinned or were used last.
        Search = "search",
    }
}

contextweaver_model::string_enum! {
    /// What happens to a tool of which something was found.
    #[derive(Default)]
    OnFinding, "consequence of a finding" {
        /// It is neither shown nor called until it is accepted.
        #[default]
        Quarantine = "quarantine",
        /// It is reported.
        Report = "report",
    }
}

/// Digests of the tools of one server by the name that the server has for them.
pub type ToolPins = SortedMap<String, String>;

/// What a server is called, and what holds for its tools alone.
#[derive(Debug, Clone, Default, PartialEq, Record)]
#[record(closed)]
pub struct ServerOptions {
    /// Its name: letters, digits, `_`, `.` and `-`, at most 64.
    #[record(with = server_name, required)]
    pub name: String,
    /// What may be called of it; the stricter of this and of the gateway's policy decides.
    pub policy: Option<ToolPolicy>,
    /// What happens when a tool is not as it was pinned, in place of what the gateway says.
    pub drift: Option<OnFinding>,
    /// What happens when a tool hides something, in place of what the gateway says.
    pub lint: Option<OnFinding>,
    /// Which of its tools there are for the gateway.
    #[record(with = globs)]
    pub include_tools: Option<Vec<Glob>>,
    /// And which of these there are not.
    #[record(with = globs)]
    pub exclude_tools: Option<Vec<Glob>>,
    /// What is said of its tools in its place, by their names there.
    #[record(with = overrides)]
    pub tools: ToolOverrides,
    /// Most tokens of its results that clients get.
    #[record(with = result_tokens)]
    pub result_tokens: Option<u64>,
}

/// Which tools of a server are offered: those that are included, all without a list, but for those that are excluded.
#[derive(Debug, Clone)]
pub struct OfferedTools {
    include: Option<Vec<Glob>>,
    exclude: Vec<Glob>,
}

impl OfferedTools {
    pub fn of(server: &ServerOptions) -> Self {
        Self { include: server.include_tools.clone(), exclude: server.exclude_tools.clone().unwrap_or_default() }
    }

    /// Tells whether a tool is offered, by the name that the server has for it.
    pub fn has(&self, name: &str) -> bool {
        let fits = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(name));
        self.include.as_deref().is_none_or(fits) && !fits(&self.exclude)
    }
}

fn globs(fields: &mut Fields, key: &'static str) -> Result<Option<Vec<Glob>>> {
    let is_given = fields.has(key);
    let globs = Glob::read_all(&fields.strings(key)?, &fields.at(key))?;
    Ok(is_given.then_some(globs))
}

/// Names of the gateway's own tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnNames {
    /// The tool that reads on in results.
    pub drilldown: String,
    /// The tool that finds again what earlier calls brought.
    pub recall: String,
    /// The tool that searches tools.
    pub search_tools: String,
    /// The tool that calls one.
    pub call_tool: String,
}

impl Default for OwnNames {
    fn default() -> Self {
        let [drilldown, recall, search_tools, call_tool] =
            ["drilldown", "recall", "search_tools", "call_tool"].map(str::to_owned);
        Self { drilldown, recall, search_tools, call_tool }
    }
}

impl OwnNames {
    /// Returns the names, in any mode.
    pub(crate) fn all(&self) -> [&str; 4] {
        [&self.drilldown, &self.recall, &self.search_tools, &self.call_tool].map(String::as_str)
    }
}

/// Options of a [`Gateway`](crate::Gateway).
#[derive(Debug, Clone)]
pub struct GatewayOptions {
    /// Which tools clients see.
    pub mode: GatewayMode,
    /// Tools above which the mode `auto` is search.
    pub search_above: usize,
    /// The servers, in the order of their tools.
    pub servers: Vec<ServerOptions>,
    /// What may be called.
    pub policy: ToolPolicy,
    /// How often a client may call.
    pub rate_limits: RateLimits,
    /// When a call that failed is made again.
    pub retry: RetryPolicy,
    /// What is kept of results for the same client; nothing is kept without it.
    pub cache: Option<CachePolicy>,
    /// Which tools there are for clients; all of them without it.
    pub visibility: Option<VisibilityProfile>,
    /// Whether arguments that are texts are read as what the schema asks for.
    pub tolerant_args: bool,
    /// Whether arguments are checked against the schema of the tool.
    pub validate: bool,
    /// Globs of names of tools that search mode lists always.
    pub pinned_tools: Vec<Glob>,
    /// Tools used last that search mode lists.
    pub recent_tools: usize,
    /// What happens when a tool is not as it was pinned.
    pub drift: OnFinding,
    /// What happens when a tool hides something.
    pub lint: OnFinding,
    /// Pins of an earlier run, by server.
    pub pins: SortedMap<String, ToolPins>,
    /// Digests that were accepted in spite of what was found, by server.
    pub accepted: SortedMap<String, Vec<String>>,
    /// Servers of which pins of an earlier run are lost: their tools without one are in quarantine until they are accepted.
    pub pins_lost: Vec<String>,
    /// Keys of `_meta` that a call carries on.
    pub meta_allow: Vec<String>,
    /// Names of the gateway's own tools.
    pub names: OwnNames,
    /// Globs of names of clients that search tools by themselves: they see all of them where the mode is `auto`.
    pub searching_clients: Vec<Glob>,
    /// What is said of tools in place of their servers, by `<server>__<tool>`.
    pub tools: ToolOverrides,
    /// Most tokens of a result that clients get, where nothing else is said of its tool or server.
    pub result_tokens: Option<u64>,
}

impl Default for GatewayOptions {
    fn default() -> Self {
        Self {
            mode: GatewayMode::default(),
            search_above: SEARCH_ABOVE as usize,
            servers: Vec::new(),
            policy: ToolPolicy::default(),
            rate_limits: RateLimits::default(),
            retry: RetryPolicy::default(),
            cache: None,
            visibility: None,
            tolerant_args: false,
            validate: true,
            pinned_tools: Vec::new(),
            recent_tools: RECENT_TOOLS as usize,
            drift: OnFinding::default(),
            lint: OnFinding::default(),
            pins: SortedMap::new(),
            accepted: SortedMap::new(),
            pins_lost: Vec::new(),
            meta_allow: META_ALLOW.map(str::to_owned).to_vec(),
            names: OwnNames::default(),
            searching_clients: SEARCHING_CLIENTS.iter().filter_map(|name| Glob::read(name, "").ok()).collect(),
            tools: ToolOverrides::new(),
            result_tokens: None,
        }
    }
}

impl GatewayOptions {
    /// Reads options over the defaults; unknown fields are refused.
    ///
    /// # Errors
    /// `UNKNOWN_FIELD`, `INVALID_INPUT`, `OUT_OF_RANGE`, `DUPLICATE_ID` or `NOT_FOUND`, with the path of the field.
    ///
    /// ```
    /// use contextweaver_base::ErrorCode;
    /// use contextweaver_gateway::GatewayOptions;
    /// use serde_json::json;
    ///
    /// let options = GatewayOptions::from_value(json!({ "servers": [{ "name": "github" }], "search_above": 20 }))?;
    /// assert_eq!((options.servers[0].name.as_str(), options.search_above), ("github", 20));
    /// let error = GatewayOptions::from_value(json!({ "servers": [{ "name": "my server" }] })).unwrap_err();
    /// assert_eq!((error.code(), error.path()), (ErrorCode::InvalidInput, "/servers/0/name"));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn from_value(value: Value) -> Result<Self> {
        let mut fields = Fields::open(value, "")?;
        let base = Self::default();
        let preset = policies(&mut fields)?;
        fields.required("servers").map_err(|error| error.hint("the servers behind the gateway: [{ name }]"))?;
        let options = Self {
            mode: fields.parsed_or("mode", base.mode, GatewayMode::parse)?,
            search_above: fields.uint_or("search_above", SEARCH_ABOVE, limits::MAX_SERVER_TOOLS as u64)? as usize,
            servers: fields.get("servers")?,
            policy: preset.policy,
            rate_limits: preset.rate_limits,
            retry: preset.retry,
            cache: preset.cache,
            visibility: fields.get("visibility")?,
            tolerant_args: fields.bool_or("tolerant_args", base.tolerant_args)?,
            validate: fields.bool_or("validate", base.validate)?,
            pinned_tools: Glob::read_all(&fields.strings("pinned_tools")?, "/pinned_tools")?,
            recent_tools: fields.uint_or("recent_tools", RECENT_TOOLS, MAX_RECENT_TOOLS)? as usize,
            drift: fields.parsed_or("drift", base.drift, OnFinding::parse)?,
            lint: fields.parsed_or("lint", base.lint, OnFinding::parse)?,
            pins: by_server(&mut fields, "pins", pins)?,
            accepted: by_server(&mut fields, "accepted", digests)?,
            pins_lost: fields.strings("pins_lost")?,
            meta_allow: if fields.has("meta_allow") { fields.strings("meta_allow")? } else { base.meta_allow },
            names: own_names(&mut fields)?,
            searching_clients: if fields.has("searching_clients") {
                Glob::read_all(&fields.strings("searching_clients")?, "/searching_clients")?
            } else {
                base.searching_clients
            },
            tools: overrides(&mut fields, "tools")?,
            result_tokens: result_tokens(&mut fields, "result_tokens")?,
        };
        fields.finish()?;
        options.check()?;
        Ok(options)
    }

    /// Checks what concerns several fields.
    fn check(&self) -> Result<()> {
        if self.servers.len() > limits::MAX_GATEWAY_SERVERS {
            let message = format!("{} servers, the limit is {}", self.servers.len(), limits::MAX_GATEWAY_SERVERS);
            return Err(Error::new(ErrorCode::TooLarge, message).at("/servers"));
        }
        for (place, server) in self.servers.iter().enumerate() {
            if self.servers[..place].iter().any(|other| other.name == server.name) {
                let message = format!("two servers are called {}", quote(&server.name));
                return Err(Error::new(ErrorCode::DuplicateId, message).at(format!("/servers/{place}/name")));
            }
        }
        self.check_overrides()?;
        let known = self.pins.keys().map(|name| ("/pins", name));
        let lost = self.pins_lost.iter().map(|name| ("/pins_lost", name));
        for (path, name) in known.chain(self.accepted.keys().map(|name| ("/accepted", name))).chain(lost) {
            if !self.servers.iter().any(|server| server.name == *name) {
                return Err(unknown_server(name, self.servers.iter().map(|server| server.name.as_str()))
                    .at(pointer(path, name)));
            }
        }
        Ok(())
    }
}

impl GatewayOptions {
    fn check_overrides(&self) -> Result<()> {
        for server in &self.servers {
            check_distinct(&server.name, &server.tools, &self.tools)?;
        }
        let own = self.names.all();
        let all = self.tools.iter().chain(self.servers.iter().flat_map(|server| server.tools.iter()));
        for (_, said) in all {
            if said.name.as_deref().is_some_and(|name| own.contains(&name)) {
                let message = "the gateway itself has a tool of this name";
                let error = Error::new(ErrorCode::InvalidInput, message).at(pointer(&said.path, "name"));
                return Err(error.hint("`names` gives the gateway's own tools other names"));
            }
        }
        Ok(())
    }
}

/// Says that there is no such server.
pub(crate) fn unknown_server<'a>(name: &str, known: impl Iterator<Item = &'a str> + Clone) -> Error {
    let error = Error::new(ErrorCode::NotFound, format!("no server is called {}", quote(name)));
    error.hint(there_are(name, "server", known))
}

fn server_name(fields: &mut Fields, key: &'static str) -> Result<String> {
    let name = fields.string(key)?;
    if !is_legal_name(&name, SERVER_CHARS) {
        let message = format!("{} is no name of a server", quote(&name));
        let hint =
            format!("letters, digits, `_`, `.` and `-`, at most {SERVER_CHARS}: `{}`", legal_name(&name, SERVER_CHARS));
        return Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at(key)).hint(hint));
    }
    Ok(name)
}

/// Takes the policies: those of a preset, and what is given over them.
fn policies(fields: &mut Fields) -> Result<PresetParts> {
    Preset::optional(fields, "preset")?.map(Preset::parts).unwrap_or_default().over(fields)
}

fn by_server<T>(
    fields: &mut Fields,
    key: &'static str,
    read: fn(Value, &str) -> Result<T>,
) -> Result<SortedMap<String, T>> {
    let at = fields.at(key);
    let mut map = SortedMap::new();
    for (server, value) in fields.object(key)? {
        let value = read(value, &pointer(&at, &server))?;
        map.insert(server, value);
    }
    Ok(map)
}

fn pins(value: Value, path: &str) -> Result<ToolPins> {
    contextweaver_routing::catalog::read_pins(value, path)
}

fn digests(value: Value, path: &str) -> Result<Vec<String>> {
    let Value::Array(list) = value else { return Err(contextweaver_model::json::wrong_type(path, "an array", &value)) };
    list.into_iter().enumerate().map(|(place, value)| as_string(value, &format!("{path}/{place}"))).collect()
}

fn own_names(fields: &mut Fields) -> Result<OwnNames> {
    let base = OwnNames::default();
    let Some(mut names) = fields.nested("names")? else { return Ok(base) };
    let mut name = |key: &'static str, default: &str| {
        let name = names.string_or(key, default)?;
        if is_legal_name(&name, limits::MCP_NAME_CHARS) {
            return Ok(name);
        }
        let error = Error::new(ErrorCode::InvalidInput, format!("{} is no name of a tool", quote(&name)));
        Err(error.at(names.at(key)).hint("letters, digits, `_`, `.` and `-`, at most 128"))
    };
    let own = OwnNames {
        drilldown: name("drilldown", &base.drilldown)?,
        recall: name("recall", &base.recall)?,
        search_tools: name("search_tools", &base.search_tools)?,
        call_tool: name("call_tool", &base.call_tool)?,
    };
    let at = names.path().to_owned();
    names.finish()?;
    let mut all = vec![&own.drilldown, &own.recall, &own.search_tools, &own.call_tool];
    contextweaver_base::order::sort_distinct(&mut all);
    if all.len() < 4 {
        return Err(Error::new(ErrorCode::DuplicateId, "two tools of the gateway have one name").at(at));
    }
    Ok(own)
}

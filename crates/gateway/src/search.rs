//! The answer to a search of tools, and to a call by name.

use serde_json::Value;

use contextweaver_base::order::WordSet;
use contextweaver_model::json::{JsonMap, nearest, type_name};
use contextweaver_routing::cards::truncate_description;
use contextweaver_routing::router::{RouteFilters, RouteOptions};
use contextweaver_text::tokens::Estimator;

use crate::failure::{Checked, GatewayError, GatewayErrorCode, upstream_detail_within};
use crate::front::{ReducedSchema, Resolved, ToolPlace, reduced, safe_line};
use crate::runtime::{CallContext, CallInfo, CallStep, Gateway, NextStep};

/// Tools that an answer names unless the model says otherwise.
const TOP_K: u64 = 5;
/// Most tools that an answer names.
const MAX_TOP_K: u64 = 20;
/// Tools of an answer that come with their arguments.
const WITH_SCHEMA: usize = 2;
/// Tokens of an answer of five tools, and of each beyond.
const ANSWER_TOKENS: u64 = 400;
const MORE_TOKENS: u64 = 30;
/// Most tokens of one schema among several tools.
const SCHEMA_TOKENS: u64 = 110;
/// Tokens of the schema of a tool that was asked for by its name.
const WHOLE_SCHEMA_TOKENS: u64 = 2_000;
/// Tokens of a description among several, and of one that was asked for.
const DESCRIPTION_TOKENS: u64 = 22;
const WHOLE_DESCRIPTION_TOKENS: u64 = 400;
/// Code points of a description that are looked at.
const DESCRIPTION_CHARS: usize = 4_000;
/// Names that are told when nothing fits.
const NEAREST: usize = 3;
/// Servers that an overview names.
const MAX_SERVERS: usize = 50;

/// The tools that fit a query, the best first.
#[derive(Default)]
pub(crate) struct Ranked {
    pub tools: Vec<ToolPlace>,
    /// Why none fits.
    pub refused: Option<Refused>,
}

/// Why no tool fits, and which came nearest.
#[derive(Default)]
pub(crate) struct Refused {
    pub cause: String,
    pub nearest: Vec<ToolPlace>,
}

impl Gateway {
    /// Answers a search.
    pub(crate) fn search_tools(&mut self, context: &CallContext, arguments: JsonMap) -> Checked<CallStep> {
        self.searched_once();
        let (query, server, top_k) = self.search_arguments(arguments)?;
        self.saw_names(&context.session);
        let text = if query.trim().is_empty() && server.is_none() {
            self.overview(context)
        } else if let Resolved::Tool(place) = self.resolve(&context.session, query.trim())
            && self.may_find(place, context.caller.as_deref())
        {
            self.whole(place)
        } else {
            self.best(&query, server, top_k, context)
        };
        Ok(CallStep::text(&text, false))
    }

    /// What is searched for, at which server, and how many tools are told.
    fn search_arguments(&self, mut arguments: JsonMap) -> Checked<(String, Option<usize>, u64)> {
        let invalid = |message: String| GatewayError::new(GatewayErrorCode::ArgsInvalid, message);
        let query = match arguments.shift_remove("query") {
            Some(Value::String(query)) => query,
            other => {
                return Err(invalid(format!("`query` is a string, not {}", type_name(&other.unwrap_or_default()))));
            }
        };
        let server = match arguments.shift_remove("server") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(self.server(&name).map_err(|_| {
                invalid(format!("no server is called `{}`; an empty query names them", safe_line(&name)))
            })?),
            Some(_) => return Err(invalid("`server` is a string: the name of a server".to_owned())),
        };
        let top_k = match arguments.shift_remove("top_k") {
            None | Some(Value::Null) => TOP_K,
            Some(number) => number
                .as_u64()
                .filter(|number| (1..=MAX_TOP_K).contains(number))
                .ok_or_else(|| invalid(format!("`top_k` is a whole number from 1 to {MAX_TOP_K}")))?,
        };
        if let Some(key) = arguments.keys().next() {
            return Err(invalid(format!("there is no `{}`: give query, server or top_k", safe_line(key))));
        }
        Ok((query, server, top_k))
    }

    /// Names the servers, for who does not know what to ask for.
    fn overview(&self, context: &CallContext) -> String {
        let mut lines = Vec::new();
        let caller = context.caller.as_deref();
        for (place, server) in self.servers.iter().enumerate().take(MAX_SERVERS) {
            let is_told = |tool: usize| self.may_find(ToolPlace { server: place, tool }, caller);
            let count = server.usable().filter(|(tool, _)| is_told(*tool));
            let mark = server.lack().map_or_else(String::new, |lack| format!(", {lack}"));
            lines.push(format!("- {}: {} tools{mark}", server.name, count.count()));
        }
        let more = self.servers.len().saturating_sub(MAX_SERVERS);
        if more > 0 {
            lines.push(format!("- and {more} more"));
        }
        format!("Servers:\n{}\nSearch for what is to be done.", lines.join("\n"))
    }

    /// A tool that was asked for by its name, with its whole schema.
    fn whole(&self, place: ToolPlace) -> String {
        let Some((server, tool)) = self.tool(place) else { return String::new() };
        let name = self.names.table.name(place);
        let schema = arguments_of(&tool.shown, WHOLE_SCHEMA_TOKENS);
        let mut text = format!(
            "{name}{}: {}\narguments: {}",
            if server.is_unavailable() { " (unavailable now)" } else { "" },
            self.said(place, WHOLE_DESCRIPTION_TOKENS),
            schema.schema
        );
        if schema.is_reduced {
            let also = match schema.left_out {
                0 => String::new(),
                count => format!(" and {count} optional arguments"),
            };
            text.extend(["\n(The schema is too large to be shown whole: descriptions", &also, " are left out.)"]);
        }
        text
    }

    /// The tools that fit best, or that none does.
    fn best(&mut self, query: &str, server: Option<usize>, top_k: u64, context: &CallContext) -> String {
        let Ranked { tools: found, refused } = self.ranked(query, server, top_k, context);
        if found.is_empty() {
            return self.nothing(query, server, &refused.unwrap_or_default(), context);
        }
        let names = &self.options.names;
        let end = format!(
            "Whole schema: {} {{\"query\": \"<name>\"}}. Run: {} {{\"name\", \"arguments\"}}.",
            names.search_tools, names.call_tool
        );
        let mut lines: Vec<String> = Vec::new();
        for (at, place) in found.iter().enumerate() {
            let Some((server, _)) = self.tool(*place) else { continue };
            let mark = if server.is_unavailable() { " (unavailable now)" } else { "" };
            let name = self.names.table.name(*place);
            lines.push(format!("{}. {name}{mark}: {}", at + 1, self.said(*place, DESCRIPTION_TOKENS)));
        }
        let more = (lines.len() as u64).saturating_sub(TOP_K) * MORE_TOKENS;
        let mut room = (ANSWER_TOKENS + more).saturating_sub(Estimator::V3.tokens(&lines.join("\n")));
        room = room.saturating_sub(Estimator::V3.tokens(&end) + 2);
        let with_schema = lines.len().min(WITH_SCHEMA);
        for (at, place) in found.iter().take(with_schema).enumerate() {
            let Some((_, tool)) = self.tool(*place) else { continue };
            let most = (room / (with_schema - at) as u64).min(SCHEMA_TOKENS);
            let schema = written_arguments(&tool.shown, most);
            room = room.saturating_sub(Estimator::V3.tokens(&schema));
            lines[at].push_str(&schema);
        }
        lines.push(end);
        lines.join("\n")
    }

    /// Says that nothing fits, why, and which tools are near.
    fn nothing(&mut self, query: &str, server: Option<usize>, refused: &Refused, context: &CallContext) -> String {
        let place = server.and_then(|server| self.servers.get(server)).map(|server| format!(" of {}", server.name));
        let count = self.listed(context.caller.as_deref()).len();
        let mut text = format!("No tool{} fits \"{}\"", place.unwrap_or_default(), upstream_detail_within(query, 80));
        if !refused.cause.is_empty() {
            text.extend([": ", &upstream_detail_within(&refused.cause, 200)]);
        }
        text.extend([" (", &count.to_string(), " tools searched)."]);
        let near = if refused.nearest.is_empty() { self.near(query, context) } else { self.named(&refused.nearest) };
        if !near.is_empty() {
            text.extend([" Nearest: ", &near.join(", "), "."]);
        }
        text.push_str(" Try other words, or an empty query for the servers.");
        text
    }

    fn named(&self, tools: &[ToolPlace]) -> Vec<String> {
        tools.iter().map(|place| self.names.table.name(*place).to_owned()).collect()
    }

    /// Ranks the tools that a client may see.
    pub(crate) fn ranked(&mut self, query: &str, server: Option<usize>, top_k: u64, context: &CallContext) -> Ranked {
        let options = RouteOptions {
            top_k: Some(top_k),
            filters: RouteFilters {
                exclude_ids: self.hidden(server, context.caller.as_deref()),
                ..RouteFilters::default()
            },
            ..RouteOptions::default()
        };
        let index = self.index();
        // Without a tool that the client may see, there is nothing to rank.
        let Ok(result) = index.router().route(query, &options) else { return Ranked::default() };
        let places = |ids: &[String]| ids.iter().filter_map(|id| index.place(id)).collect();
        if result.no_match == Some(true) {
            let nearest = places(&result.nearest_ids.unwrap_or_default());
            let cause = result.no_match_cause.unwrap_or_default();
            return Ranked { tools: Vec::new(), refused: Some(Refused { cause, nearest }) };
        }
        Ranked { tools: places(&result.candidate_ids), refused: None }
    }

    /// Whether a search tells a tool: a client may see it, and it is not for views alone.
    fn may_find(&self, place: ToolPlace, caller: Option<&str>) -> bool {
        !self.is_for_views(place) && self.may_see(place, caller)
    }

    /// Ids of tools that a search does not tell, or that are of another server.
    pub(crate) fn hidden(&mut self, server: Option<usize>, caller: Option<&str>) -> WordSet {
        let ids: Vec<(String, ToolPlace)> = self.index().names().map(|(id, place)| (id.to_owned(), place)).collect();
        let is_hidden =
            |place: ToolPlace| server.is_some_and(|server| server != place.server) || !self.may_find(place, caller);
        WordSet::new(ids.into_iter().filter(|(_, place)| is_hidden(*place)).map(|(id, _)| id).collect())
    }

    /// Names near to one that is none: the nearest as it is written, then those that say something like it.
    pub(crate) fn near(&mut self, name: &str, context: &CallContext) -> Vec<String> {
        let listed = self.listed(context.caller.as_deref());
        let names: Vec<&str> = listed.iter().map(|place| self.names.table.name(*place)).collect();
        let mut near: Vec<String> = nearest(name, names.iter().copied()).map(str::to_owned).into_iter().collect();
        let words: String =
            name.chars().take(200).map(|ch| if matches!(ch, '_' | '.' | '-') { ' ' } else { ch }).collect();
        let Ranked { tools, refused } = self.ranked(&words, None, NEAREST as u64, context);
        for name in self.named(&refused.map_or(tools, |refused| refused.nearest)) {
            if !near.contains(&name) {
                near.push(name);
            }
        }
        near.truncate(NEAREST);
        near
    }

    /// What a server says of a tool, in one line.
    fn said(&self, place: ToolPlace, tokens: u64) -> String {
        let Some((_, tool)) = self.tool(place) else { return String::new() };
        let line = upstream_detail_within(tool.description(), DESCRIPTION_CHARS);
        truncate_description(&line, tokens, &|text| Estimator::V3.tokens(text))
    }

    /// Calls a tool by its name.
    pub(crate) fn call_by_name(&mut self, info: CallInfo, arguments: JsonMap, context: &CallContext) -> NextStep {
        match self.named_tool(arguments, context) {
            Ok((place, given)) => self.call_tool(info, place, given, context),
            Err(error) => self.next_step(info, Err(error)),
        }
    }

    /// Finds the tool that is to be called by its name; also returns what it is given.
    fn named_tool(&mut self, mut arguments: JsonMap, context: &CallContext) -> Checked<(ToolPlace, Value)> {
        let invalid = |message: &str| GatewayError::new(GatewayErrorCode::ArgsInvalid, message);
        let Some(Value::String(name)) = arguments.shift_remove("name") else {
            return Err(invalid("`name` is a string: the name of a tool"));
        };
        let given = arguments.shift_remove("arguments").unwrap_or_default();
        if let Some(key) = arguments.keys().next() {
            let message = format!("there is no `{}` here: arguments of the tool go into `arguments`", safe_line(key));
            return Err(invalid(&message));
        }
        match self.resolve(&context.session, &name) {
            // What calls by this tool is a model.
            Resolved::Tool(place) if self.is_for_views(place) => {
                let message = "the tool is for views of its server alone";
                let error = GatewayError::new(GatewayErrorCode::PolicyDenied, message).at(safe_line(&name));
                Err(error.detail("reason", "views"))
            }
            Resolved::Tool(place) => Ok((place, given)),
            found => Err(self.no_tool(&name, found, context)),
        }
    }

    /// Names of servers that have not listed anything: those that cannot be reached, or those that are starting.
    fn awaited(&self, is_down: bool) -> String {
        let servers = self.servers.iter().filter(|server| server.is_awaited() && server.is_unavailable() == is_down);
        servers.take(MAX_SERVERS).map(|server| server.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Says of a tool that nobody knows that a server which is starting may have it; not of one that is named with a server
    /// which has listed its tools.
    pub(crate) fn not_known_yet(&self, name: &str) -> Option<GatewayError> {
        let is_of = |server: &crate::servers::Server| {
            name.strip_prefix(server.name.as_str()).is_some_and(|rest| rest.starts_with("__"))
        };
        if self.servers.iter().any(|server| is_of(server) && !server.is_awaited()) {
            return None;
        }
        let starting = self.awaited(false);
        let name = safe_line(name);
        let message =
            format!("`{name}` is not known yet, servers are starting: {starting}; try again in a few seconds");
        (!starting.is_empty()).then(|| GatewayError::new(GatewayErrorCode::UpstreamUnavailable, message).at(name))
    }

    /// Says that there is no such tool, and which names are near.
    pub(crate) fn no_tool(&mut self, name: &str, found: Resolved, context: &CallContext) -> GatewayError {
        if let Some(error) = self.not_known_yet(name).filter(|_| found == Resolved::Unknown) {
            return error;
        }
        let down = self.awaited(true);
        let near = self.near(name, context);
        let what = if found == Resolved::Gone { "is not listed any more" } else { "is not known" };
        let mut message = format!("the tool `{}` {what}", safe_line(name));
        if !near.is_empty() {
            message.extend(["; nearest names: ", &near.join(", ")]);
        }
        if !down.is_empty() {
            message.extend(["; unavailable now: ", &down]);
        }
        GatewayError::new(GatewayErrorCode::HydrateFailed, message).at(safe_line(name))
    }
}

/// The line that tells the arguments of a tool among others, within so many tokens.
fn written_arguments(shown: &JsonMap, tokens: u64) -> String {
    const LINE: u64 = 8;
    let schema = arguments_of(shown, tokens.saturating_sub(LINE));
    let more = match schema.left_out {
        0 => String::new(),
        count => format!(" and {count} optional"),
    };
    let text = format!("\n   arguments: {}{more}", schema.schema);
    if Estimator::V3.fits(&text, tokens) {
        return text;
    }
    // What is required is too much by itself.
    let count = schema.schema["required"].as_array().map_or(0, Vec::len);
    let text = format!("\n   arguments: {count} are required, see its whole schema");
    if Estimator::V3.fits(&text, tokens) { text } else { String::new() }
}

/// The schema of the arguments of a tool, within so many tokens. Of which draft it is matters to nobody who writes arguments.
fn arguments_of(shown: &JsonMap, tokens: u64) -> ReducedSchema {
    let mut schema = shown.get("inputSchema").and_then(Value::as_object).cloned().unwrap_or_default();
    schema.shift_remove("$schema");
    reduced(&schema, tokens)
}

//! The store as a set of tools: what clients list, how a call is checked and run, and what it answers.

pub mod arguments;
pub mod rpc;
pub mod tool_specs;

use serde_json::{Map, Value, json};

use self::arguments::AllowedValues;
use self::tool_specs::{ToolSpec, tool};
use crate::host::{CallerContext, HostAnswers, HostRequest};
use crate::store::DecisionStore;
use crate::tools;
use crate::tracker::NOBODY;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::Fields;
use contextweaver_text::quote::quote;
use contextweaver_text::redact::{SECRET_MASK, redact_names};
use contextweaver_text::tokens::Estimator;

/// A tool call.
#[derive(Debug)]
pub struct ToolRequest<'a> {
    /// The name of the tool, with the prefix of the store.
    pub name: &'a str,
    /// Arguments as the client sent them; they are checked against the schema.
    pub arguments: Value,
    /// What the host knows of the call.
    pub host: HostContext<'a>,
}

/// What the host knows of a call and answered to its needs.
#[derive(Debug, Clone, Copy)]
pub struct HostContext<'a> {
    /// The agent, if the host knows it; what the arguments say does not count then.
    pub agent: Option<&'a str>,
    /// The transport or session, likewise.
    pub trace: Option<&'a str>,
    /// Milliseconds since 1970-01-01T00:00:00 UTC.
    pub now: i64,
    /// The ids and vectors that came so far.
    pub answers: &'a HostAnswers,
}

/// The end of an operation, or what the host must answer first; nothing has changed by then.
#[derive(Debug)]
pub enum ToolReply {
    /// Answer these in [`HostContext::answers`] and call again.
    Needs(Vec<HostRequest>),
    /// The result.
    Done(Value),
}

/// Returns the tools that a store offers, as `tools/list` gives them.
///
/// # Examples
///
/// ```
/// use contextweaver_decisions::{DecisionStore, DecisionStoreOptions, service};
///
/// let store = DecisionStore::new(DecisionStoreOptions::default());
/// let tools = service::list(&store);
/// assert_eq!(tools.len(), 15);
/// assert_eq!(tools[0]["name"], "pre_action");
/// ```
pub fn list(store: &DecisionStore) -> Vec<Value> {
    offered(store).map(|tool| tool_definition(store, tool)).collect()
}

fn offered(store: &DecisionStore) -> impl Iterator<Item = &'static ToolSpec> {
    let only = &store.options.service.tools;
    tool_specs::tools().iter().filter(move |tool| only.is_empty() || only.contains(&tool.name))
}

/// Returns the tool that a store offers under a name.
fn find(store: &DecisionStore, name: &str) -> Option<&'static ToolSpec> {
    let own = name.strip_prefix(store.options.service.tool_name_prefix.as_str())?;
    offered(store).find(|tool| tool.name == own)
}

fn tool_definition(store: &DecisionStore, tool: &ToolSpec) -> Value {
    let mut input = tool.input.clone();
    if let Some(Value::Array(categories)) = input.pointer_mut("/properties/category/enum") {
        categories.extend(store.options.categories.iter().map(|name| Value::from(name.as_str())));
    }
    json!({
        "name": format!("{}{}", store.options.service.tool_name_prefix, tool.name),
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input,
        "outputSchema": tool.output,
        "annotations": {
            "title": tool.title,
            "readOnlyHint": !tool.writes,
            "destructiveHint": false,
            "idempotentHint": !tool.writes,
            "openWorldHint": false,
        },
    })
}

/// Runs a tool; what is wrong with the call is part of its result.
///
/// # Examples
///
/// Before an action, `pre_action` finds similar decisions, checks guardrails and logs the decision. The store first
/// asks for an id:
///
/// ```
/// use contextweaver_decisions::service::{HostContext, ToolReply, ToolRequest, call_tool};
/// use contextweaver_decisions::{DecisionStore, DecisionStoreOptions, HostAnswers, HostRequest};
/// use serde_json::json;
///
/// let mut store = DecisionStore::new(DecisionStoreOptions::default());
/// let mut answers = HostAnswers::default();
/// let arguments = json!({ "action": { "description": "Use Postgres", "category": "architecture", "confidence": 0.8 } });
/// let result = loop {
///     let host = HostContext { agent: Some("planner"), trace: None, now: 1_773_576_000_000, answers: &answers };
///     match call_tool(&mut store, ToolRequest { name: "pre_action", arguments: arguments.clone(), host }) {
///         ToolReply::Done(result) => break result,
///         ToolReply::Needs(needs) => {
///             assert_eq!(needs, [HostRequest::Id]);
///             answers.add_id("d1".to_owned());
///         }
///     }
/// };
/// assert_eq!(result["structuredContent"]["allowed"], true);
/// assert_eq!(result["structuredContent"]["decisionId"], "d1");
/// ```
pub fn call_tool(store: &mut DecisionStore, request: ToolRequest<'_>) -> ToolReply {
    let name = request.name;
    let Some(tool) = find(store, name) else {
        let error = Error::new(ErrorCode::InvalidInput, format!("there is no tool {}", quote(name)));
        return ToolReply::Done(tool_error(store, &error));
    };
    match run_tool(store, tool, request) {
        Ok(ToolOutcome::Needs(needs)) => ToolReply::Needs(needs),
        Ok(ToolOutcome::Content(content)) => ToolReply::Done(tool_result(&content)),
        Err(error) => ToolReply::Done(tool_error(store, &error)),
    }
}

/// A task for which past decisions are wanted in a prompt.
#[derive(Debug, Clone, Default)]
pub struct ContextQuery {
    /// Description of the task.
    pub query: String,
    /// Most tokens of the text, by the estimator.
    pub budget: u64,
    /// Names of the sections; the five usual ones when absent.
    pub include: Option<Value>,
}

/// Collects what past decisions say about a task: `{text, tokens, trace_id, warnings?}`.
///
/// # Errors
///
/// `INVALID_INPUT` for a section that there is not.
///
/// # Examples
///
/// ```
/// use contextweaver_decisions::service::{ContextQuery, HostContext, ToolReply, context};
/// use contextweaver_decisions::{Decision, DecisionStore, DecisionStoreOptions, HostAnswers};
///
/// let mut store = DecisionStore::new(DecisionStoreOptions::default());
/// store.put(Decision { id: "d1".to_owned(), decision: "Use Postgres for billing".to_owned(), ..Decision::default() });
/// let answers = HostAnswers::default();
/// let host = HostContext { agent: Some("planner"), trace: None, now: 1_773_576_000_000, answers: &answers };
/// let query = ContextQuery { query: "a database for billing".to_owned(), budget: 500, include: None };
/// let ToolReply::Done(found) = context(&mut store, &query, host)? else { panic!("no host is needed") };
/// assert!(found["text"].as_str().is_some_and(|text| text.contains("Use Postgres for billing")));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn context(store: &mut DecisionStore, asked: &ContextQuery, host: HostContext<'_>) -> Result<ToolReply> {
    let Some(tool) = tool_specs::tool("get_session_context") else { return Ok(ToolReply::Done(Value::Null)) };
    let arguments = json!({
        "task_description": asked.query,
        "max_tokens": asked.budget,
        "include": asked.include,
        "format": "markdown",
    });
    let content = match run_tool(store, tool, ToolRequest { name: &tool.name, arguments, host })? {
        ToolOutcome::Needs(needs) => return Ok(ToolReply::Needs(needs)),
        ToolOutcome::Content(content) => content,
    };
    let text = content["markdown"].as_str().unwrap_or_default();
    let mut out = json!({ "text": text, "tokens": Estimator::V3.tokens(text), "trace_id": content["trace_id"] });
    if let Some(warnings) = content.get("warnings") {
        out["warnings"] = warnings.clone();
    }
    Ok(ToolReply::Done(out))
}

enum ToolOutcome {
    Needs(Vec<HostRequest>),
    Content(Value),
}

fn run_tool(store: &mut DecisionStore, tool: &ToolSpec, request: ToolRequest<'_>) -> Result<ToolOutcome> {
    let ToolRequest { arguments, host, .. } = request;
    let allowed = AllowedValues { categories: &store.options.categories };
    let mut arguments = arguments::checked(&tool.input, arguments, allowed)?;
    let agent = identity(&mut arguments, "agent_id", host.agent);
    let trace = identity(&mut arguments, "trace_id", host.trace);
    let agent = agent.as_deref().unwrap_or(NOBODY);
    let call = CallerContext { agent, trace: trace.as_deref(), now: host.now, answers: host.answers };
    let needs = needs(store, tool, &call, &arguments)?;
    if !needs.is_empty() {
        return Ok(ToolOutcome::Needs(needs));
    }
    let run = runner(&tool.name).ok_or_else(|| Error::new(ErrorCode::Internal, "the tool has no function"))?;
    let content = run(store, &call, &arguments)?;
    Ok(ToolOutcome::Content(masked_output(store, content)))
}

/// Masks the credentials of what is said, in names as well; what is stored keeps them.
pub(crate) fn masked_output(store: &DecisionStore, value: Value) -> Value {
    if !store.options.service.redact_secrets {
        return value;
    }
    redact_names(&value, SECRET_MASK)
}

/// Returns who or what is known: the host's word counts more than that of the arguments, which anybody may write.
fn identity(arguments: &mut Map<String, Value>, key: &str, host: Option<&str>) -> Option<String> {
    match host {
        Some(host) => {
            arguments.insert(key.to_owned(), host.into());
            Some(host.to_owned())
        }
        None => arguments.get(key).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned),
    }
}

/// Returns what a tool needs to know before it runs.
fn needs(
    store: &DecisionStore,
    tool: &ToolSpec,
    call: &CallerContext<'_>,
    arguments: &Map<String, Value>,
) -> Result<Vec<HostRequest>> {
    let mut needs = Vec::new();
    let records = match tool.name.as_str() {
        "pre_action" => tools::pre_action_logs(arguments),
        name => name == "log_decision",
    };
    if records && call.answers.next_id(&store.records).is_none() {
        needs.push(HostRequest::Id);
    }
    let texts = match tool.name.as_str() {
        "pre_action" => tools::pre_action_texts(store, call, arguments)?,
        "get_session_context" => tools::session_context_texts(store, call, arguments)?,
        "query_decisions" => tools::query_texts(store, call, arguments)?,
        _ => Vec::new(),
    };
    if !texts.is_empty() {
        needs.push(HostRequest::Embed { texts });
    }
    Ok(needs)
}

type ToolFunction = fn(&mut DecisionStore, &CallerContext<'_>, &Map<String, Value>) -> Result<Value>;

fn runner(name: &str) -> Option<ToolFunction> {
    Some(match name {
        "pre_action" => tools::pre_action,
        "get_session_context" => tools::get_session_context,
        "ready" => tools::ready,
        "query_decisions" => tools::query_decisions,
        "check_action" => tools::check_action,
        "log_decision" => tools::log_decision,
        "review_outcome" => tools::review_outcome,
        "get_stats" => tools::get_stats,
        "get_decision" => tools::get_decision,
        "get_reason_stats" => tools::get_reason_stats,
        "update_decision" => tools::update_decision,
        "record_thought" => tools::record_thought,
        "link_decisions" => tools::link_decisions,
        "get_graph" => tools::get_graph,
        "get_neighbors" => tools::get_neighbors,
        _ => return None,
    })
}

/// Makes the result of a call that went well: the content, and the same as text for those who read no other.
fn tool_result(content: &Value) -> Value {
    let text = serde_json::to_string_pretty(content).unwrap_or_default();
    json!({ "content": [{ "type": "text", "text": text }], "structuredContent": content })
}

/// Makes the result of a call that did not.
fn tool_error(store: &DecisionStore, error: &Error) -> Value {
    let kind = if is_callers_fault(error.code()) { "validation_error" } else { "internal_error" };
    let content = masked_output(store, json!({ "error": kind, "message": error.message() }));
    let text = serde_json::to_string_pretty(&content).unwrap_or_default();
    json!({ "content": [{ "type": "text", "text": text }], "isError": true })
}

/// Tells whether a failure is the caller's to mend.
const fn is_callers_fault(code: ErrorCode) -> bool {
    !matches!(
        code,
        ErrorCode::Internal
            | ErrorCode::Poisoned
            | ErrorCode::Disposed
            | ErrorCode::Reentrant
            | ErrorCode::CallbackFailed
    )
}

/// Characters that the name of a tool may have.
const MAX_NAME: usize = 64;

/// Options of the tools and of the server.
#[derive(Debug, Clone)]
pub struct ServiceOptions {
    /// Name of the server in the handshake.
    pub server_name: String,
    /// The tools that are offered, by their names without prefix; none means all.
    pub tools: Vec<String>,
    /// What stands before the name of each tool.
    pub tool_name_prefix: String,
    /// Whether credentials are masked in everything that is said; what is stored keeps them.
    pub redact_secrets: bool,
}

impl Default for ServiceOptions {
    fn default() -> Self {
        Self {
            server_name: "cstp-decisions".to_owned(),
            tools: Vec::new(),
            tool_name_prefix: String::new(),
            redact_secrets: true,
        }
    }
}

impl ServiceOptions {
    /// Takes the options out of those of a store.
    ///
    /// # Errors
    ///
    /// `INVALID_INPUT` or `OUT_OF_RANGE`, with the path of the field.
    pub fn take(fields: &mut Fields) -> Result<Self> {
        let usual = Self::default();
        let options = Self {
            server_name: fields.string_or("server_name", &usual.server_name)?,
            tools: fields.strings("tools")?,
            tool_name_prefix: fields.string_or("tool_name_prefix", "")?,
            redact_secrets: fields.bool_or("redact_secrets", usual.redact_secrets)?,
        };
        let place = |index: usize| format!("{}/{index}", fields.at("tools"));
        if let Some((index, name)) = options.tools.iter().enumerate().find(|(_, name)| tool(name).is_none()) {
            let message = format!("there is no tool {}", quote(name));
            return Err(Error::new(ErrorCode::InvalidInput, message).at(place(index)));
        }
        let prefix = &options.tool_name_prefix;
        let is_plain = prefix.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
        if !is_plain || prefix.len() > MAX_NAME / 2 {
            let message = format!("a prefix has at most {} letters, digits and _-.", MAX_NAME / 2);
            return Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at("tool_name_prefix")));
        }
        Ok(options)
    }
}

//! How a call begins.

use serde_json::{Value, json};

use contextweaver_base::Result;
use contextweaver_base::limits;
use contextweaver_convert::tools::validate_args;
use contextweaver_model::json::{JsonMap, nearest, type_name};

use super::open_calls::{OpenCall, WaitingCall};
use super::request::CallRequest;
use super::step::{CallStep, ForwardedCall, RpcError};
use super::{Gateway, passing, subject};
use crate::failure::{GatewayError, GatewayErrorCode};
use crate::front::{Resolved, ToolPlace, safe_line};
use crate::policy::PolicyAction;

/// Invalid parameters, as JSON-RPC calls it.
const INVALID_PARAMS: i64 = -32_602;

/// Who calls, and what the client can do.
#[derive(Debug, Clone)]
pub(crate) struct CallContext {
    pub session: String,
    pub caller: Option<String>,
    pub meta: JsonMap,
    pub can_confirm: bool,
    pub now_ms: u64,
}

impl Gateway {
    /// Says what to do with a call of a client.
    ///
    /// # Errors
    /// None at present of a request that was read: what a client does wrong is told to the client.
    pub fn begin_call(&mut self, request: CallRequest) -> Result<CallStep> {
        let CallRequest { session, caller, name, arguments, meta, can_confirm, now_ms } = request;
        self.sessions.touch(&session);
        let meta = passing(meta, &self.options.meta_allow);
        let context = CallContext { session, caller, meta, can_confirm, now_ms };
        let arguments = match arguments {
            Value::Null => JsonMap::new(),
            Value::Object(map) => map,
            other => {
                let message = format!("arguments are an object, not {}", type_name(&other));
                return Ok(CallStep::Error(RpcError { code: INVALID_PARAMS, message, data: None }));
            }
        };
        if name == self.options.names.drilldown {
            return Ok(self.drilldown(&context, arguments));
        }
        match self.resolve(&context.session, &name) {
            Resolved::Tool(place) => Ok(self.call_tool(place, arguments, &context)),
            _ => Ok(CallStep::Error(self.unknown_tool(&name, &context))),
        }
    }

    /// Returns the tool that a name means to a client.
    pub(crate) fn resolve(&self, session: &str, name: &str) -> Resolved {
        let epoch = self.sessions.get(session).and_then(|session| session.epoch);
        self.names.resolve(name, epoch, &self.servers)
    }

    fn unknown_tool(&self, name: &str, context: &CallContext) -> RpcError {
        let shown = self.front(Some(&context.session), context.caller.as_deref()).tools;
        let known: Vec<&str> = shown.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
        let meant = nearest(name, known.iter().copied()).map(|meant| format!("; did you mean `{meant}`?"));
        let message = format!("unknown tool `{}`{}", safe_line(name), meant.unwrap_or_default());
        RpcError { code: INVALID_PARAMS, message, data: None }
    }

    /// Calls a tool of a server: policy, then arguments, then the user, then the server.
    pub(crate) fn call_tool(&mut self, place: ToolPlace, arguments: JsonMap, context: &CallContext) -> CallStep {
        match self.checked(place, &arguments, context) {
            Err(error) => CallStep::refused(&error),
            Ok(true) => self.ask(place, arguments, context),
            Ok(false) => self.forward(place, arguments, context.meta.clone(), context),
        }
    }

    /// Checks a call; tells whether its user must be asked.
    fn checked(
        &self,
        place: ToolPlace,
        arguments: &JsonMap,
        context: &CallContext,
    ) -> std::result::Result<bool, GatewayError> {
        let name = self.names.table.name(place);
        let gone = || GatewayError::new(GatewayErrorCode::HydrateFailed, "the tool is not listed any more").at(name);
        let (server, tool) = self.tool(place).ok_or_else(gone)?;
        let subject = subject(server, tool, "tool_execute", context.caller.as_deref());
        let ruling = self.ruling(&subject);
        let refusal = ruling.to_error(&subject).map(|error| error.at(name));
        if ruling.action == PolicyAction::Deny || ruling.action == PolicyAction::Ask && !context.can_confirm {
            return Err(refusal.unwrap_or_else(gone));
        }
        if !tool.is_usable() {
            let message = "the tool is in quarantine until the operator of the gateway accepts it";
            return Err(GatewayError::new(GatewayErrorCode::PolicyDenied, message)
                .at(name)
                .detail("reason", "quarantine"));
        }
        if self.options.validate {
            validate(&tool.schema, arguments).map_err(|error| error.at(name))?;
        }
        if server.is_unavailable() {
            let why = server.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            let message = format!("the server \"{}\" is unavailable{why}", server.name);
            return Err(GatewayError::new(GatewayErrorCode::UpstreamUnavailable, message).at(name));
        }
        Ok(ruling.action == PolicyAction::Ask)
    }

    fn ask(&mut self, place: ToolPlace, arguments: JsonMap, context: &CallContext) -> CallStep {
        let name = self.names.table.name(place).to_owned();
        let Some((server, tool)) = self.tool(place) else { return too_many(&name) };
        let what = if tool.hints.read_only_hint {
            "It says that it only reads."
        } else if tool.hints.destructive_hint {
            "It may change or delete data."
        } else {
            "It may add data."
        };
        let message = format!("Allow the tool `{name}` of the server \"{}\" to run? {what}", server.name);
        let waiting = Some(WaitingCall { arguments, meta: context.meta.clone() });
        match self.open(place, waiting, context) {
            Some(call) => CallStep::Confirm { call, message },
            None => too_many(&name),
        }
    }

    fn open(&mut self, place: ToolPlace, waiting: Option<WaitingCall>, context: &CallContext) -> Option<u64> {
        let tool = self.servers.get(place.server)?.tool_ref(place);
        let (session, caller) = (context.session.clone(), context.caller.clone());
        let attempts = u32::from(waiting.is_none());
        let mode = self.mode();
        self.calls.add(OpenCall { session, caller, tool, mode, waiting, attempts })
    }

    fn forward(&mut self, place: ToolPlace, arguments: JsonMap, meta: JsonMap, context: &CallContext) -> CallStep {
        let name = self.names.table.name(place).to_owned();
        match self.open(place, None, context) {
            Some(call) => self.forwarded(call, place, arguments, meta),
            None => too_many(&name),
        }
    }

    fn forwarded(&self, call: u64, place: ToolPlace, arguments: JsonMap, meta: JsonMap) -> CallStep {
        let Some((server, tool)) = self.tool(place) else { return too_many("") };
        CallStep::Forward(Box::new(ForwardedCall {
            call,
            server: server.name.clone(),
            tool: tool.name().to_owned(),
            arguments,
            meta,
            read_only: tool.hints.read_only_hint,
            schema: tool.schema.clone(),
            output_schema: tool.output_schema.clone(),
        }))
    }

    /// Goes on with a call after its user was asked.
    ///
    /// # Errors
    /// `NOT_FOUND` for a call that does not wait for a user.
    pub fn confirm_call(&mut self, call: u64, accepted: bool, _now_ms: u64) -> Result<CallStep> {
        let mut open = self.calls.take(call, true)?;
        let Some(waiting) = open.waiting.take().filter(|_| accepted) else {
            let error = GatewayError::new(GatewayErrorCode::AuthRequired, "the user did not allow this call");
            return Ok(CallStep::refused(&error.at(self.shown_name(&open)).detail("approval", "declined")));
        };
        let Some(place) =
            self.place(&open.tool).filter(|place| self.tool(*place).is_some_and(|(_, tool)| tool.is_usable()))
        else {
            let message = "the tool is not what it was when the user was asked";
            return Ok(CallStep::refused(&GatewayError::new(GatewayErrorCode::HydrateFailed, message)));
        };
        open.attempts = 1;
        self.calls.put_back(call, open);
        Ok(self.forwarded(call, place, waiting.arguments, waiting.meta))
    }

    /// Gives a call up.
    pub fn cancel_call(&mut self, call: u64) {
        self.calls.drop(call);
    }

    /// The name under which a client knows the tool of a call.
    pub(crate) fn shown_name(&self, call: &OpenCall) -> String {
        self.place(&call.tool)
            .map_or_else(|| safe_line(&call.tool.name), |place| self.names.table.name(place).to_owned())
    }

    /// Reads on in a stored result, where the policy of the tool that it is of allows that.
    fn drilldown(&self, context: &CallContext, mut arguments: JsonMap) -> CallStep {
        let name = &self.options.names.drilldown;
        let invalid = |message: &str| {
            CallStep::refused(&GatewayError::new(GatewayErrorCode::ArgsInvalid, message).at(name.clone()))
        };
        let Some(Value::String(handle)) = arguments.shift_remove("handle") else {
            return invalid("`handle` is a string: the handle of a stored result");
        };
        let selector = match arguments.shift_remove("selector") {
            Some(Value::Object(selector)) => selector,
            None => {
                let mut head = JsonMap::new();
                head.insert("type".to_owned(), "head".into());
                head
            }
            Some(_) => return invalid("`selector` is an object, such as {\"type\": \"head\"}"),
        };
        let max_tokens = match arguments.shift_remove("max_tokens") {
            None | Some(Value::Null) => None,
            Some(number) => match number.as_u64().filter(|tokens| (1..=limits::MAX_BUDGET_TOKENS).contains(tokens)) {
                Some(tokens) => Some(tokens),
                None => return invalid("`max_tokens` is a whole number from 1 on"),
            },
        };
        match self.view_refusal(&handle, context) {
            Some(error) => CallStep::refused(&error),
            None => CallStep::Drilldown { handle, selector, max_tokens },
        }
    }

    /// Returns why a client may not read a stored result; nothing where it may.
    pub(crate) fn view_refusal(&self, handle: &str, context: &CallContext) -> Option<GatewayError> {
        let owner = self.sessions.get(&context.session).and_then(|session| session.owner(handle));
        let caller = context.caller.as_deref();
        let subject = match owner.and_then(|owner| self.place(owner)).and_then(|place| self.tool(place)) {
            Some((server, tool)) => subject(server, tool, "tool_view", caller),
            None => crate::policy::PolicySubject { meta_tool: Some("tool_view"), caller, ..Default::default() },
        };
        // To ask would be for each page of a result that its user has allowed already.
        let ruling = self.ruling(&subject);
        let refusal = ruling.to_error(&subject).filter(|_| ruling.action != PolicyAction::Allow);
        refusal.map(|error| error.at(safe_line(handle)))
    }
}

fn too_many(name: &str) -> CallStep {
    let message = "too many calls are open; try again later";
    CallStep::refused(&GatewayError::new(GatewayErrorCode::RateLimited, message).at(name))
}

/// Checks arguments against the schema of a tool. What is wrong is told by place and what is expected, never by the value.
pub(crate) fn validate(schema: &JsonMap, arguments: &JsonMap) -> std::result::Result<(), GatewayError> {
    if schema.is_empty() {
        return Ok(());
    }
    let (schema, arguments) = (Value::Object(schema.clone()), Value::Object(arguments.clone()));
    let checked = validate_args(&schema, "", &arguments, false).map_err(|error| {
        let reason = error.details().get("reason").cloned().unwrap_or_else(|| "invalid_schema".into());
        let message = "the tool's own schema of its arguments cannot be used";
        GatewayError::new(GatewayErrorCode::SchemaInvalid, message).detail("reason", reason)
    })?;
    if checked.valid {
        return Ok(());
    }
    let errors: Vec<Value> = checked
        .errors
        .iter()
        .map(|error| {
            json!({ "path": safe_line(&error.path), "keyword": error.keyword, "expected": safe_line(&error.expected) })
        })
        .collect();
    let first = errors.first().map(|error| {
        let path = error["path"].as_str().filter(|path| !path.is_empty()).unwrap_or("the arguments");
        format!("{path}: expected {}", error["expected"].as_str().unwrap_or_default())
    });
    let message = first.unwrap_or_else(|| "the arguments do not fit the schema of the tool".to_owned());
    Err(GatewayError::new(GatewayErrorCode::ArgsInvalid, message).detail("errors", errors))
}

//! How a call begins.

use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_model::json::{JsonMap, type_name};

use super::finish::with_repairs;
use super::info::{CallInfo, CallKind, NextStep};
use super::open_calls::{OpenCall, WaitingCall};
use super::request::CallRequest;
use super::step::{CallStep, ForwardedCall, RpcError};
use super::validate::validate;
use super::{ClientLimits, Gateway, passing};
use crate::cache::cache_key;
use crate::failure::{Checked, GatewayError, GatewayErrorCode};
use crate::front::{Resolved, ToolPlace};
use crate::policy::PolicyAction;
use crate::repair::{ArgumentRepair, RepairedArguments, repair_arguments, repair_json_texts};
use crate::servers::Server;

/// Invalid parameters, as JSON-RPC calls it.
pub(crate) const INVALID_PARAMS: i64 = -32_602;

/// Who calls, and what the client can do.
#[derive(Debug, Clone)]
pub(crate) struct CallContext {
    pub session: String,
    pub caller: Option<String>,
    pub meta: JsonMap,
    pub limits: ClientLimits,
    pub can_confirm: bool,
    pub now_ms: u64,
}

/// A call whose arguments were looked at.
#[derive(Debug, Clone)]
pub(crate) struct ReadyCall {
    pub place: ToolPlace,
    /// What the client calls the tool.
    pub label: String,
    pub arguments: JsonMap,
    pub repairs: Vec<ArgumentRepair>,
    /// Whether the user must be asked.
    pub asks: bool,
}

impl Gateway {
    /// Says what to do with a call of a client.
    ///
    /// The order: how often the client calls, the policy, the arguments, the user, what is kept of results, the server. What
    /// is denied says nothing of the schema, and counts. What a client does wrong is told to the client.
    ///
    /// # Errors
    /// `INVALID_INPUT` when the name of the session is empty.
    pub fn begin_call(&mut self, request: CallRequest) -> Result<NextStep> {
        let CallRequest { session, caller, name, arguments, meta, client, can_confirm, now_ms } = request;
        if session.is_empty() {
            let message = "the name of a session is empty";
            return Err(Error::new(ErrorCode::InvalidInput, message).at("/session"));
        }
        self.heard_of(&session);
        let limits = ClientLimits::of(client, &meta);
        let meta = passing(meta, &self.options.meta_allow);
        let context = CallContext { session, caller, meta, limits, can_confirm, now_ms };
        Ok(self.begun(&name, arguments, &context))
    }

    fn begun(&mut self, name: &str, arguments: Value, context: &CallContext) -> NextStep {
        let names = &self.options.names;
        // Those of search mode are answered in any: what was listed may change while a client works.
        let own = [
            (&names.drilldown, CallKind::Drilldown),
            (&names.recall, CallKind::Recall),
            (&names.search_tools, CallKind::Search),
            (&names.call_tool, CallKind::Tool),
        ];
        let Some((_, kind)) = own.into_iter().find(|(own, _)| name == *own) else {
            return match self.resolve(&context.session, name) {
                Resolved::Tool(place) => self.call_tool(CallInfo::default(), place, arguments, context),
                found => self.unknown_tool(name, found, context),
            };
        };
        let info = CallInfo::of_own(kind, name);
        let arguments = match object(arguments, "arguments") {
            Ok(map) => map,
            Err(error) => return self.next_step(info, Err(error.at(name))),
        };
        let step = match kind {
            CallKind::Tool => return self.call_by_name(info, arguments, context),
            CallKind::Search => {
                self.count("tool_browse", None, context).and_then(|()| self.search_tools(context, arguments))
            }
            CallKind::Drilldown => {
                self.count("tool_view", None, context).and_then(|()| self.drilldown(context, arguments))
            }
            CallKind::Recall => self.count("tool_view", None, context).and_then(|()| self.recall(context, arguments)),
        };
        self.next_step(info, step)
    }

    /// Returns the tool that a name means to a client.
    pub(crate) fn resolve(&self, session: &str, name: &str) -> Resolved {
        let seen = self.sessions.get(session).map(super::Session::seen_names).unwrap_or_default();
        self.names.resolve(name, seen, &self.servers)
    }

    fn unknown_tool(&mut self, name: &str, found: Resolved, context: &CallContext) -> NextStep {
        let error = self.no_tool(name, found, context);
        if error.retryable {
            return self.next_step(CallInfo::default(), Err(error));
        }
        self.stats.refused(&error);
        let info = CallInfo::default().ended_with(error.code);
        let step = CallStep::Error(RpcError { code: INVALID_PARAMS, message: error.message, data: None });
        NextStep { step, info }
    }

    /// Counts an access of a client, unless there were too many.
    pub(crate) fn count(&mut self, meta_tool: &str, tool: Option<&str>, context: &CallContext) -> Checked<()> {
        let Self { sessions, options, .. } = self;
        let (session, _) = sessions.touch(&context.session);
        let now = context.now_ms as f64;
        let ruling = session.rate.check(&options.rate_limits, Some(meta_tool), tool, now);
        if let Some(error) = ruling.to_error() {
            return Err(error.at(tool.unwrap_or_default()));
        }
        session.rate.record(&options.rate_limits, Some(meta_tool), tool, now);
        Ok(())
    }

    /// Calls a tool that a client knows by its name. `info` describes the call where the server has not listed the tool yet.
    pub(crate) fn call_tool(
        &mut self,
        info: CallInfo,
        place: ToolPlace,
        given: Value,
        context: &CallContext,
    ) -> NextStep {
        let label = self.names.table.name(place).to_owned();
        if let Some(error) = self.starting(place) {
            return self.next_step(info, Err(error.at(label)));
        }
        let info = self.info_of(place).unwrap_or(info);
        match self.ready(place, label, given, context) {
            Ok(call) => self.go_on(info, call, context),
            Err(error) => self.next_step(info, Err(error)),
        }
    }

    /// What a model is told of a tool that its server had in an earlier run, until the server has listed.
    fn starting(&self, place: ToolPlace) -> Option<GatewayError> {
        self.servers.get(place.server).filter(|server| server.is_awaited()).map(Server::unavailable_error)
    }

    /// Checks a call, up to its arguments.
    fn ready(&mut self, place: ToolPlace, label: String, given: Value, context: &CallContext) -> Checked<ReadyCall> {
        let key = self.limited_as(place, &label);
        self.count("tool_execute", Some(&key), context).map_err(|error| error.at(label.as_str()))?;
        let asks = self.allowed(place, context).map_err(|error| error.at(label.as_str()))?;
        let (arguments, repairs) = self.arguments(place, given).map_err(|error| error.at(label.as_str()))?;
        Ok(ReadyCall { place, label, arguments, repairs, asks })
    }

    /// The name by which a limit may mean a tool: the one that a client knows, or that of its server.
    fn limited_as(&self, place: ToolPlace, label: &str) -> String {
        let Some((server, tool)) = self.tool(place) else { return label.to_owned() };
        let limits = &self.options.rate_limits;
        let forms = [label.to_owned(), format!("{}__{}", server.name, tool.name()), tool.name().to_owned()];
        forms.iter().find(|form| limits.names(form)).unwrap_or(&forms[0]).clone()
    }

    /// Asks the policy; tells whether the user must be asked.
    pub(crate) fn allowed(&self, place: ToolPlace, context: &CallContext) -> Checked<bool> {
        let gone = || GatewayError::new(GatewayErrorCode::HydrateFailed, "the tool is not listed any more");
        let (_, tool) = self.tool(place).ok_or_else(gone)?;
        if self.options.visibility.as_ref().is_some_and(|profile| !profile.ruling(&tool.item).0) {
            return Err(gone());
        }
        let subject = self.subject(place, "tool_execute", context.caller.as_deref());
        let ruling = self.ruling(&subject);
        if let Some(error) = ruling.to_error(&subject)
            && (ruling.action == PolicyAction::Deny || !context.can_confirm)
        {
            return Err(GatewayError { path: String::new(), ..error });
        }
        if !tool.is_usable() {
            let message = "the tool is in quarantine until the operator of the gateway accepts it";
            return Err(GatewayError::new(GatewayErrorCode::PolicyDenied, message).detail("reason", "quarantine"));
        }
        Ok(ruling.action == PolicyAction::Ask)
    }

    /// Reads arguments as the tool wants them, and checks them.
    pub(crate) fn arguments(&self, place: ToolPlace, given: Value) -> Checked<(JsonMap, Vec<ArgumentRepair>)> {
        let empty = JsonMap::new();
        let schema = self.tool(place).map_or(&empty, |(_, tool)| &tool.schema);
        let (given, mut repairs) =
            if given.is_null() { (given, Vec::new()) } else { self.repaired(given, &Value::Object(schema.clone())) };
        let mut arguments = object(given, "the arguments of a tool")?;
        if let Some(said) = self.tool(place).and_then(|(server, tool)| server.override_of(tool.name())) {
            repairs.extend(said.complete(schema, &mut arguments));
        }
        if self.options.validate {
            validate(schema, &arguments)?;
        }
        Ok((arguments, repairs))
    }

    /// Mends arguments; also says what was mended. JSON in quotes is mended in any case where the schema has no text: nothing else
    /// can be meant.
    fn repaired(&self, mut given: Value, schema: &Value) -> (Value, Vec<ArgumentRepair>) {
        type Repair = fn(&Value, &Value) -> RepairedArguments;
        let rules: [(bool, Repair); 2] = [(true, repair_json_texts), (self.options.tolerant_args, repair_arguments)];
        let mut all = Vec::new();
        for (_, repair) in rules.iter().filter(|(is_wanted, _)| *is_wanted) {
            let RepairedArguments { args, repairs } = repair(&given, schema);
            given = args;
            all.extend(repairs);
        }
        (given, all)
    }

    /// Goes on with a call whose arguments are good: to the user, or on.
    fn go_on(&mut self, info: CallInfo, call: ReadyCall, context: &CallContext) -> NextStep {
        if !call.asks {
            return self.send(info, call, context);
        }
        let step = self.ask(&call, context).ok_or_else(|| too_many(&call.label));
        self.next_step(info, step)
    }

    /// Keeps a call until its user has answered; nothing where too many are open.
    fn ask(&mut self, call: &ReadyCall, context: &CallContext) -> Option<CallStep> {
        let (server, tool) = self.tool(call.place)?;
        let what = if tool.hints.read_only_hint {
            "It says that it only reads."
        } else if tool.hints.destructive_hint {
            "It may change or delete data."
        } else {
            "It may add data."
        };
        let message = format!("Allow the tool `{}` of the server \"{}\" to run? {what}", call.label, server.name);
        let waiting = WaitingCall {
            arguments: call.arguments.clone(),
            meta: context.meta.clone(),
            limits: context.limits.clone(),
            digest: tool.digest.clone(),
        };
        let number = self.open(call, Some(waiting), None, context)?;
        Some(CallStep::Confirm { call: number, message })
    }

    /// Answers a call from what is kept, or sends it to its server.
    fn send(&mut self, info: CallInfo, call: ReadyCall, context: &CallContext) -> NextStep {
        let key = self.cache_key(&call, context.limits.chars);
        if let Some(key) = &key
            && let Some(reply) = self.sessions.touch(&context.session).0.cached(key, context.now_ms)
        {
            self.stats.cache_hits += 1;
            let step = CallStep::Reply(with_repairs(reply, &call.repairs));
            return NextStep { step, info: CallInfo { cache_hit: true, ..info } };
        }
        let step = self.forward(call, key, context);
        self.next_step(info, step)
    }

    fn forward(&mut self, call: ReadyCall, key: Option<String>, context: &CallContext) -> Checked<CallStep> {
        if let Some(error) = self.unavailable(call.place) {
            return Err(error.at(call.label));
        }
        let keeps_reply = key.is_some();
        let number = self.open(&call, None, key, context).ok_or_else(|| too_many(&call.label))?;
        self.forwarded(number, call, context, keeps_reply).ok_or_else(|| too_many(""))
    }

    fn unavailable(&self, place: ToolPlace) -> Option<GatewayError> {
        let (server, _) = self.tool(place)?;
        server.is_unavailable().then(|| server.unavailable_error())
    }

    /// The key under which the result of a call is kept; nothing where it is not.
    fn cache_key(&self, call: &ReadyCall, chars: Option<u64>) -> Option<String> {
        let policy = self.options.cache.as_ref()?;
        let (_, tool) = self.tool(call.place)?;
        let is_kept = tool.hints.read_only_hint && policy.covers(&tool.item.id, tool.name());
        let key = is_kept.then(|| cache_key(&tool.item.id, &Value::Object(call.arguments.clone())))?;
        // What was shown within one limit may be too much for another.
        Some(chars.map_or_else(|| key.clone(), |chars| format!("{key}:{chars}")))
    }

    fn open(
        &mut self,
        call: &ReadyCall,
        waiting: Option<WaitingCall>,
        cache_key: Option<String>,
        context: &CallContext,
    ) -> Option<u64> {
        let (server, tool) = self.tool(call.place)?;
        let is_idempotent = tool.hints.read_only_hint || tool.hints.idempotent_hint;
        let target = server.tool_ref(call.place);
        let attempts = u32::from(waiting.is_none());
        let (session, label, repairs) = (context.session.clone(), call.label.clone(), call.repairs.clone());
        let mode = self.mode_of(&session);
        self.calls.add(OpenCall {
            session,
            tool: target,
            label,
            mode,
            waiting,
            attempts,
            repairs,
            cache_key,
            is_idempotent,
        })
    }

    fn forwarded(&self, number: u64, call: ReadyCall, context: &CallContext, keeps_reply: bool) -> Option<CallStep> {
        let size = self.result_size(call.place, &context.limits);
        let (server, tool) = self.tool(call.place)?;
        Some(CallStep::Forward(Box::new(ForwardedCall {
            call: number,
            server: server.name.clone(),
            tool: tool.name().to_owned(),
            arguments: call.arguments,
            meta: context.meta.clone(),
            keeps_reply,
            app: tool.app_use(),
            result_tokens: size.tokens,
            result_chars: size.chars,
            task_support: tool.task_support().map(str::to_owned),
            output_schema: tool.output_schema.clone(),
        })))
    }

    /// Goes on with a call after its user was asked.
    ///
    /// # Errors
    /// `NOT_FOUND` for a call that does not wait for its user.
    ///
    /// ```
    /// use contextweaver_gateway::{CallRequest, CallStep, Gateway, GatewayOptions};
    /// use serde_json::json;
    ///
    /// let options = json!({ "servers": [{ "name": "a" }], "policy": { "rules": [{ "action": "ask", "destructive": true }] } });
    /// let mut gateway = Gateway::new(GatewayOptions::from_value(options)?);
    /// gateway.set_listing("a", br#"{"tools":[{"name":"erase"}]}"#)?;
    /// let call = CallRequest { session: "s".into(), name: "erase".into(), can_confirm: true, ..CallRequest::default() };
    /// let CallStep::Confirm { call, .. } = gateway.begin_call(call)?.step else { panic!() };
    /// assert!(matches!(gateway.confirm_call(call, true, 0)?.step, CallStep::Forward(_)));
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn confirm_call(&mut self, call: u64, accepted: bool, now_ms: u64) -> Result<NextStep> {
        let (open, waiting) = self.calls.take_waiting(call)?;
        let info = self.info_of_open(&open.tool);
        let place = match self.confirmed(&open, &waiting, accepted) {
            Ok(place) => place,
            Err(error) => return Ok(self.next_step(info, Err(error.at(open.label)))),
        };
        let OpenCall { session, label, repairs, .. } = open;
        let WaitingCall { arguments, meta, limits, .. } = waiting;
        let context = CallContext { session, caller: None, meta, limits, can_confirm: false, now_ms };
        Ok(self.send(info, ReadyCall { place, label, arguments, repairs, asks: false }, &context))
    }

    /// Returns where the tool is that the user allowed.
    fn confirmed(&self, open: &OpenCall, waiting: &WaitingCall, accepted: bool) -> Checked<ToolPlace> {
        if !accepted {
            let error = GatewayError::new(GatewayErrorCode::AuthRequired, "the user did not allow this call");
            return Err(error.detail("approval", "declined"));
        }
        // The user allowed the tool as it was.
        let is_same = |place: &ToolPlace| {
            self.tool(*place).is_some_and(|(_, tool)| tool.is_usable() && tool.digest == waiting.digest)
        };
        let message = "the tool has changed since the user was asked";
        let changed = || GatewayError::new(GatewayErrorCode::HydrateFailed, message);
        self.place(&open.tool).filter(is_same).ok_or_else(changed)
    }

    /// Gives a call up.
    pub fn cancel_call(&mut self, call: u64) {
        self.calls.drop(call);
    }
}

/// Takes arguments, of which there may be none; `what` they are is told where they are something else.
pub(crate) fn object(arguments: Value, what: &str) -> Checked<JsonMap> {
    match arguments {
        Value::Null => Ok(JsonMap::new()),
        Value::Object(map) => Ok(map),
        other => {
            let message = format!("{what} are an object, not {}", type_name(&other));
            Err(GatewayError::new(GatewayErrorCode::ArgsInvalid, message))
        }
    }
}

pub(crate) fn too_many(label: &str) -> GatewayError {
    GatewayError::new(GatewayErrorCode::RateLimited, "too many calls are open; try again later").at(label)
}

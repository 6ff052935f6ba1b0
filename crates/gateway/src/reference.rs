//! The meta-tools of contextweaver 0.18 and their replies.

use serde_json::{Value, json};

use contextweaver_model::json::{JsonMap, python, type_name};
use contextweaver_routing::cards::{ChoiceCard, truncate_description};
use contextweaver_text::redact::{SECRET_MASK, SecretRules, redact_value};
use contextweaver_text::tokens::Estimator;

use crate::browse::{Browsed, cards};
use crate::failure::{GatewayError, GatewayErrorCode};
use crate::front::own::{does_anything, reads_here, tool};
use crate::front::{ToolPlace, safe_line};
use crate::options::MAX_BROWSED;
use crate::policy::PolicyAction;
use crate::runtime::{CallContext, CallKind, CallStep, Checked, Gateway, head, object};

/// Tokens of a description in the list of a proxy.
const STRIPPED_TOKENS: u64 = 60;
/// Tokens of a part of a result that is read.
const VIEW_TOKENS: u64 = 2_000;
/// Code points of the beginning of a result, unless the model says otherwise.
const HEAD_CHARS: u64 = 500;

fn browse_schema() -> Value {
    json!({ "type": "object", "properties": {
        "query": { "type": "string" }, "path": { "type": "string" },
        "top_k": { "type": "integer", "minimum": 1, "maximum": MAX_BROWSED },
    }, "additionalProperties": false })
}

fn execute_tool() -> JsonMap {
    let schema = json!({ "type": "object", "properties": {
        "tool_id": { "type": "string" }, "args": { "type": "object" }, "dry_run": { "type": "boolean" },
    }, "required": ["tool_id", "args"], "additionalProperties": false });
    let text = "Run a tool by its id. With dry_run its arguments and the policy are checked and nothing is run.";
    tool("tool_execute", text, schema, does_anything())
}

fn hydrate_tool() -> JsonMap {
    let schema = json!({ "type": "object", "properties": { "tool_id": { "type": "string" } }, "required": ["tool_id"],
        "additionalProperties": false });
    tool("tool_hydrate", "Read the schema of a tool's arguments by its id.", schema, reads_here())
}

/// Returns the meta-tools of a gateway: `tool_browse`, `tool_execute` and `tool_view`.
pub fn gateway_meta_tools() -> Vec<JsonMap> {
    let view = json!({ "type": "object", "properties": {
        "handle": { "type": "string" }, "selector": { "type": "object" },
    }, "required": ["handle", "selector"], "additionalProperties": false });
    let browse =
        "Find tools by a query, or go through their namespaces by a path that begins at `/`. Give one of both.";
    let read = "Read a part of a stored result. Selectors: {\"type\": \"head\", \"chars\"}, {\"type\": \"lines\" or \"rows\", \
                \"start\", \"end\"}, {\"type\": \"json_keys\", \"keys\"}.";
    vec![
        tool("tool_browse", browse, browse_schema(), reads_here()),
        execute_tool(),
        tool("tool_view", read, view, reads_here()),
    ]
}

/// Returns the meta-tools of a transparent proxy: `tool_hydrate` and `tool_execute`.
pub fn proxy_meta_tools() -> Vec<JsonMap> {
    vec![hydrate_tool(), execute_tool()]
}

/// Returns the meta-tools over resources and prompts.
pub fn primitive_meta_tools() -> Vec<JsonMap> {
    let one = |key: &str, more: Value| {
        let mut properties = json!({ key: { "type": "string" } });
        if let (Some(map), Value::Object(more)) = (properties.as_object_mut(), more) {
            map.extend(more);
        }
        json!({ "type": "object", "properties": properties, "required": [key], "additionalProperties": false })
    };
    let find = |kind: &str| format!("Find {kind} by a query, or by a path that begins at `/`. Give one of both.");
    vec![
        tool("resource_browse", &find("resources"), browse_schema(), reads_here()),
        tool("resource_read", "Read a resource by its id.", one("resource_id", json!({})), reads_here()),
        tool("prompt_browse", &find("prompts"), browse_schema(), reads_here()),
        tool(
            "prompt_get",
            "Get a prompt by its id.",
            one("prompt_id", json!({ "args": { "type": "object" } })),
            reads_here(),
        ),
    ]
}

/// Says what is wrong with the arguments of a meta-tool.
fn invalid(message: impl Into<String>) -> GatewayError {
    GatewayError::new(GatewayErrorCode::ArgsInvalid, message)
}

/// Takes a text that must be there.
pub(crate) fn required(arguments: &mut JsonMap, key: &str) -> Checked<String> {
    match arguments.shift_remove(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text),
        other => Err(invalid(format!("`{key}` is a string, not {}", type_name(&other.unwrap_or_default())))),
    }
}

/// Takes arguments of a tool or a prompt; what says nothing is none, as contextweaver 0.18 has it.
pub(crate) fn given(arguments: &mut JsonMap) -> Checked<JsonMap> {
    match arguments.shift_remove("args") {
        Some(Value::Object(map)) => Ok(map),
        None => Ok(JsonMap::new()),
        Some(other) if !python::is_truthy(&other) => Ok(JsonMap::new()),
        Some(other) => Err(invalid(format!("`args` is an object, not {}", type_name(&other)))),
    }
}

/// What a browse is to show.
pub(crate) enum BrowseRequest {
    Query(String, usize),
    Path(String, Option<usize>),
}

impl BrowseRequest {
    pub fn read(mut arguments: JsonMap, top_k: usize) -> Checked<Self> {
        let mut text = |key: &str| match arguments.shift_remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(invalid(format!("`{key}` is a string, not {}", type_name(&other)))),
        };
        let (query, path) = (text("query")?, text("path")?);
        let asked = match arguments.shift_remove("top_k") {
            None | Some(Value::Null) => None,
            Some(number) => match number.as_u64().filter(|number| (1..=MAX_BROWSED).contains(number)) {
                Some(number) => Some(number as usize),
                None => return Err(invalid(format!("`top_k` is a whole number from 1 to {MAX_BROWSED}"))),
            },
        };
        match (query, path) {
            (Some(query), None) => Ok(Self::Query(query, asked.unwrap_or(top_k))),
            (None, Some(path)) => Ok(Self::Path(path, asked)),
            _ => Err(invalid("give exactly one of `query` and `path`")),
        }
    }

    pub fn run(&self, browsed: &mut Browsed) -> Checked<Vec<ChoiceCard>> {
        match self {
            Self::Query(query, top_k) => Ok(browsed.by_query(query, *top_k)),
            Self::Path(path, top_k) => browsed.by_path(path, *top_k),
        }
    }
}

impl Gateway {
    /// The tools that a client sees in reference mode.
    pub(crate) fn reference_front(&mut self, caller: Option<&str>) -> Vec<JsonMap> {
        if self.options.reference.proxy {
            let mut tools = self.stripped_tools(caller);
            tools.extend(proxy_meta_tools());
            return tools;
        }
        let mut tools = gateway_meta_tools();
        tools.push(hydrate_tool());
        let [has_resources, has_prompts] = self.has_primitives();
        tools.extend(primitive_meta_tools().into_iter().filter(|tool| {
            let is_of = |kind: &str| tool["name"].as_str().is_some_and(|name| name.starts_with(kind));
            is_of("resource") && has_resources || is_of("prompt") && has_prompts
        }));
        tools
    }

    /// Every tool by its id, without its schema.
    pub(crate) fn stripped_tools(&mut self, caller: Option<&str>) -> Vec<JsonMap> {
        let hidden = self.hidden(None, caller);
        let count = |text: &str| Estimator::V3.tokens(text);
        let items = self.index().router().catalog().items().filter(|item| !hidden.contains(&item.id));
        items
            .map(|item| {
                let about = crate::failure::upstream_detail_within(&item.description, 4_000);
                let about = truncate_description(&about, STRIPPED_TOKENS, &count);
                let tool = json!({ "name": item.id, "description": about, "inputSchema": { "type": "object" } });
                if let Value::Object(map) = tool { map } else { JsonMap::new() }
            })
            .collect()
    }

    /// Begins a call of a meta-tool.
    pub(crate) fn begin_reference(&mut self, name: &str, arguments: Value, context: &CallContext) -> CallStep {
        let arguments = match object(arguments, "arguments") {
            Ok(map) => map,
            Err(error) => return self.refuse(&error),
        };
        let is_proxy = self.options.reference.proxy;
        let kind = match name {
            "tool_browse" | "tool_hydrate" | "resource_browse" | "prompt_browse" => Some(CallKind::Search),
            "tool_view" => Some(CallKind::Drilldown),
            "resource_read" => Some(CallKind::Resource),
            "prompt_get" => Some(CallKind::Prompt),
            "tool_execute" => Some(CallKind::Tool),
            _ => None,
        };
        if let Some(kind) = kind {
            self.about_own(kind, name);
        }
        let step = match name {
            "tool_browse" if !is_proxy => self.reference_browse(arguments, context),
            "tool_execute" => self.reference_execute(arguments, context),
            "tool_view" if !is_proxy => self.reference_view(arguments, context),
            "tool_hydrate" => self.reference_hydrate(arguments, context),
            "resource_browse" | "resource_read" | "prompt_browse" | "prompt_get" if !is_proxy => {
                self.reference_primitive(name, arguments, context)
            }
            other if is_proxy && self.index().place(other).is_some() => {
                Err(invalid("call `tool_execute` with this name as `tool_id`"))
            }
            other => Err(invalid(format!("no meta-tool is called `{}`", safe_line(other)))),
        };
        step.unwrap_or_else(|error| self.refuse(&error))
    }

    fn reference_browse(&mut self, arguments: JsonMap, context: &CallContext) -> Checked<CallStep> {
        self.count("tool_browse", None, context)?;
        let options = self.options.reference;
        let request = BrowseRequest::read(arguments, options.top_k)?;
        let hidden = self.hidden(None, context.caller.as_deref());
        let mut found = request.run(&mut Browsed { router: self.index().router(), hidden })?;
        if options.cache_stable {
            found = self.sessions.touch(&context.session).0.seen.stable(found, options.top_k.max(found_most(&request)));
        }
        Ok(CallStep::text(&json!(found).to_string(), false))
    }

    /// Looks a tool up; one that is hidden from the client is not there.
    fn by_id(&mut self, id: &str) -> Checked<ToolPlace> {
        let found = self.index().place(id);
        let message = "no tool has this id; `tool_browse` finds ids";
        let unknown = || GatewayError::new(GatewayErrorCode::HydrateFailed, message).at(safe_line(id));
        found.ok_or_else(|| self.not_known_yet(id).unwrap_or_else(unknown))
    }

    /// Notes that a session knows a tool.
    fn note_seen(&mut self, id: &str, context: &CallContext) {
        if !self.options.reference.cache_stable {
            return;
        }
        let card = self.index().router().catalog().find(id).and_then(|item| cards(std::iter::once(item), None).pop());
        if let Some(card) = card {
            self.sessions.touch(&context.session).0.seen.note(&card);
        }
    }

    fn reference_hydrate(&mut self, mut arguments: JsonMap, context: &CallContext) -> Checked<CallStep> {
        self.count("tool_hydrate", None, context)?;
        let id = required(&mut arguments, "tool_id")?;
        let place = self.by_id(&id)?;
        self.allowed(place, &CallContext { can_confirm: true, ..context.clone() })
            .map_err(|error| error.at(id.as_str()))?;
        self.note_seen(&id, context);
        let Some((_, tool)) = self.tool(place) else { return Err(invalid("")) };
        let schema = redact_value(&Value::Object(tool.schema.clone()), SecretRules::Full, SECRET_MASK);
        let item = &tool.item;
        let record =
            json!({ "tool_id": id, "args_schema": schema, "examples": item.examples, "constraints": item.constraints });
        Ok(CallStep::text(&record.to_string(), false))
    }

    fn reference_execute(&mut self, mut arguments: JsonMap, context: &CallContext) -> Checked<CallStep> {
        let id = required(&mut arguments, "tool_id")?;
        let given = given(&mut arguments)?;
        let is_dry = match arguments.shift_remove("dry_run") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_dry)) => is_dry,
            Some(other) => return Err(invalid(format!("`dry_run` is true or false, not {}", type_name(&other)))),
        };
        let place = self.by_id(&id)?;
        if is_dry {
            return self.dry_run(place, &id, given, context);
        }
        let call = self.ready(place, id.clone(), Value::Object(given), context)?;
        self.note_seen(&id, context);
        Ok(self.go_on(call, context))
    }

    /// Tells what would become of a call. Counts nothing; of what is denied, the arguments are not looked at.
    fn dry_run(&mut self, place: ToolPlace, id: &str, given: JsonMap, context: &CallContext) -> Checked<CallStep> {
        let Some((_, tool)) = self.tool(place) else { return Err(invalid("")) };
        let subject = self.subject(place, "tool_execute", context.caller.as_deref());
        let ruling = self.ruling(&subject);
        let status = match ruling.action {
            PolicyAction::Allow => "pass",
            PolicyAction::Deny => GatewayErrorCode::PolicyDenied.as_str(),
            PolicyAction::Ask => GatewayErrorCode::AuthRequired.as_str(),
        };
        let annotations = redact_value(&Value::Object(tool.item.metadata.clone()), SecretRules::Full, SECRET_MASK);
        let upstream = safe_line(tool.name());
        let checked = self.arguments(place, Value::Object(given));
        if let Err(error) = checked {
            let denied = ruling.to_error(&subject).filter(|_| ruling.action == PolicyAction::Deny);
            return Err(denied.unwrap_or(error).at(id));
        }
        let limits = &self.options.rate_limits;
        let rate = self.sessions.get(&context.session).map(|session| session.rate.clone()).unwrap_or_default();
        let may = rate.check(limits, Some("tool_execute"), Some(id), context.now_ms as f64).allowed;
        let mut annotations = if let Value::Object(map) = annotations { map } else { JsonMap::new() };
        annotations.shift_remove(contextweaver_model::RESERVED_KEY);
        annotations.insert("verified".to_owned(), false.into());
        let mut checks = vec![
            json!({ "name": "schema_validation", "status": "pass" }),
            json!({ "name": "rate_limit", "status": if may { "pass" } else { "fail" } }),
        ];
        if ruling.rule_index.is_some() || status != "pass" {
            checks.push(json!({ "name": "policy", "status": status }));
        }
        let report = json!({ "dry_run": true, "tool_id": id, "upstream_name": upstream, "args_valid": true,
            "annotations": annotations, "checks": checks });
        Ok(CallStep::text(&report.to_string(), false))
    }

    fn reference_view(&mut self, mut arguments: JsonMap, context: &CallContext) -> Checked<CallStep> {
        self.count("tool_view", None, context)?;
        let handle = required(&mut arguments, "handle")?;
        let failed = |message: &str| GatewayError::new(GatewayErrorCode::ViewFailed, message).at(safe_line(&handle));
        let selector = match arguments.shift_remove("selector") {
            Some(Value::Object(selector)) => selector,
            None | Some(Value::Null) => return Err(failed("a selector says which part: {\"type\": \"head\"}")),
            Some(other) => return Err(invalid(format!("`selector` is an object, not {}", type_name(&other)))),
        };
        let selector = drilldown_selector(selector).map_err(|message| failed(&message))?;
        if let Some(error) = self.view_refusal(&handle, context) {
            return Err(error);
        }
        self.stats.drilldowns += 1;
        Ok(CallStep::Drilldown { handle, selector, max_tokens: Some(VIEW_TOKENS), plain: true })
    }
}

fn found_most(request: &BrowseRequest) -> usize {
    match request {
        BrowseRequest::Query(..) => 0,
        BrowseRequest::Path(..) => usize::MAX,
    }
}

/// Turns a selector of `tool_view` into one of a drilldown.
fn drilldown_selector(mut selector: JsonMap) -> Result<JsonMap, String> {
    let kind = selector.shift_remove("type");
    let mut number = |key: &str| match selector.shift_remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(number) if number.is_i64() || number.is_u64() => Ok(Some(number)),
        Some(other) => Err(format!("`{key}` is a whole number, not {}", type_name(&other))),
    };
    let mut out = JsonMap::new();
    let name = match kind.as_ref().and_then(Value::as_str) {
        Some("head") => {
            out = head();
            let chars = number("chars")?.unwrap_or_else(|| HEAD_CHARS.into());
            if chars.as_i64().is_some_and(|chars| chars < 1) {
                return Err("`chars` is at least 1".to_owned());
            }
            out.insert("chars".to_owned(), chars);
            return Ok(out);
        }
        // Rows are lines there.
        Some("lines" | "rows") => {
            for key in ["start", "end"] {
                if let Some(place) = number(key)? {
                    out.insert(key.to_owned(), place);
                }
            }
            "lines"
        }
        Some("json_keys") => {
            let keys = selector.shift_remove("keys").unwrap_or_default();
            if !keys.as_array().is_some_and(|keys| keys.iter().all(Value::is_string)) {
                return Err("`keys` is a list of names".to_owned());
            }
            out.insert("keys".to_owned(), keys);
            "json_keys"
        }
        _ => return Err("the type of a selector is head, lines, rows or json_keys".to_owned()),
    };
    out.insert("type".to_owned(), name.into());
    Ok(out)
}

//! Reading on in stored results.

use serde_json::Value;

use contextweaver_base::limits;
use contextweaver_model::json::JsonMap;

use super::Gateway;
use super::call::CallContext;
use super::step::CallStep;
use crate::failure::Checked;
use crate::failure::{GatewayError, GatewayErrorCode};
use crate::front::safe_line;
use crate::policy::PolicySubject;
use crate::servers::ToolRef;

impl Gateway {
    /// Reads on in a stored result, where the policy of the tool that it is of allows that.
    pub(super) fn drilldown(&mut self, context: &CallContext, mut arguments: JsonMap) -> Checked<CallStep> {
        let Some(Value::String(handle)) = arguments.shift_remove("handle") else {
            return Err(invalid("`handle` is a string: the handle of a stored result"));
        };
        let selector = match arguments.shift_remove("selector") {
            Some(Value::Object(selector)) => selector,
            None => head(),
            Some(_) => return Err(invalid("`selector` is an object, such as {\"type\": \"head\"}")),
        };
        let max_tokens = max_tokens(&mut arguments)?;
        if let Some(error) = self.view_refusal(&handle, context) {
            return Err(error);
        }
        self.stats.drilldowns += 1;
        Ok(CallStep::Drilldown { handle, selector, max_tokens })
    }

    /// Searches the stored results that the policies of their tools allow to read.
    pub(super) fn recall(&mut self, context: &CallContext, mut arguments: JsonMap) -> Checked<CallStep> {
        let query = match arguments.shift_remove("query") {
            Some(Value::String(query)) if !query.trim().is_empty() => query,
            _ => return Err(invalid("`query` is a text: words that stood near what is wanted")),
        };
        let max_tokens = max_tokens(&mut arguments)?;
        let handles = (!self.allows_every_view()).then(|| {
            let known = self.sessions.get(&context.session).into_iter().flat_map(super::Session::handles);
            known.filter(|handle| self.view_refusal(handle, context).is_none()).cloned().collect()
        });
        self.stats.recalls += 1;
        Ok(CallStep::Recall { query, max_tokens, handles })
    }

    /// Tells whether no policy keeps anybody from reading any result.
    fn allows_every_view(&self) -> bool {
        let mut own = self.options.servers.iter().filter_map(|server| server.policy.as_ref());
        self.options.policy.allows_all("tool_view") && own.all(|own| own.allows_all("tool_view"))
    }

    /// Returns why a client may not read a stored result; nothing where it may.
    ///
    /// Of a result whose tool is not known, after a restart for instance, only a policy allows reading that refuses none.
    pub(crate) fn view_refusal(&self, handle: &str, context: &CallContext) -> Option<GatewayError> {
        let owner = self.sessions.get(&context.session).and_then(|session| session.owner(handle));
        let caller = context.caller.as_deref();
        if let Some(place) = owner.and_then(|owner| self.place(owner)).filter(|place| self.tool(*place).is_some()) {
            let subject = self.subject(place, "tool_view", caller);
            // Nobody is asked for each page of a result that was allowed already.
            return self.ruling(&subject).to_error(&subject).map(|error| error.at(safe_line(handle)));
        }
        if self.allows_every_view() {
            return None;
        }
        let message = "this client has no such handle: a result belongs to the client that called the tool, over standard \
                       input and output or as its caller over HTTP; call the tool again";
        let subject = PolicySubject { meta_tool: Some("tool_view"), caller, ..PolicySubject::default() };
        let error = GatewayError::new(GatewayErrorCode::PolicyDenied, message).at(safe_line(handle));
        let error = error.detail("reason", "handle");
        Some(self.ruling(&subject).to_error(&subject).map_or(error, |error| error.at(safe_line(handle))))
    }

    /// Notes whose results handles are, after a restart: a policy may say that those of some tools are not to be read. Of a
    /// server that the options do not name any more nothing is noted: its results are read where no policy refuses any.
    pub fn own_handles(&mut self, session: &str, handles: Vec<(String, String, String)>) {
        let known = |(handle, server, name): (String, String, String)| {
            let server = self.server(&server).ok()?;
            Some((handle, ToolRef { server, name: name.into() }))
        };
        let owned: Vec<(String, ToolRef)> = handles.into_iter().filter_map(known).collect();
        let (session, _) = self.sessions.touch(session);
        for (handle, tool) in owned {
            session.own(&handle, &tool);
        }
    }
}

fn invalid(message: &str) -> GatewayError {
    GatewayError::new(GatewayErrorCode::ArgsInvalid, message)
}

/// Takes how much to answer at most.
fn max_tokens(arguments: &mut JsonMap) -> Checked<Option<u64>> {
    match arguments.shift_remove("max_tokens") {
        None | Some(Value::Null) => Ok(None),
        Some(number) => {
            let tokens = number.as_u64().filter(|tokens| (1..=limits::MAX_BUDGET_TOKENS).contains(tokens));
            tokens.map(Some).ok_or_else(|| invalid("`max_tokens` is a whole number from 1 on"))
        }
    }
}

/// The selector of the beginning.
fn head() -> JsonMap {
    let mut head = JsonMap::new();
    head.insert("type".to_owned(), "head".into());
    head
}

//! Operations of the decision memory.
//!
//! A call of a tool may need ids or vectors of the host: the answer then is `{"need": [...]}`, nothing has changed, and
//! the same operation is called again: with ids among its arguments, and after vectors came by [`take_vectors`]. Each such
//! call has a number of the host's, because others may run while it waits.

use serde_json::{Value, json};

use super::operation::{self, Operation};
use super::{One, bytes, done, done_with, write};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_decisions::DecisionLimits;
use contextweaver_decisions::ImportOptions;
use contextweaver_decisions::guardrails::OnRuleError;
use contextweaver_decisions::search::SearchOptions;
use contextweaver_decisions::service::ServiceOptions;
use contextweaver_decisions::service::{self, ContextQuery, HostContext, ToolReply, ToolRequest, rpc};
use contextweaver_decisions::{DecisionStore, DecisionStoreOptions};
use contextweaver_decisions::{HostAnswers, HostRequest};
use contextweaver_model::json::{self, Fields, wrong_type};

/// Tokens of past decisions in a prompt, unless the caller says otherwise.
const CONTEXT_TOKENS: u64 = 1000;

/// Operations that wait for vectors; the oldest are forgotten, as a host may give up one without saying so.
const MAX_WAITING: usize = 1024;

/// A store, and what the host answered to operations that are not done.
#[derive(Debug)]
pub struct DecisionSession {
    store: DecisionStore,
    waiting: Vec<(u64, HostAnswers)>,
}

impl DecisionSession {
    /// Takes what was answered to an operation.
    fn answers(&mut self, operation: u64) -> HostAnswers {
        let place = self.waiting.iter().position(|(waiting, _)| *waiting == operation);
        place.map(|place| self.waiting.remove(place).1).unwrap_or_default()
    }

    fn wait(&mut self, operation: u64, answers: HostAnswers) {
        if self.waiting.len() == MAX_WAITING {
            self.waiting.remove(0);
        }
        self.waiting.push((operation, answers));
    }
}

/// Makes a store from the JSON of its options.
pub fn new_store(options: &str) -> Result<DecisionSession> {
    let mut fields = Fields::open(json::parse(options)?, "")?;
    let options = DecisionStoreOptions {
        categories: fields.strings("categories")?,
        service: ServiceOptions::take(&mut fields)?,
        search: SearchOptions::take(&mut fields)?,
        on_rule_error: fields.parsed_or("on_rule_error", OnRuleError::default(), OnRuleError::parse)?,
        enforce_record_guardrails: fields.bool_or("enforce_record_guardrails", false)?,
        limits: fields.get::<Option<DecisionLimits>>("limits")?.unwrap_or_default(),
    };
    let rules = fields.take("guardrails");
    let presets = fields.strings("guardrail_presets")?;
    let breakers = fields.list("circuit_breakers")?;
    fields.finish()?;
    let mut store = DecisionStore::new(options);
    store.configure(rules.as_ref(), &presets, breakers)?;
    Ok(DecisionSession { store, waiting: Vec::new() })
}

/// Makes a store from options and from what [`snapshot`] returned.
pub fn restore_store(snapshot: &str, options: &str) -> Result<DecisionSession> {
    let mut session = new_store(options)?;
    session.store.restore(json::parse_snapshot(snapshot)?)?;
    Ok(session)
}

/// Returns a store as the JSON that [`restore_store`] reads.
pub fn snapshot(session: &DecisionSession) -> Result<Vec<u8>> {
    bytes(&session.store.export())
}

/// Returns the number of decisions.
pub fn size(session: &DecisionSession) -> usize {
    session.store.size()
}

/// Takes vectors of `{"call": number, "texts": [...]}`: the numbers of all, one text after the other, little-endian.
pub fn take_vectors(session: &mut DecisionSession, texts: &str, bytes: &[u8]) -> Result<()> {
    let mut fields = Fields::open(json::parse_snapshot(texts)?, "")?;
    let operation = fields.uint_or("call", 0, u64::MAX)?;
    let texts = fields.strings("texts")?;
    fields.finish()?;
    let numbers = bytes.len() / 4;
    let is_even = bytes.len().is_multiple_of(4) && numbers.is_multiple_of(texts.len().max(1));
    if texts.is_empty() || numbers == 0 || !is_even {
        let message = format!("{} bytes are no vectors of {} texts", bytes.len(), texts.len());
        return Err(Error::new(ErrorCode::CallbackFailed, message));
    }
    let mut answers = session.answers(operation);
    let vectors = bytes.chunks_exact(bytes.len() / texts.len());
    for (text, vector) in texts.into_iter().zip(vectors) {
        let number = |bytes: &[u8]| bytes.try_into().map(f32::from_le_bytes).unwrap_or_default();
        answers.add_vector(text, vector.chunks_exact(4).map(number).collect());
    }
    session.wait(operation, answers);
    Ok(())
}

/// The operations of a store.
pub const OPERATIONS: &[Operation<DecisionSession>] = &[
    Operation::of_large_fields("call_tool", |session, mut fields| {
        let name = fields.string("name")?;
        let arguments = fields.take("arguments").unwrap_or_else(|| json!({}));
        run_with_host(session, fields, |store, host| {
            Ok(service::call_tool(store, ToolRequest { name: &name, arguments, host }))
        })
    }),
    Operation::of_large_fields("handle_rpc", |session, mut fields| {
        if let Some(text) = fields.opt_string("text")? {
            return run_with_host(session, fields, |store, host| Ok(rpc::handle_text(store, &text, host)));
        }
        // Null is a message, too: one that is answered with an error.
        let message = fields.take("message").unwrap_or_default();
        run_with_host(session, fields, |store, host| Ok(rpc::handle(store, message, host)))
    }),
    Operation::of_large_fields("context", |session, mut fields| {
        let context = ContextQuery {
            query: fields.string("query")?,
            budget: fields.uint_or("budget_tokens", CONTEXT_TOKENS, limits::MAX_BUDGET_TOKENS)?,
            include: fields.take("include"),
        };
        run_with_host(session, fields, |store, host| service::context(store, &context, host))
    }),
    Operation::of_large_fields("import", import),
    Operation::of_large_fields("list_tools", |session, fields| {
        fields.finish()?;
        done(&One("tools", &service::list(&session.store)))
    }),
    Operation::of_large_fields("add_guardrails", |session, mut fields| {
        let rules = fields.require("rules")?;
        fields.finish()?;
        done(&session.store.add_rules(&rules)?)
    }),
    Operation::of_large_fields("remove_guardrail", |session, mut fields| {
        let id = fields.string("id")?;
        fields.finish()?;
        done(&One("removed", &session.store.remove_guardrail(&id)))
    }),
    Operation::of_large_fields("guardrails", |session, fields| {
        fields.finish()?;
        done(&One("guardrails", &session.store.guardrails()))
    }),
    Operation::of_large_fields("export", |DecisionSession { store, .. }, mut fields| {
        let since = fields.opt_uint("since", u64::MAX)?;
        let vectors = fields.opt_uint("vectors", limits::MAX_SEQUENCE)?;
        fields.finish()?;
        done(&since.map_or_else(|| store.export(), |since| store.export_since(since, vectors)))
    }),
    Operation::of_large_fields("size", |session, fields| {
        fields.finish()?;
        done(&One("size", &session.store.size()))
    }),
];

/// Runs an operation of a store.
pub fn call(session: &mut DecisionSession, operation: &str, arguments: &str) -> Result<String> {
    operation::call(OPERATIONS, session, operation, arguments)
}

fn import(session: &mut DecisionSession, mut fields: Fields) -> Result<String> {
    let options = ImportOptions::take(&mut fields)?;
    // A text of any length: it is a snapshot.
    let snapshot = match fields.take("text") {
        Some(Value::String(text)) => json::parse_snapshot(&text)?,
        Some(other) => return Err(wrong_type(&fields.at("text"), "a text", &other)),
        None => fields.require("snapshot")?,
    };
    fields.finish()?;
    let imported = session.store.import(snapshot, options)?;
    done_with(&imported, &events(&mut session.store))
}

/// Runs what may ask the host.
fn run_with_host(
    session: &mut DecisionSession,
    mut fields: Fields,
    run: impl FnOnce(&mut DecisionStore, HostContext<'_>) -> Result<ToolReply>,
) -> Result<String> {
    let agent = fields.opt_string("agent_id")?;
    let trace = fields.opt_string("trace_id")?;
    let now = fields.number_or("now", 0.0, -8.64e15, 8.64e15)? as i64;
    let operation = fields.uint_or("call", 0, u64::MAX)?;
    let ids = fields.strings("ids")?;
    let failure = fields.opt_string("embedder_failed")?;
    fields.finish()?;
    let mut answers = session.answers(operation);
    for id in ids {
        answers.add_id(id);
    }
    if let Some(message) = failure {
        answers.fail_embedder(message);
    }
    let host = HostContext { agent: agent.as_deref(), trace: trace.as_deref(), now, answers: &answers };
    match run(&mut session.store, host)? {
        ToolReply::Needs(needs) => {
            session.wait(operation, answers);
            let needs: Vec<Value> = needs.into_iter().map(need_json).collect();
            write(&One("need", &needs))
        }
        ToolReply::Done(result) => done_with(&result, &events(&mut session.store)),
    }
}

/// Returns what happened that the host wants to hear of.
fn events(store: &mut DecisionStore) -> Vec<Value> {
    let changes = store.take_events().into_iter().map(|change| json!({ "kind": "change", "event": change }));
    let checks = store.take_checks().into_iter().map(|check| json!({ "kind": "guardrail_check", "event": check }));
    changes.chain(checks).collect()
}

fn need_json(need: HostRequest) -> Value {
    match need {
        HostRequest::Id => json!({ "kind": "id" }),
        HostRequest::Embed { texts } => json!({ "kind": "embed", "texts": texts }),
    }
}

//! Operations of the context that need the converters, in one call: a message or a result crosses the boundary one time.
//! Only in a module that has the converters beside the context.

use serde::Serialize;
use serde_json::Value;

use super::super::convert::withholds_links;
use super::super::operation::Effect::{Appends, Compiles, Reads, Takes};
use super::super::operation::{Beside, Operation};
use super::super::{done_with, need};
use super::answered;
use super::results::ingested;
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_context::callbacks::Outcome;
use contextweaver_context::{
    BuildRequest, ContextManager, Conversation, IngestedItems, McpResult, NotedMessage, ToolResult, message_owners,
    open_calls,
};
use contextweaver_convert::mcp::{McpResultOptions, Revision, mcp_result_with_bytes};
use contextweaver_convert::providers::{
    Format, LastResponse, MessageWarning, ReadOptions, messages_to_items, read_options, write_options,
};
use contextweaver_model::json::{self, Fields, Record};
use contextweaver_routing::router::RouteTurn;

pub(super) const OPERATIONS: &[Operation<ContextManager>] = &[
    Operation::of_messages("ingest_messages", Appends, ingest_messages),
    Operation::of_messages("sync_messages", Appends, sync_messages),
    Operation::of_messages("turns_before", Reads, turns_before),
    Operation::new("build_messages", Compiles, build_messages).converting(),
    Operation::beside("ingest_mcp_result", Takes, ingest_mcp_result).converting(),
];

/// Appends messages of a provider: `{messages, format, id_prefix?, system?}` answers `{ids, warnings}`. The log says how
/// many were read before, and which calls they may answer.
fn ingest_messages(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    #[derive(Serialize)]
    struct Appended {
        ids: Vec<String>,
        warnings: Vec<MessageWarning>,
    }
    let mut fields = Fields::open(arguments, "")?;
    let format = fields.parsed("format", Format::parse)?;
    let messages = fields.require("messages")?;
    for key in ["start", "known_calls"] {
        fields.take(key);
    }
    let mut options = read_options(&mut fields)?;
    fields.finish()?;
    (options.start, options.known_calls) = contextweaver_context::message_plan(manager.events().items(), format);
    options.open_calls = open_calls(manager.events().items().iter());
    options.last_response = LastResponse::Missing.after(manager.events().items().iter());
    let start = options.start;
    let noted: Vec<NotedMessage> = messages.as_array().into_iter().flatten().map(NotedMessage::of).collect();
    let mut read = messages_to_items(messages, format, &options)?;
    if manager.has_read(format, &noted) {
        let message =
            "these messages were read before, and are in the log twice now; syncMessages takes a whole conversation";
        read.warnings.push(MessageWarning {
            code: "READ_BEFORE",
            message: message.to_owned(),
            path: "/messages".to_owned(),
        });
    }
    let owners = message_owners(&read.items, start);
    match manager.ingest_messages(read.items).map_err(|error| error.under("/messages"))? {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(IngestedItems { ids, events }) => {
            manager.note_messages(format, noted, owners);
            done_with(&Appended { ids, warnings: read.warnings }, &events)
        }
    }
}

/// Brings the log in line with a whole conversation: `{messages, format, id_prefix?, system?, unchanged?}` answers `{added,
/// superseded, unchanged, user_turn?, warnings}`.
fn sync_messages(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let format = fields.parsed("format", Format::parse)?;
    let conversation = Conversation {
        format,
        messages: fields.list("messages")?,
        unchanged: fields.uint_or("unchanged", 0, limits::MAX_ITEMS as u64)? as usize,
        id_prefix: fields.string_or("id_prefix", "")?,
        system: fields.take("system"),
    };
    fields.finish()?;
    match manager.sync_messages(conversation)? {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(synced) => done_with(&synced, &synced.events),
    }
}

/// Reads what was said before a query in a conversation that the log is not in line with: `{query, messages, format}` answers the
/// turns, which have no ids, as they are no items.
fn turns_before(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let query = fields.string("query")?;
    let format = fields.parsed("format", Format::parse)?;
    let messages = fields.require("messages")?;
    fields.finish()?;
    let items = messages_to_items(messages, format, &ReadOptions::default())?.items;
    answered(manager.judged(|_, is_withheld| {
        let turns = RouteTurn::from_log(&items, &query, is_withheld);
        turns.into_iter().map(|turn| RouteTurn { id: None, ..turn }).collect::<Vec<_>>()
    }))
}

/// Compiles a prompt as messages: `{format, close_calls?, thought_signatures?}` beside the fields of a build.
fn build_messages(manager: &mut ContextManager, arguments: Value) -> Result<String> {
    let mut fields = Fields::open(arguments, "")?;
    let format = fields.parsed("format", Format::parse)?;
    let request = BuildRequest::from_fields(&mut fields)?;
    // In a loop the results of calls at the end are still to come.
    let options = write_options(&mut fields, format, request.running == Some(false))?;
    fields.finish()?;
    match manager.build_messages(&request, format, options)? {
        Outcome::Need(needs) => need(&needs),
        Outcome::Done(built) => done_with(&built, &built.events),
    }
}

/// Takes a result of an MCP tool, see [`read_mcp_result`].
fn ingest_mcp_result(manager: &mut ContextManager, arguments: Value, beside: Beside) -> Result<String> {
    let result = read_mcp_result(arguments, beside)?;
    ingested(manager.ingest_mcp_result(result)?)
}

/// Takes a result of an MCP tool apart. `call` is `{tool_call_id, tool_name, sensitivity?, metadata?}`, the text beside it `{result,
/// revision?, resource_links?, attached?, cut?}`; `attached` lists where in the result base64 stood that comes as bytes, in their order,
/// and `cut` how many bytes are missing where.
pub fn read_mcp_result(call: Value, beside: Beside) -> Result<McpResult> {
    // A result comes with its images, so the limit is that of a snapshot.
    let mut fields = Fields::open(json::parse_snapshot(beside.text)?, "")?;
    let value = fields.require("result")?;
    let revision = fields.opt_string("revision")?.map(|name| Revision::parse(&name)).transpose();
    let revision = revision.map_err(|error| error.at("/revision"))?;
    let withholds_links = withholds_links(&mut fields)?;
    let places = fields.strings("attached")?;
    let missing = fields.object("cut")?.into_iter().map(|(path, bytes)| (path, bytes.as_u64().unwrap_or(0) as usize));
    let cut: Vec<(String, usize)> = missing.collect();
    fields.finish()?;
    let mut call = Fields::open(call, "")?;
    // The converter says what the text is, and the paths of one would not hold for what it says of it.
    if let Some(key) = ["media_type", "keep"].into_iter().find(|key| call.has(key)) {
        return Err(Error::new(ErrorCode::UnknownField, format!("unknown field `{key}`")).at(call.at(key)));
    }
    let tool = call.string("tool_name")?;
    let attached: Vec<(String, Vec<u8>)> = places.into_iter().zip(beside.bytes).collect();
    let options = McpResultOptions { revision, max_bytes: limits::MCP_RESULT_BYTES, withholds_links, cut };
    let converted = mcp_result_with_bytes(value, attached, &tool, &options)?;
    let mut rest = call.rest();
    rest.insert("tool_name".into(), tool.into());
    Ok(McpResult::new(ToolResult::from_value(Value::Object(rest))?, converted))
}

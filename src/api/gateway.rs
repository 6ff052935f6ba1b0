//! Operations of a gateway.

use serde_json::{Value, json};

use super::operation::{self, Operation};
use super::{One, done};
use contextweaver_base::Result;
use contextweaver_base::limits::MAX_SEQUENCE;
use contextweaver_gateway::{
    CallRequest, ClientTraits, FailedCall, FinishedCall, FinishedTask, Gateway, GatewayOptions, MeasuredResult,
    ServerStatus, UpstreamFailure,
};
use contextweaver_model::json::{self, Fields};
use contextweaver_routing::RouteOptions;

/// Makes a gateway from the JSON of its options, which may carry the pins of an earlier run.
pub fn new_gateway(options: &str) -> Result<Gateway> {
    GatewayOptions::from_value(json::parse(options)?).map(Gateway::new)
}

/// Takes what a server of `{"server"}` lists.
pub fn set_listing(gateway: &mut Gateway, arguments: &str, listing: &[u8]) -> Result<String> {
    let mut fields = Fields::open(json::parse(arguments)?, "")?;
    let server = fields.string("server")?;
    fields.finish()?;
    done(&gateway.set_listing(&server, listing)?)
}

fn time(fields: &mut Fields) -> Result<u64> {
    fields.uint_or("now_ms", 0, MAX_SEQUENCE)
}

/// The operations of a gateway.
pub const OPERATIONS: &[Operation<Gateway>] = &[
    Operation::of_fields("begin_call", |gateway, mut fields| {
        let request = CallRequest::take(&mut fields)?;
        fields.finish()?;
        done(&gateway.begin_call(request)?)
    }),
    Operation::of_fields("confirm_call", |gateway, mut fields| {
        let call = number(&mut fields)?;
        fields.required("accepted")?;
        let (accepted, now) = (fields.bool_or("accepted", false)?, time(&mut fields)?);
        fields.finish()?;
        done(&gateway.confirm_call(call, accepted, now)?)
    }),
    Operation::of_fields("fail_call", |gateway, mut fields| {
        let failed = failed_call(&mut fields)?;
        fields.finish()?;
        done(&gateway.fail_call(failed)?)
    }),
    Operation::of_fields("finish_call", |gateway, mut fields| {
        let finished = finished_call(&mut fields)?;
        fields.finish()?;
        done(&gateway.finish_call(finished)?)
    }),
    Operation::of_fields("finish_task", |gateway, mut fields| {
        let finished = FinishedTask {
            session: fields.string("session")?,
            server: fields.string("server")?,
            tool: fields.string("tool")?,
            measured: measured(&mut fields)?,
            now_ms: time(&mut fields)?,
        };
        fields.finish()?;
        gateway.finish_task(&finished)?;
        done(&json!({}))
    }),
    Operation::of_fields("cancel_call", |gateway, mut fields| {
        let call = number(&mut fields)?;
        fields.finish()?;
        gateway.cancel_call(call);
        done(&json!({}))
    }),
    Operation::of_fields("list_tools", |gateway, mut fields| {
        let traits =
            ClientTraits { name: fields.opt_string("client")?, has_views: fields.bool_or("has_views", false)? };
        let (session, caller) = client(fields)?;
        done(&gateway.list_tools_for(&session, caller.as_deref(), &traits))
    }),
    Operation::of_fields("list_resources", |gateway, fields| {
        client(fields)?;
        done(&One("resources", &gateway.list_resources()))
    }),
    Operation::of_fields("list_resource_templates", |gateway, fields| {
        client(fields)?;
        done(&One("resource_templates", &gateway.list_resource_templates()))
    }),
    Operation::of_fields("list_prompts", |gateway, fields| {
        client(fields)?;
        done(&One("prompts", &gateway.list_prompts()))
    }),
    Operation::of_fields("find_resource", |gateway, mut fields| {
        let uri = fields.string("uri")?;
        client(fields)?;
        done(&gateway.find_resource(&uri)?)
    }),
    Operation::of_fields("find_prompt", |gateway, mut fields| {
        let name = fields.string("name")?;
        client(fields)?;
        done(&gateway.find_prompt(&name)?)
    }),
    Operation::of_fields("own_handles", |gateway, mut fields| {
        let session = fields.string("session")?;
        let handles = fields.records("handles", owned_handle)?;
        fields.finish()?;
        gateway.own_handles(&session, handles);
        done(&json!({}))
    }),
    Operation::of_fields("end_session", |gateway, mut fields| {
        let session = fields.string("session")?;
        fields.finish()?;
        gateway.end_session(&session);
        done(&json!({}))
    }),
    Operation::of_fields("set_status", |gateway, mut fields| {
        let server = fields.string("server")?;
        fields.required("status")?;
        let status = fields.parsed_or("status", ServerStatus::Connecting, ServerStatus::parse)?;
        let detail = fields.opt_string("detail")?;
        fields.finish()?;
        done(&One("changed", &gateway.set_status(&server, status, detail.as_deref())?))
    }),
    Operation::of_fields("accept", |gateway, mut fields| {
        let (server, tool) = (fields.string("server")?, fields.opt_string("tool")?);
        fields.finish()?;
        done(&gateway.accept(&server, tool.as_deref())?)
    }),
    Operation::of_fields("route", |gateway, mut fields| {
        let query = fields.string("query")?;
        let options = RouteOptions::take(&mut fields)?;
        fields.finish()?;
        done(&gateway.route(&query, &options)?)
    }),
    Operation::of_fields("instructions", |gateway, fields| {
        fields.finish()?;
        done(&One("text", &gateway.instructions()))
    }),
    Operation::of_fields("stats", |gateway, fields| {
        fields.finish()?;
        done(&gateway.stats())
    }),
    Operation::of_fields("pin_state", |gateway, fields| {
        fields.finish()?;
        done(&gateway.pin_state())
    }),
];

/// Runs an operation of a gateway.
pub fn call(gateway: &mut Gateway, operation: &str, arguments: &str) -> Result<String> {
    operation::call(OPERATIONS, gateway, operation, arguments)
}

/// Reads whose request it is; that is the rest of an argument.
fn client(mut fields: Fields) -> Result<(String, Option<String>)> {
    let client = (fields.string("session")?, fields.opt_string("caller")?);
    fields.finish()?;
    Ok(client)
}

fn number(fields: &mut Fields) -> Result<u64> {
    fields.required("call")?;
    fields.uint_or("call", 0, MAX_SEQUENCE)
}

fn owned_handle(value: Value, path: &str) -> Result<(String, String, String)> {
    let mut fields = Fields::open(value, path)?;
    let handle = (fields.string("handle")?, fields.string("server")?, fields.string("tool")?);
    fields.finish()?;
    Ok(handle)
}

fn failed_call(fields: &mut Fields) -> Result<FailedCall> {
    let call = number(fields)?;
    let failure: UpstreamFailure = fields.get("failure")?;
    Ok(FailedCall { call, failure, random: fields.number_or("random", 0.0, 0.0, 1.0)? })
}

fn finished_call(fields: &mut Fields) -> Result<FinishedCall> {
    let call = number(fields)?;
    let reply = if fields.has("reply") { Some(Value::Object(fields.object("reply")?)) } else { None };
    Ok(FinishedCall { call, reply, measured: measured(fields)?, now_ms: time(fields)? })
}

fn measured(fields: &mut Fields) -> Result<MeasuredResult> {
    let measured = fields.take("measured").map(|measured| MeasuredResult::from_value(measured, "/measured"));
    Ok(measured.transpose()?.unwrap_or_default())
}

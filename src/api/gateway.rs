//! Operations of a gateway.

use serde_json::{Value, json};

use super::{One, done, unknown};
use contextweaver_base::Result;
use contextweaver_base::limits::MAX_SEQUENCE;
use contextweaver_gateway::{
    CallRequest, FailedCall, FinishedCall, Gateway, GatewayOptions, MeasuredResult, ServerStatus, UpstreamFailure,
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

/// Runs an operation of a gateway.
pub fn call(gateway: &mut Gateway, operation: &str, arguments: &str) -> Result<String> {
    let mut fields = Fields::open(json::parse(arguments)?, "")?;
    match operation {
        "begin_call" => {
            let request = CallRequest::take(&mut fields)?;
            fields.finish()?;
            done(&gateway.begin_call(request)?)
        }
        "confirm_call" => {
            let call = number(&mut fields)?;
            fields.required("accepted")?;
            let (accepted, now) = (fields.bool_or("accepted", false)?, time(&mut fields)?);
            fields.finish()?;
            done(&gateway.confirm_call(call, accepted, now)?)
        }
        "fail_call" => {
            let failed = failed_call(&mut fields)?;
            fields.finish()?;
            done(&gateway.fail_call(failed)?)
        }
        "finish_call" => {
            let finished = finished_call(&mut fields)?;
            fields.finish()?;
            done(&gateway.finish_call(finished)?)
        }
        "cancel_call" => {
            let call = number(&mut fields)?;
            fields.finish()?;
            gateway.cancel_call(call);
            done(&json!({}))
        }
        "list_tools" => {
            let (session, caller) = client(&mut fields)?;
            fields.finish()?;
            done(&gateway.list_tools(&session, caller.as_deref()))
        }
        "end_session" => {
            let session = fields.string("session")?;
            fields.finish()?;
            gateway.end_session(&session);
            done(&json!({}))
        }
        "list_resources" | "list_resource_templates" | "list_prompts" => {
            client(&mut fields)?;
            fields.finish()?;
            match operation {
                "list_resources" => done(&One("resources", &gateway.list_resources())),
                "list_resource_templates" => done(&One("resource_templates", &gateway.list_resource_templates())),
                _ => done(&One("prompts", &gateway.list_prompts())),
            }
        }
        "find_resource" | "find_prompt" => {
            client(&mut fields)?;
            let is_resource = operation == "find_resource";
            let wanted = fields.string(if is_resource { "uri" } else { "name" })?;
            fields.finish()?;
            if is_resource { done(&gateway.find_resource(&wanted)?) } else { done(&gateway.find_prompt(&wanted)?) }
        }
        "own_handles" => {
            let session = fields.string("session")?;
            let handles = fields.records("handles", owned_handle)?;
            fields.finish()?;
            gateway.own_handles(&session, handles);
            done(&json!({}))
        }
        _ => servers(gateway, operation, fields),
    }
}

/// Runs an operation that concerns servers.
fn servers(gateway: &mut Gateway, operation: &str, mut fields: Fields) -> Result<String> {
    match operation {
        "set_status" => {
            let server = fields.string("server")?;
            fields.required("status")?;
            let status = fields.parsed_or("status", ServerStatus::Connecting, ServerStatus::parse)?;
            let detail = fields.opt_string("detail")?;
            fields.finish()?;
            done(&One("changed", &gateway.set_status(&server, status, detail.as_deref())?))
        }
        "accept" => {
            let (server, tool) = (fields.string("server")?, fields.opt_string("tool")?);
            fields.finish()?;
            done(&gateway.accept(&server, tool.as_deref())?)
        }
        "instructions" => {
            fields.finish()?;
            done(&One("text", &gateway.instructions()))
        }
        "route" => {
            let query = fields.string("query")?;
            let options = RouteOptions::take(&mut fields)?;
            fields.finish()?;
            done(&gateway.route(&query, &options)?)
        }
        "stats" => {
            fields.finish()?;
            done(&gateway.stats())
        }
        "pin_state" => {
            fields.finish()?;
            done(&gateway.pin_state())
        }
        other => Err(unknown(other)),
    }
}

fn client(fields: &mut Fields) -> Result<(String, Option<String>)> {
    Ok((fields.string("session")?, fields.opt_string("caller")?))
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
    let measured = fields.take("measured").map(|measured| MeasuredResult::from_value(measured, "/measured"));
    Ok(FinishedCall { call, reply, measured: measured.transpose()?.unwrap_or_default(), now_ms: time(fields)? })
}

//! Results of MCP tools as envelopes.

use serde::Serialize;
use serde_json::{Value, json};

use crate::api::{One, write};
use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::mcp::{
    ConvertedResult, McpResultOptions, ResultBinary, Revision, mcp_prompt_to_envelope, mcp_resource_to_envelope,
    mcp_result_to_envelope,
};
use contextweaver_model::json::{self, Fields};
use contextweaver_model::{ResultEnvelope, Warning};
use contextweaver_text::quote::quote;

/// An answer with bytes beside its JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WithBytes {
    /// The answer, which says where in the bytes each part is.
    pub json: String,
    /// The parts one after the other.
    pub bytes: Vec<u8>,
}

/// Takes a result of MCP apart: of a tool `{result, tool_name, revision?, max_bytes?, resource_links?}`, of reading a resource
/// `{result, resource_id, max_bytes?}`, of getting a prompt `{result, prompt_id, max_bytes?}`. Gives `{envelope, full_text,
/// warnings, binaries: [{handle, media_type, label, offset, length}]}` and the bytes.
pub fn convert_result(arguments: &str) -> Result<WithBytes> {
    #[derive(Serialize)]
    struct Answer<'a> {
        envelope: &'a ResultEnvelope,
        full_text: &'a str,
        warnings: &'a [Warning],
        binaries: &'a [serde_json::Value],
    }
    // A result comes with its images, so the limit is that of a snapshot.
    let mut fields = Fields::open(json::parse_snapshot(arguments)?, "")?;
    let result = fields.require("result")?;
    let converted = convert(&result, fields)?;
    // Two copies of an image are enough.
    drop(result);
    let (mut bytes, mut places) = (Vec::new(), Vec::new());
    for ResultBinary { handle, bytes: own, media_type, label, .. } in converted.binaries {
        let (offset, length) = (bytes.len(), own.len());
        places.push(json!({
            "handle": handle, "media_type": media_type, "label": label, "offset": offset, "length": length,
        }));
        if bytes.is_empty() {
            bytes = own;
        } else {
            bytes.extend_from_slice(&own);
        }
    }
    let answer = Answer {
        envelope: &converted.envelope,
        full_text: &converted.full_text,
        warnings: &converted.warnings,
        binaries: &places,
    };
    Ok(WithBytes { json: write(&One("done", &answer))?, bytes })
}

/// Takes how resource links are shown: `resource_links` is `shown` or `withheld`.
pub fn withholds_links(fields: &mut Fields) -> Result<bool> {
    match fields.opt_string("resource_links")?.as_deref() {
        None | Some("shown") => Ok(false),
        Some("withheld") => Ok(true),
        Some(other) => {
            let message = format!("expected `shown` or `withheld`, got {}", quote(other));
            Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at("resource_links")))
        }
    }
}

/// What a result is of is named by the one field that it has.
fn convert(result: &Value, mut fields: Fields) -> Result<ConvertedResult> {
    let limit = limits::MCP_RESULT_BYTES as u64;
    let max_bytes = fields.uint_or("max_bytes", limit, limit)? as usize;
    if let Some(id) = fields.opt_string("resource_id")? {
        fields.finish()?;
        return mcp_resource_to_envelope(result, &id, max_bytes);
    }
    if let Some(id) = fields.opt_string("prompt_id")? {
        fields.finish()?;
        return mcp_prompt_to_envelope(result, &id, max_bytes);
    }
    let tool = fields.string("tool_name")?;
    let revision = fields.opt_string("revision")?.map(|name| Revision::parse(&name)).transpose();
    let revision = revision.map_err(|error| error.at("/revision"))?;
    let withholds_links = withholds_links(&mut fields)?;
    fields.finish()?;
    let options = McpResultOptions { revision, max_bytes, withholds_links, ..McpResultOptions::default() };
    mcp_result_to_envelope(result, &tool, &options)
}

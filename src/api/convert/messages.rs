//! Messages of providers as items and back.

use super::{compat, done};
use crate::error::{Error, ErrorCode, Result};
use crate::json::Fields;
use crate::model::ContextItem;
use crate::providers::{Format, WriteOptions, items_to_messages, messages_to_items, read_options};

/// The operations of this area: `messages_to_items` with `{messages, format, start?, id_prefix?, known_calls?, system?,
/// compat?}` answers `{items, warnings}`; `items_to_messages` with `{items, format, close_calls?, compat?}` answers
/// `{messages, system?, warnings}`.
pub const OPERATIONS: &[&str] = &["messages_to_items", "items_to_messages"];

/// Runs one of them.
pub fn call(operation: &str, mut fields: Fields) -> Result<String> {
    let name = fields.string("format")?;
    let format = Format::parse(&name).map_err(|error| error.at("/format"))?;
    let compat = compat(&mut fields)?;
    if operation == "messages_to_items" { read(fields, format, compat) } else { write(fields, format, compat) }
}

fn no_reference() -> Error {
    Error::new(ErrorCode::Unsupported, "the reference does not convert this format").at("/compat")
}

fn read(mut fields: Fields, format: Format, is_compat: bool) -> Result<String> {
    let messages = fields.require("messages")?;
    let options = read_options(&mut fields)?;
    fields.finish()?;
    if is_compat {
        return Err(no_reference());
    }
    done(&messages_to_items(messages, format, &options)?)
}

fn write(mut fields: Fields, format: Format, is_compat: bool) -> Result<String> {
    let items = fields.records("items", ContextItem::from_value)?;
    let options = WriteOptions { close_calls: fields.bool_or("close_calls", false)? };
    fields.finish()?;
    if is_compat {
        return Err(no_reference());
    }
    done(&items_to_messages(&items, format, &options)?)
}

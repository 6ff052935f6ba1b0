//! Messages of providers as items and back.

use super::{compat, done};
use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::{
    Format, ReadMessages, WriteOptions, WrittenMessages, items_to_messages, messages_to_items, read_options, reference,
};
use contextweaver_model::ContextItem;
use contextweaver_model::json::Fields;

/// The operations of this area: `messages_to_items` with `{messages, format, start?, id_prefix?, known_calls?, system?,
/// compat?}` answers `{items, warnings}`; `items_to_messages` with `{items, format, close_calls?, compat?}` answers
/// `{messages, system?, warnings}`. With `compat` the other options do not exist.
pub const OPERATIONS: &[&str] = &["messages_to_items", "items_to_messages"];

/// Runs one of them.
pub fn call(operation: &str, mut fields: Fields) -> Result<String> {
    let name = fields.string("format")?;
    let format = Format::parse(&name).map_err(|error| error.at("/format"))?;
    let compat = compat(&mut fields)?;
    if operation == "messages_to_items" { read(fields, format, compat) } else { write(fields, format, compat) }
}

fn no_reference() -> Error {
    Error::new(ErrorCode::Unsupported, "the reference does not convert this format")
        .at("/format")
        .hint("one of: openai-chat anthropic gemini")
}

fn read(mut fields: Fields, format: Format, is_compat: bool) -> Result<String> {
    let messages = fields.require("messages")?;
    if is_compat {
        fields.finish()?;
        let read = match format {
            Format::OpenAiChat => reference::from_openai,
            Format::Anthropic => reference::from_anthropic,
            Format::Gemini => reference::from_gemini,
            _ => return Err(no_reference()),
        };
        return done(&ReadMessages { items: read(&messages, "/messages")?, warnings: Vec::new() });
    }
    let options = read_options(&mut fields)?;
    fields.finish()?;
    done(&messages_to_items(messages, format, &options)?)
}

fn write(mut fields: Fields, format: Format, is_compat: bool) -> Result<String> {
    let items = fields.records("items", ContextItem::from_value)?;
    if is_compat {
        fields.finish()?;
        let write = match format {
            Format::OpenAiChat => reference::to_openai,
            Format::Anthropic => reference::to_anthropic,
            Format::Gemini => reference::to_gemini,
            _ => return Err(no_reference()),
        };
        let messages = write(&items, "/items")?;
        return done(&WrittenMessages { messages, system: None, warnings: Vec::new() });
    }
    let options = WriteOptions { close_calls: fields.bool_or("close_calls", false)? };
    fields.finish()?;
    done(&items_to_messages(&items, format, &options)?)
}

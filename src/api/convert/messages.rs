//! Messages of providers as items and back.

use super::done;
use contextweaver_base::Result;
use contextweaver_convert::providers::{
    Format, find_messages, items_to_messages, messages_to_items, read_options, write_options,
};
use contextweaver_model::ContextItem;
use contextweaver_model::json::Fields;

/// The operations of this area: `messages_to_items` with `{messages, format, start?, id_prefix?, known_calls?, system?}`
/// answers `{items, warnings}`; `items_to_messages` with `{items, format, close_calls?, thought_signatures?}` answers
/// `{messages, system?, warnings}`; `messages_to_messages` with those of both and `to` does one after the other;
/// `find_messages` with `{document}` answers `{format, list?, system?}` or null.
pub const OPERATIONS: &[&str] = &["messages_to_items", "items_to_messages", "messages_to_messages", "find_messages"];

/// Runs one of them.
pub fn call(operation: &str, mut fields: Fields) -> Result<String> {
    if operation == "find_messages" {
        let document = fields.take("document").unwrap_or_default();
        fields.finish()?;
        return done(&find_messages(&document));
    }
    let format = fields.parsed("format", Format::parse)?;
    match operation {
        "messages_to_items" => read(fields, format),
        "messages_to_messages" => rewrite(fields, format),
        _ => write(fields, format),
    }
}

fn read(mut fields: Fields, format: Format) -> Result<String> {
    let messages = fields.require("messages")?;
    let options = read_options(&mut fields)?;
    fields.finish()?;
    done(&messages_to_items(messages, format, &options)?)
}

fn write(mut fields: Fields, format: Format) -> Result<String> {
    let items: Vec<ContextItem> = fields.get("items")?;
    let options = write_options(&mut fields, format, false)?;
    fields.finish()?;
    done(&items_to_messages(&items, format, &options)?)
}

fn rewrite(mut fields: Fields, from: Format) -> Result<String> {
    let messages = fields.require("messages")?;
    let to = fields.parsed("to", Format::parse)?;
    let (reading, writing) = (read_options(&mut fields)?, write_options(&mut fields, to, false)?);
    fields.finish()?;
    let read = messages_to_items(messages, from, &reading)?;
    let mut written = items_to_messages(&read.items, to, &writing)?;
    written.warnings.splice(0..0, read.warnings);
    done(&written)
}

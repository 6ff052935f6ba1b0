//! Items grouped into the messages they came from, as their metadata tells; Anthropic and Gemini share this.

use serde_json::Value;

use super::{invalid, missing, one_of};
use contextweaver_base::Result;
use contextweaver_base::order::sort_by;
use contextweaver_model::ContextItem;
use contextweaver_model::json::python::int;
use contextweaver_model::json::{pointer, wrong_type};
use contextweaver_text::unicode::trim;

/// An item and its position in the list.
pub(super) type PlacedItem<'a> = (usize, &'a ContextItem);

/// Items of one message with the role of the message.
pub(super) struct MessageItems<'a> {
    pub role: &'a str,
    pub items: Vec<PlacedItem<'a>>,
}

/// Groups items by `msg_index` and sorts each group by `place_key`, where what is no number counts as 0.
pub(super) fn groups<'a>(
    items: &'a [ContextItem],
    place_key: &str,
    roles: &[&str],
    path: &str,
) -> Result<Vec<MessageItems<'a>>> {
    let mut placed = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let place = item.metadata.get(place_key).and_then(int).unwrap_or(0);
        placed.push((message_index(item, &format!("{path}/{index}"))?, place, (index, item)));
    }
    sort_by(&mut placed, |a, b| (a.0, a.1).cmp(&(b.0, b.1)));
    let same_message = |a: &(i64, i64, PlacedItem), b: &(i64, i64, PlacedItem)| a.0 == b.0;
    let group = |members: &[(i64, i64, PlacedItem<'a>)]| {
        let (index, first) = members[0].2;
        let role = one_of(&first.metadata, "role", roles, &format!("{path}/{index}/metadata"))?;
        Ok(MessageItems { role, items: members.iter().map(|member| member.2).collect() })
    };
    placed.chunk_by(same_message).map(group).collect()
}

fn message_index(item: &ContextItem, path: &str) -> Result<i64> {
    let path = pointer(path, "metadata");
    let index = item.metadata.get("msg_index").filter(|index| !index.is_null());
    let index = index.ok_or_else(|| missing("msg_index", &path))?;
    int(index).ok_or_else(|| wrong_type(&pointer(&path, "msg_index"), "a whole number", index))
}

impl MessageItems<'_> {
    /// Refuses a message of nothing but blank text, as providers do.
    pub(super) fn check_not_blank(&self, blocks: &[Value], is_text: impl Fn(&Value) -> bool, path: &str) -> Result<()> {
        let is_blank =
            |block: &Value| is_text(block) && block["text"].as_str().is_some_and(|text| trim(text).is_empty());
        if blocks.iter().all(is_blank) {
            let message = "the message would be blank, which the provider refuses";
            return Err(invalid(message, format!("{path}/{}/text", self.items[0].0)));
        }
        Ok(())
    }
}

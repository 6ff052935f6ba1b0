//! Approvals of tool calls. A request for approval stands beside its call. The user's answer only names the request.

use serde_json::Value;

use contextweaver_model::ContextItem;

use super::approval_parts::{answered, requested};
use super::names::call_id;
use super::outgoing::{OutgoingPart, PartContent};
use super::sources::SourceItem;
use super::stored::{parts_of, record_of};
use contextweaver_base::order::{SortedMap, sort_distinct};

/// The metadata key that marks an item as the answer to a request. The item's parent is the item with the request.
pub const APPROVAL: &str = "approval";

/// Tells whether an item approves or denies the call that is its parent. Such an item means nothing without its parent.
///
/// ```
/// use contextweaver_convert::providers::{Format, is_approval, messages_to_items};
/// use serde_json::json;
///
/// let messages = json!([
///     { "role": "assistant", "content": [
///         { "type": "tool-call", "toolCallId": "c1", "toolName": "refund", "input": {} },
///         { "type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1" },
///     ] },
///     { "role": "tool", "content": [{ "type": "tool-approval-response", "approvalId": "a1", "approved": true }] },
/// ]);
/// let items = messages_to_items(messages, Format::AiSdkModel, &Default::default())?.items;
/// assert!(is_approval(&items[1]));
/// assert_eq!(items[1].parent_id.as_deref(), Some("c1"));
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn is_approval(item: &ContextItem) -> bool {
    item.metadata_flag(APPROVAL)
}

/// Returns the ids of the requests in an item.
///
/// ```
/// use contextweaver_convert::providers::{Format, approval_requests, messages_to_items};
/// use serde_json::json;
///
/// let request = json!({ "type": "mcp_approval_request", "id": "mcpr_1", "name": "pay", "arguments": "{}" });
/// let items = messages_to_items(json!([request]), Format::OpenAiResponses, &Default::default())?.items;
/// assert_eq!(approval_requests(&items[0]), ["mcpr_1"]);
/// # Ok::<(), contextweaver_base::Error>(())
/// ```
pub fn approval_requests(item: &ContextItem) -> Vec<&str> {
    record_of(item).into_iter().flat_map(parts_of).filter_map(|part| requested(part.get("original")?)).collect()
}

/// A set of request ids.
pub type RequestIds = SortedMap<String, ()>;

/// The requests and answers among the items that are written. An answer stands behind the message with its request.
#[derive(Debug, Default)]
pub struct Approvals {
    /// Indices of the items with answers, by the index of the item with the request.
    answers: SortedMap<usize, Vec<usize>>,
    /// The answers whose request is present, one for each request: the index of the item, the index of the part, and
    /// the id of the call if the request names one.
    known: Vec<(usize, usize, Option<String>)>,
    /// Indices of the items with an answer, ascending.
    items: Vec<usize>,
    /// Indices of the calls that a request is about, ascending. They wait for the answer, or for the result that comes
    /// after it.
    calls: Vec<usize>,
}

impl Approvals {
    /// Finds the requests and answers among the items that were read from the written format. `asked` holds the ids of
    /// earlier requests, and gets those of these items. No call waits for a request whose id it already holds, as in a
    /// copied message.
    pub fn of(sources: &[SourceItem], asked: &mut RequestIds) -> Self {
        let mut requests: SortedMap<String, (usize, Option<String>)> = SortedMap::new();
        let mut found = Self::default();
        // Call ids may repeat. A request is about the last call with its id before it.
        let mut latest: SortedMap<String, usize> = SortedMap::new();
        for (index, source) in sources.iter().enumerate() {
            if source.is_own_call() {
                latest.insert(call_id(source.item).to_owned(), index);
            }
            if !source.is_same_format {
                continue;
            }
            let redacted = source.item.metadata_flag("redacted");
            for (at, part) in source.stored.iter().flat_map(|stored| &stored.parts).enumerate() {
                if let Some(id) = requested(&part.original).filter(|_| !redacted) {
                    let call = part.original.get("toolCallId").and_then(Value::as_str).map(str::to_owned);
                    if asked.insert(id.to_owned(), ()).is_none() {
                        found.calls.extend(call.as_ref().and_then(|call| latest.get(call)));
                    }
                    requests.insert(id.to_owned(), (index, call));
                }
                let Some(id) = answered(&part.original) else { continue };
                if found.items.last() != Some(&index) {
                    found.items.push(index);
                }
                // Only the first answer to a request counts.
                let Some((request, call)) = requests.remove(&id.to_owned()) else { continue };
                found.known.push((index, at, call));
                let list = found.answers.get_or_insert(&request, Vec::new());
                if list.last() != Some(&index) {
                    list.push(index);
                }
            }
        }
        sort_distinct(&mut found.calls);
        found
    }

    /// Tells whether an item answers a request. It is written behind the message with the request, or not at all.
    pub fn is_answer(&self, index: usize) -> bool {
        self.items.binary_search(&index).is_ok()
    }

    /// Returns the indices of the items that answer the requests of an item.
    pub fn answers(&self, index: usize) -> &[usize] {
        self.answers.get(&index).map_or(&[], Vec::as_slice)
    }

    /// Tells whether a request is about a call, which then waits for the answer, or for the result that comes after it.
    pub fn is_asked(&self, call: usize) -> bool {
        self.calls.binary_search(&call).is_ok()
    }

    /// Returns the parts of an answer as they are stored, even if a secret in its reason was masked. `is_wanted` picks
    /// the parts by the ids of their calls.
    pub fn parts(
        &self,
        sources: &[SourceItem],
        index: usize,
        is_wanted: impl Fn(Option<&str>) -> bool,
    ) -> Vec<OutgoingPart> {
        let Some(stored) = &sources[index].stored else { return Vec::new() };
        let first = self.known.partition_point(|(answer, ..)| *answer < index);
        let own = self.known[first..].iter().take_while(|(answer, ..)| *answer == index);
        let known = own.filter(|(_, _, call)| is_wanted(call.as_deref()));
        let as_read = |(_, at, _): &(usize, usize, Option<String>)| {
            let part = &stored.parts[*at];
            OutgoingPart::as_read(part, PartContent::Opaque, part.original.clone(), index)
        };
        let mut parts: Vec<OutgoingPart> = known.map(as_read).collect();
        if let Some(first) = parts.first_mut() {
            first.message_fields.clone_from(&stored.fields);
        }
        parts
    }
}

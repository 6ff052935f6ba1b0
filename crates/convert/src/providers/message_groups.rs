//! Which items are one message, and between which messages a conversation may be parted.

use super::Format;
use super::approvals::{Approvals, RequestIds};
use super::message::Role;
use super::server_tools::is_provider_run;
use super::sources::{SourceItem, leaves_out_calls, sources};
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::unicode::trim;

/// Items that are written as one message.
pub struct MessageGroup {
    pub role: Role,
    pub items: Vec<usize>,
}

/// Groups what one message says.
pub fn group_items(sources: &[SourceItem], approvals: &Approvals) -> Vec<MessageGroup> {
    let mut groups: Vec<MessageGroup> = Vec::new();
    let is_written = |(index, source): &(usize, &SourceItem)| !source.is_repeated && !approvals.is_answer(*index);
    for (index, source) in sources.iter().enumerate().filter(is_written) {
        let role = match source.item.kind {
            ItemKind::Policy => Role::System,
            ItemKind::AgentMsg | ItemKind::ToolCall => Role::Assistant,
            // Written with its call; without one a call is made up.
            ItemKind::ToolResult if source.call.is_some() => continue,
            ItemKind::ToolResult if is_provider_run(source.item) => Role::Assistant,
            ItemKind::ToolResult => Role::Tool,
            _ => Role::User,
        };
        match groups.last_mut() {
            Some(group) if group.role == role && joins(sources, &group.items, index) => group.items.push(index),
            _ => groups.push(MessageGroup { role, items: vec![index] }),
        }
    }
    groups
}

/// Tells whether an item belongs to the message of those before it.
fn joins(sources: &[SourceItem], items: &[usize], index: usize) -> bool {
    let Some(before) = items.last().copied() else { return false };
    let (one, other) = (&sources[before], &sources[index]);
    if let (Some(one), Some(other)) = (&one.stored, &other.stored) {
        return one.format == other.format && one.group == other.group;
    }
    let is_next = before + 1 == index;
    match other.item.kind {
        ItemKind::ToolCall => {
            let parent = other.item.parent_id.as_deref();
            let is_parent = |index: &usize| parent == Some(sources[*index].item.id.as_str());
            let is_sibling =
                is_next && one.item.kind == ItemKind::ToolCall && one.item.parent_id == other.item.parent_id;
            is_sibling || items.first().is_some_and(is_parent)
        }
        ItemKind::ToolResult => is_next,
        _ => false,
    }
}

/// Returns the last item before which messages may be parted: those of the items before it are the same whatever comes, and no
/// message holds items of both sides. None where there is no such place behind the first item.
///
/// ```
/// use contextweaver_convert::providers::{Format, last_part};
/// use contextweaver_model::{ContextItem, ItemKind};
///
/// let item = |id: &str, kind| ContextItem::new(id, kind, "hello");
/// let turns = [item("u1", ItemKind::UserTurn), item("a1", ItemKind::AgentMsg), item("u2", ItemKind::UserTurn)];
/// assert_eq!(last_part(&turns, Format::Anthropic), Some(1), "what the user says next joins the second message of the user");
/// ```
pub fn last_part(items: &[ContextItem], format: Format) -> Option<usize> {
    let sources = sources(items, format);
    let approvals = Approvals::of(&sources, &mut RequestIds::new());
    let groups = group_items(&sources, &approvals);
    // For each group: the last item before it, results included; whether all calls before it have a result; whether a message of
    // the model may still be open before it.
    let mut last = Vec::with_capacity(groups.len());
    let (mut reach, mut is_closed, mut may_join) = (0, true, false);
    for group in &groups {
        last.push((reach, is_closed, may_join));
        may_join = match group.role {
            Role::System => may_join,
            Role::Assistant => !has_results(&sources, group),
            _ => may_join && !says_something(&sources, group),
        };
        let is_open = |index: &usize| sources[*index].waits();
        is_closed &= !group.items.iter().any(is_open);
        let answers = |index: &usize| sources[*index].results.iter().chain(approvals.answers(*index)).copied();
        let ends = group.items.iter().flat_map(|index| answers(index).chain([*index]));
        reach = reach.max(ends.max().unwrap_or(0));
    }
    // A result that stands before its call is written behind it.
    let early = sources
        .iter()
        .enumerate()
        .filter_map(|(at, source)| source.call.filter(|call| *call > at).map(|call| (at, call)));
    let early: Vec<(usize, usize)> = early.collect();
    let is_between = |start: usize| early.iter().any(|(result, call)| *result < start && start <= *call);
    (1..groups.len()).rev().find_map(|at| {
        let (before, group) = (&groups[at - 1], &groups[at]);
        let start = group.items[0];
        let (reach, is_closed, may_join) = last[at];
        // A response of several steps is one message of the user interface. White space at the end of a last message of the model is
        // left out, so that none may be the last.
        let parts = if format.provider().rules.joins_steps {
            group.role == Role::User && before.role != Role::User
        } else {
            group.role == Role::Assistant && !may_join && says_something(&sources, group)
        };
        (parts && is_closed && reach < start && !is_between(start)).then_some(start)
    })
}

/// Tells whether a message is written in any case: of blanks, of thoughts alone, and of tools that the provider ran, nothing may be
/// left, and then messages of one role meet.
fn says_something(sources: &[SourceItem], group: &MessageGroup) -> bool {
    let is_lost = leaves_out_calls(sources, &group.items);
    group.items.iter().map(|index| &sources[*index]).any(|source| match source.item.kind {
        ItemKind::ToolCall => source.is_own_call() && !is_lost,
        _ => {
            !is_provider_run(source.item) && !trim(&source.item.text).is_empty()
                || source.call.is_none() && source.item.kind == ItemKind::ToolResult
        }
    })
}

/// Tells whether results follow a message of the model.
fn has_results(sources: &[SourceItem], group: &MessageGroup) -> bool {
    let has_calls = group.items.iter().any(|index| sources[*index].is_own_call());
    has_calls && !leaves_out_calls(sources, &group.items)
}

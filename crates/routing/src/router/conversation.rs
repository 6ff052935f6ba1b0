//! What was said and called before a query, as far as a query may go on with it.

use serde::Serialize;
use serde_json::Value;

use contextweaver_base::{Error, ErrorCode, Result};
use contextweaver_convert::providers::called_tool;
use contextweaver_model::json::Fields;
use contextweaver_model::{ContextItem, ItemKind};
use contextweaver_text::quote::quote;
use contextweaver_text::redact::mask_secrets;
use contextweaver_text::unicode::{prefix, trim};

/// Most entries of a log that are taken over.
pub const MAX_TURNS: usize = 24;
/// Most code points of each: of an assistant's text the end, of other texts the beginning.
pub const TURN_CHARS: usize = 1_000;

/// Code points of a text that are searched for credentials before it is cut: one that the cut goes through is masked, too.
const MASKED_CHARS: usize = 1 << 16;

/// What was said and called before a query, the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Conversation {
    turns: Vec<RouteTurn>,
}

impl Conversation {
    /// Takes the last [`MAX_TURNS`] turns.
    ///
    /// ```
    /// use contextweaver_routing::{Conversation, RouteTurn};
    /// use serde_json::json;
    ///
    /// let turn = RouteTurn::from_value(json!({ "kind": "user_turn", "text": "Is it raining?" }), "")?;
    /// assert_eq!(Conversation::new(vec![turn; 30]).turns().len(), 24);
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn new(mut turns: Vec<RouteTurn>) -> Self {
        turns.drain(..turns.len().saturating_sub(MAX_TURNS));
        Self { turns }
    }

    /// Returns the turns.
    pub fn turns(&self) -> &[RouteTurn] {
        &self.turns
    }
}

/// Something that was said or called before a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RouteTurn {
    /// Id of the item it is of, which a completed query names.
    pub id: Option<String>,
    /// `user_turn`, `agent_msg` or `tool_call`.
    #[cfg_attr(feature = "ts", ts(type = "\"user_turn\" | \"agent_msg\" | \"tool_call\""))]
    pub kind: ItemKind,
    /// What was said; empty for a call.
    pub text: String,
    /// Name or id of the tool that was called.
    pub tool: Option<String>,
    /// Whether the call has no result but errors.
    pub is_open: bool,
}

impl RouteTurn {
    /// Reads a turn.
    ///
    /// # Errors
    ///
    /// Fails with the code of the first field that cannot be read, and its path; `INVALID_INPUT` for another kind.
    ///
    /// # Examples
    ///
    /// ```
    /// use contextweaver_routing::RouteTurn;
    /// use serde_json::json;
    ///
    /// let turn = RouteTurn::from_value(json!({ "kind": "agent_msg", "text": "Shall I push it?" }), "")?;
    /// assert!(!turn.is_open);
    /// assert!(RouteTurn::from_value(json!({ "kind": "policy", "text": "Be kind." }), "").is_err());
    /// # Ok::<(), contextweaver_base::Error>(())
    /// ```
    pub fn from_value(value: Value, path: &str) -> Result<Self> {
        let mut fields = Fields::open(value, path)?;
        let kind = fields.parsed("kind", ItemKind::parse)?;
        if !matches!(kind, ItemKind::UserTurn | ItemKind::AgentMsg | ItemKind::ToolCall) {
            let message = format!("a turn cannot be of kind {}", quote(kind.as_str()));
            let hint = "one of: user_turn agent_msg tool_call";
            return Err(Error::new(ErrorCode::InvalidInput, message).at(fields.at("kind")).hint(hint));
        }
        let turn = Self {
            id: fields.opt_string("id")?,
            text: bounded(&fields.string_or("text", "")?, kind),
            tool: fields.opt_string("tool")?,
            is_open: fields.bool_or("is_open", false)?,
            kind,
        };
        fields.finish()?;
        Ok(turn)
    }

    /// Reads the last turns before a query off an event log, the oldest first. The turn that asks the query is left out, and so
    /// is what came after it. Texts of items that are withheld are empty, credentials in others masked; calls are named as the log
    /// names them.
    pub fn from_log(items: &[ContextItem], query: &str, is_withheld: &dyn Fn(&ContextItem) -> bool) -> Vec<Self> {
        let is_live = |item: &&ContextItem| !item.is_superseded();
        let is_asked = |item: &ContextItem| item.kind == ItemKind::UserTurn && trim(&item.text) == trim(query);
        let last_user = items.iter().rposition(|item| item.kind == ItemKind::UserTurn && !item.is_superseded());
        let end = last_user.filter(|at| is_asked(&items[*at])).unwrap_or(items.len());
        let mut turns = Vec::new();
        let mut answered: Vec<&str> = Vec::new();
        for item in items[..end].iter().rev().filter(is_live) {
            if turns.len() == MAX_TURNS {
                break;
            }
            match item.kind {
                ItemKind::ToolResult if !item.metadata_flag("is_error") => answered.extend(item.parent_id.as_deref()),
                ItemKind::ToolCall => turns.push(Self {
                    id: Some(item.id.clone()),
                    kind: item.kind,
                    text: String::new(),
                    tool: called_tool(item).map(str::to_owned),
                    is_open: !answered.contains(&item.id.as_str()),
                }),
                ItemKind::UserTurn | ItemKind::AgentMsg => turns.push(Self {
                    id: Some(item.id.clone()),
                    kind: item.kind,
                    text: if is_withheld(item) { String::new() } else { bounded(&item.text, item.kind) },
                    tool: None,
                    is_open: false,
                }),
                _ => {}
            }
        }
        turns.reverse();
        turns
    }
}

/// Masks credentials and cuts a text: what an assistant asks stands at the end.
fn bounded(text: &str, kind: ItemKind) -> String {
    let cut = |text: &str, chars: usize| {
        if kind == ItemKind::AgentMsg {
            let skipped = text.chars().count().saturating_sub(chars);
            return text.char_indices().nth(skipped).map_or("", |(at, _)| &text[at..]).to_owned();
        }
        prefix(text, chars).to_owned()
    };
    cut(&mask_secrets(&cut(text, MASKED_CHARS)), TURN_CHARS)
}

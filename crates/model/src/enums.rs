//! The closed sets of strings that records are made of.

/// Declares an enum whose variants are stable strings on the wire: all of them, their names, reading with a hint, and JSON.
///
/// ```
/// contextweaver_model::string_enum! {
///     /// A side of a road.
///     Side, "side" {
///         /// The left one.
///         Left = "left",
///         /// The right one.
///         Right = "right",
///     }
/// }
/// assert_eq!(Side::parse("left").unwrap(), Side::Left);
/// assert!(Side::parse("up").unwrap_err().to_string().contains("unknown side"));
/// assert_eq!(Side::ALL.iter().map(|side| side.as_str()).collect::<Vec<_>>(), ["left", "right"]);
/// ```
#[macro_export]
macro_rules! string_enum {
    ($(#[$($doc:tt)+])* $name:ident, $what:literal { $($(#[$($vdoc:tt)+])* $variant:ident = $text:literal,)+ }) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $(#[$($doc)+])*
        pub enum $name { $($(#[$($vdoc)+])* $variant,)+ }

        impl $name {
            /// Lists every value in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Returns the wire string.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// Parses the wire string.
            ///
            /// # Errors
            /// `INVALID_INPUT` for anything else, with the accepted values in the hint.
            pub fn parse(text: &str) -> contextweaver_base::Result<Self> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    other => Err(contextweaver_base::Error::new(
                        contextweaver_base::ErrorCode::InvalidInput,
                        format!(concat!("unknown ", $what, " {}"), contextweaver_text::quote::quote(other)),
                    ).hint(concat!("one of:", $(" ", $text),+))),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { f.write_str(self.as_str()) }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, s: S) -> std::result::Result<S::Ok, S::Error> {
                s.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }

        impl $crate::json::Field for $name {
            fn read(value: serde_json::Value, path: &str) -> contextweaver_base::Result<Self> {
                $crate::json::as_word(value, path, Self::parse)
            }

            fn take(fields: &mut $crate::json::Fields, key: &'static str) -> contextweaver_base::Result<Self> {
                fields.parsed(key, Self::parse)
            }
        }

        #[cfg(feature = "ts")]
        contextweaver_base::wire_strings!($name [$([$($doc)+])*] $([$([$($vdoc)+])*])+);
    };
}

string_enum! {
    /// How far a text may travel, ascending. From the policy's floor on (default `confidential`) it is not shown.
    Sensitivity, "sensitivity" {
        /// May be shown to everyone.
        Public = "public",
        /// May be shown within the organisation.
        Internal = "internal",
        /// May be shown to few; dropped by default.
        Confidential = "confidential",
        /// For nobody's prompt; dropped by default.
        Restricted = "restricted",
    }
}

string_enum! {
    /// What an item of the event log is. A `tool_result` names its call in `parent_id`.
    ItemKind, "kind" {
        /// A message of the user.
        UserTurn = "user_turn",
        /// A message of the assistant.
        AgentMsg = "agent_msg",
        /// A tool call; its text is the arguments, or the call as logs write it.
        ToolCall = "tool_call",
        /// The result of a tool; its `parent_id` is the call.
        ToolResult = "tool_result",
        /// A piece of a document the caller put in.
        DocSnippet = "doc_snippet",
        /// A document found by retrieval.
        RetrievedDoc = "retrieved_doc",
        /// A remembered fact.
        MemoryFact = "memory_fact",
        /// The current plan.
        PlanState = "plan_state",
        /// A rule the model must follow.
        Policy = "policy",
    }
}

impl ItemKind {
    /// Returns the heading of a section of this kind.
    pub const fn label(self) -> &'static str {
        match self {
            Self::UserTurn => "USER",
            Self::AgentMsg => "ASSISTANT",
            Self::ToolCall => "TOOL CALL",
            Self::ToolResult => "TOOL RESULT",
            Self::DocSnippet => "DOCUMENT",
            Self::RetrievedDoc => "RETRIEVED",
            Self::MemoryFact => "FACT",
            Self::PlanState => "PLAN",
            Self::Policy => "POLICY",
        }
    }

    /// Tells whether it is what a person or the model said.
    pub const fn is_turn(self) -> bool {
        matches!(self, Self::UserTurn | Self::AgentMsg)
    }

    /// Tells the position in the declaration, for tables indexed by kind.
    pub const fn index(self) -> usize {
        self as usize
    }
}

string_enum! {
    /// What the prompt is for: choose a tool, fill in its arguments, understand a result, answer the user.
    #[derive(Default)]
    Phase, "phase" {
        /// Choosing a tool.
        Route = "route",
        /// Filling in the arguments of a chosen tool.
        Call = "call",
        /// Interpreting a tool result.
        Interpret = "interpret",
        /// Answering the user.
        #[default]
        Answer = "answer",
    }
}

string_enum! {
    /// The run mode of 0.18; all three behave the same, no randomness exists.
    Mode, "mode" {
        /// The only behaviour there is.
        Strict = "strict",
        /// Kept for profiles of 0.18.
        Seeded = "seeded",
        /// Kept for profiles of 0.18.
        Adaptive = "adaptive",
    }
}

string_enum! {
    /// What happens to an item at or above the sensitivity floor.
    SensitivityAction, "sensitivity_action" {
        /// It leaves, with the call or results it belongs to.
        Drop = "drop",
        /// Its text is replaced by the redaction hooks.
        Redact = "redact",
    }
}

string_enum! {
    /// What happens when items were dropped for the budget.
    OverflowAction, "overflow_action" {
        /// Nothing beyond the record in the stats.
        Drop = "drop",
        /// A warning in the pack.
        Warn = "warn",
        /// `BUDGET_EXCEEDED` instead of a pack.
        Raise = "raise",
    }
}

string_enum! {
    /// Outcome of a tool.
    Status, "status" {
        /// The result is complete.
        Ok = "ok",
        /// A part of the result is missing or malformed.
        Partial = "partial",
        /// The tool failed.
        Error = "error",
    }
}

string_enum! {
    /// How the firewall treated a result.
    Strategy, "strategy" {
        /// No result was treated.
        Noop = "noop",
        /// Below the threshold, unchanged.
        Passthrough = "passthrough",
        /// Replaced by a summary.
        Summary = "summary",
        /// The same content in fewer tokens: white space, repeats and repeated keys gone, nothing lost.
        Reshaped = "reshaped",
        /// Replaced by a projection of kept paths.
        Structured = "structured",
        /// Replaced by the summary of a model-backed summarizer.
        LlmSummary = "llm_summary",
        /// Several strategies, in a roll-up only.
        Mixed = "mixed",
    }
}

string_enum! {
    /// The stage of a build that decided about an item.
    Stage, "stage" {
        /// Admits the kinds of the phase.
        Candidates = "candidates",
        /// Adds parents, calls and results that belong together.
        Closure = "closure",
        /// Drops or redacts what is at or above the floor.
        Sensitivity = "sensitivity",
        /// Shortens large results.
        Firewall = "firewall",
        /// Scores relevance to the query.
        Score = "score",
        /// Drops exact repeats.
        Dedup = "dedup",
        /// Applies the token budget and the limits per kind.
        Select = "select",
        /// Writes the prompt.
        Render = "render",
    }
}

string_enum! {
    /// In which form an item stands in the prompt.
    RenderedAs, "form" {
        /// The whole text.
        Whole = "whole",
        /// The passages that match the query, gaps marked.
        Excerpt = "excerpt",
        /// One line saying that it exists, because its kind is not shown in this phase.
        Stub = "stub",
        /// Text replaced by redaction hooks.
        Redacted = "redacted",
    }
}

string_enum! {
    /// Why an item is not in the prompt.
    DropReason, "drop reason" {
        // INVARIANT: snapshots hold a reason by its place in this list, so a new one is the last.
        /// No room was left for it.
        Budget = "budget",
        /// Others in the prompt have all of its lines, and no room was left when these had their turn.
        NearRepeat = "near_repeat",
        /// Another item says exactly the same.
        Dedup = "dedup",
        /// It is at or above the sensitivity floor.
        Sensitivity = "sensitivity",
        /// The call or result it belongs to was dropped.
        Pair = "pair",
        /// The prompt has as many of its kind as the policy allows.
        KindLimit = "kind_limit",
    }
}

string_enum! {
    /// Why a running prompt does not go on with the one before.
    CutReason, "reason for a cut" {
        /// There is none before.
        First = "first",
        /// The next one would not fit.
        Full = "full",
        /// A shorter one pays itself back.
        Pays = "pays",
        /// The provider's cache is lost: too much time, another model, other tools.
        Cold = "cold",
        /// There is no cache.
        Uncached = "uncached",
        /// The instructions or the header changed.
        Instructions = "instructions",
        /// The budget changed.
        Budget = "budget",
        /// Something in it was edited, withheld or forgotten.
        Edited = "edited",
        /// Something must be in it that left.
        Pinned = "pinned",
        /// It was in another format.
        Format = "format",
        /// What stood in it is not stored any more.
        Restored = "restored",
    }
}

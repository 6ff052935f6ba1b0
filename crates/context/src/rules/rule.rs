//! A standing instruction as callers are told of it.

use serde::Serialize;

use super::find::StatementKind;

contextweaver_model::string_enum! {
    /// Whether an instruction of the user holds.
    RuleState, "state" {
        /// It stands in every prompt that has room for it.
        InForce = "in_force",
        /// It was for one time alone, and stands in no prompt for its own sake.
        Once = "once",
        /// What was said later takes its place.
        Replaced = "replaced",
        /// It was taken back.
        Withdrawn = "withdrawn",
    }
}

/// An instruction that the user gave, as far as its form tells, or that you added.
#[contextweaver_model::sparse]
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct StandingRule {
    /// The item, and the place among what was found in it, from 1 on: `u1#1`. Of what you added, its own: `rule:0`.
    pub id: String,
    /// The user's words, or those that you put in their place; secrets are masked.
    pub text: String,
    /// What it does.
    pub kind: StatementKind,
    /// Whether it holds.
    pub state: RuleState,
    /// What it was recognised by, for people to read: `says "never"`, `a limit with a number`, `added by the caller`.
    pub why: String,
    /// The turn that it was said in; absent where you added it.
    pub item_id: Option<String>,
    /// The user's words, where you put others in their place.
    pub said: Option<String>,
    /// The instruction that took its place or took it back; absent where you withdrew it.
    pub replaced_by: Option<String>,
}

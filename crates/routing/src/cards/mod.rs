//! What a model chooses from, and what becomes of its choice.
//!
//! [`ChoiceCard`] is the record, [`make_choice_cards`] keeps each one small, [`pack_cards`] keeps all of them within a
//! budget, [`render_cards`] writes them. [`selection_schema`] and [`validate_selection`] are the contract about the
//! choice, [`tools_for`] writes tools as providers take them.

mod card;
mod downlevel;
mod hydration;
mod limits;
mod names;
mod pack;
mod provider;
mod render;
mod selection;

pub use card::{ChoiceCard, SAFETY_LEVELS, card_tokens};
pub use downlevel::{SchemaChange, SchemaDialect, down_level, own_arguments};
pub use hydration::{SchemaSource, hydrate_with_schema, schema_of};
pub use limits::{CardOptions, CardScores, MadeCards, SkippedCard, make_choice_cards, truncate_description};
pub use names::ToolNames;
pub use pack::{PackedCards, pack_cards};
pub use provider::{ProviderOptions, ProviderTools, TOOL_PROVIDERS, tools_for};
pub use render::{CardStyle, card_line, render_cards};
pub use selection::{
    ResolveName, SelectionSchemaOptions, SelectionValidation, ValidateOptions, selection_schema, validate_selection,
};

//! Which [`Provider`] each format has.

use super::provider::Provider;
use super::{Format, ai_sdk_model, ai_sdk_ui, anthropic, gemini, openai_chat, openai_responses};

impl Format {
    /// Tells whether calls have ids, which their results name. Without them a result is that of a call by its place.
    ///
    /// ```
    /// use contextweaver_convert::providers::Format;
    ///
    /// assert!(Format::OpenAiChat.has_call_ids() && !Format::Gemini.has_call_ids());
    /// ```
    pub const fn has_call_ids(self) -> bool {
        self.provider().overhead.has_call_ids
    }

    /// Tells whether messages are items with ids of their own, by which one that is handed over twice is known.
    ///
    /// ```
    /// use contextweaver_convert::providers::Format;
    ///
    /// assert!(Format::OpenAiResponses.has_items() && !Format::OpenAiChat.has_items());
    /// ```
    pub const fn has_items(self) -> bool {
        self.provider().rules.has_items
    }

    /// Returns what there is to know of the format.
    pub(super) const fn provider(self) -> &'static Provider {
        match self {
            Self::OpenAiChat => &openai_chat::OPENAI_CHAT,
            Self::OpenAiResponses => &openai_responses::OPENAI_RESPONSES,
            Self::Anthropic => &anthropic::ANTHROPIC,
            Self::Gemini => &gemini::GEMINI,
            Self::AiSdkUi => &ai_sdk_ui::AI_SDK_UI,
            Self::AiSdkModel => &ai_sdk_model::AI_SDK_MODEL,
        }
    }
}

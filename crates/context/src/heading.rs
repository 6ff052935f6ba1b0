//! What stands around the items, and what it leaves them of the budget.

use super::draft::BuildInputs;
use super::prompt::PromptSection;
use super::render::{Renderer, join_sections};
use super::request::BuildRequest;
use contextweaver_base::{Error, ErrorCode, Result};

/// Header and footer of a prompt, weighed.
#[derive(Debug)]
pub struct PromptFrame {
    /// Memory sections and the caller's header.
    pub sections: Vec<PromptSection>,
    /// The sections as one text.
    pub header: String,
    /// The caller's footer.
    pub footer: String,
    /// Their cost with what the renderer puts around them, in quarter tokens.
    pub quarters: u64,
    /// Tokens the whole prompt may have.
    pub budget: u64,
}

impl PromptFrame {
    /// Weighs header and footer against the budget.
    pub fn new(
        sections: Vec<PromptSection>,
        footer: String,
        sources: &BuildInputs,
        request: &BuildRequest,
        renderer: &dyn Renderer,
    ) -> Self {
        let texts: Vec<&str> = sections.iter().map(|section| section.text.as_str()).collect();
        let header = join_sections(&texts, super::render::SEPARATOR);
        let quarters = renderer.heading_quarters(sources, &header, &footer);
        let budget = request.budget_tokens.unwrap_or_else(|| sources.options.budget.of(request.phase));
        Self { sections, header, footer, quarters, budget }
    }

    /// Returns the quarter tokens left for items; an oversized header is an error.
    pub fn limit(&self) -> Result<u64> {
        // A token is only charged when full, and the last section needs no separator after it.
        let available = 4 * self.budget + 3 + super::render::text::SEPARATOR_QUARTERS;
        available.checked_sub(self.quarters).ok_or_else(|| {
            let over = (self.quarters - available).div_ceil(4);
            Error::new(ErrorCode::BudgetExceeded, format!("header and footer exceed the budget by {over} tokens"))
                .hint("shorten them or raise the budget")
                .detail("over_by", over)
                .detail("limit", self.budget)
        })
    }
}

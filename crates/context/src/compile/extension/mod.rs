//! The next prompt of append mode: how much of the previous one stays, and what comes after it.
//!
//! A fresh selection says what the query wants. The previous prompt may stay whole, or up to one of its sections; each
//! choice is worth the share of the wanted scores that it shows, less a price for the bytes that are not repeated and for
//! the room that is used up. The price rises as less is repeated than the option `append.stability` asks for, and falls
//! where the previous prompt shows little of what the query wants.

mod prefix;
mod standing;

use self::prefix::PrefixChoice;
use self::standing::StandingSections;
use crate::compile::append::{PromptLayout, PromptManifest, cut};
use crate::compile::frame::PromptFrame;
use crate::compile::select::plan::Planner;
use crate::compile::select::units::UnitSelection;
use crate::compile::state::BuildState;
use contextweaver_base::Result;

/// Extends the previous prompt, or keeps a part of it where the query asks for what it has no room for.
pub fn extend(
    state: &BuildState,
    planner: &Planner,
    manifest: &PromptManifest,
    frame: &PromptFrame,
    limit: u64,
) -> Result<(UnitSelection, Option<PromptLayout>)> {
    let standing = StandingSections::of(state, planner, manifest, frame);
    let fresh = state.selector(planner, limit).choose();
    let choice = PrefixChoice::new(state, planner, manifest, &standing, fresh.as_ref().ok(), limit);
    let Some(plan) = choice.best() else {
        // Beside marks of recalled items there is no room for what must stand there.
        fresh?;
        let selection = cut(state, planner, limit)?;
        let layout = PromptLayout::of_log(state, &selection, "overflow");
        return Ok((selection, Some(layout)));
    };
    let is_whole = standing.is_whole && plan.keep == standing.parts.len();
    let reason = match () {
        () if !standing.has_header => "header",
        () if is_whole && !manifest.footer.is_empty() => "footer",
        () if is_whole => "none",
        () if !standing.is_whole => "changed",
        () if choice.can_extend() => "query",
        () => "overflow",
    };
    Ok(choice.finish(&plan, reason))
}

//! What stands above the items.

use std::fmt::Write as _;

use crate::callbacks::CallbackAnswers;
use crate::frame::{episode_items, fact_item};
use crate::options::ManagerOptions;
use crate::sensitivity;
use crate::store::{EpisodicStore, FactStore};
use contextweaver_base::{Result, limits};
use contextweaver_model::ContextItem;

/// Returns the header: memory sections, then the caller's text.
pub fn header(
    caller: &str,
    memory_allowed: bool,
    episodes: &EpisodicStore,
    facts: &FactStore,
    options: &ManagerOptions,
    answers: &CallbackAnswers,
) -> Result<String> {
    let mut sections = Vec::new();
    if memory_allowed {
        let recent = episode_items(episodes.latest(limits::HEADER_EPISODES));
        let (recent, _) = sensitivity::filter(recent, options, answers)?;
        if !recent.is_empty() {
            let lines = recent.iter().map(|item| format!("- {}", item.text)).collect::<Vec<_>>();
            sections.push(format!("[EPISODIC MEMORY]\n{}", lines.join("\n")));
        }
        let (known, _) = sensitivity::filter(facts.all().map(fact_item).collect(), options, answers)?;
        if !known.is_empty() {
            sections.push(fact_section(&known));
        }
    }
    if !caller.is_empty() {
        sections.push(caller.to_owned());
    }
    Ok(sections.join("\n\n"))
}

/// The list of facts stops at 64 facts, or at the first that takes it over 2,000 characters.
fn fact_section(facts: &[ContextItem]) -> String {
    let mut out = String::from("[FACTS]");
    let mut length = out.chars().count();
    for (index, fact) in facts.iter().enumerate() {
        if index >= limits::HEADER_FACTS {
            let _ = write!(out, "\n- ... ({} more facts omitted)", facts.len() - index);
            break;
        }
        let line = format!("- {}", fact.text);
        length += line.chars().count();
        if length > limits::HEADER_FACT_CHARS {
            out.push_str("\n- ... (facts truncated to fit header budget)");
            break;
        }
        out.push('\n');
        out.push_str(&line);
    }
    out
}

//! Collected inputs as part of a deliberation.

use super::TrackedInput;
use crate::record::{Deliberation, DeliberationInput, DeliberationStep};
use crate::timestamps;
use contextweaver_model::json::JsonMap;

/// Puts inputs into a deliberation, after what is there: each with the step that rests on it.
pub(super) fn attach(deliberation: Option<Deliberation>, group: &[&TrackedInput]) -> Deliberation {
    let is_first = deliberation.is_none();
    let mut deliberation = deliberation.unwrap_or_default();
    let mut number = deliberation.steps.iter().map(|step| step.step).max().unwrap_or_default();
    for tracked in group {
        let (_, source, kind) = tracked.kind.names();
        let timestamp = Some(timestamps::iso(tracked.at));
        let id = add_input(&mut deliberation, tracked, source, timestamp.clone());
        number = number.saturating_add(1);
        deliberation.steps.push(DeliberationStep {
            step: number,
            thought: tracked.text.clone(),
            inputs_used: vec![id],
            timestamp,
            kind: Some(kind.to_owned()),
            ..DeliberationStep::default()
        });
    }
    if let (true, [first, .., last]) = (is_first, group) {
        deliberation.total_duration_ms = Some(u64::try_from(last.at - first.at).unwrap_or_default());
    }
    deliberation
}

/// Adds an input under an id of its own; one that the deliberation has already is left as it is.
fn add_input(
    deliberation: &mut Deliberation,
    tracked: &TrackedInput,
    source: &str,
    timestamp: Option<String>,
) -> String {
    let find = |id: &str| deliberation.inputs.iter().find(|input| input.id == id);
    let mut id = tracked.id.clone();
    let mut next = 2_u32;
    while let Some(known) = find(&id) {
        if known.text == tracked.text {
            return id;
        }
        id = format!("{}-{next}", tracked.id);
        next += 1;
    }
    let input = DeliberationInput {
        id: id.clone(),
        text: tracked.text.clone(),
        source: Some(source.to_owned()),
        timestamp,
        unknown: JsonMap::new(),
    };
    deliberation.inputs.push(input);
    id
}

//! Stage 4: what of a large result is shown, and what it costs.

use crate::compile::prompt::EntryRendering;
use crate::compile::state::BuildState;

/// Stage 4. What is large was replaced by a digest when it came in, so a build only weighs what is left to be shown.
pub fn firewall(state: &mut BuildState) {
    let (sources, renderer) = (state.sources, state.renderer);
    for row in &mut state.rows {
        let (form, content) = row.content();
        row.quarters = renderer.entry_quarters(sources, row.at, &EntryRendering { form, content: &content });
    }
}

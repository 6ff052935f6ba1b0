//! Which decisions figures are about.

use crate::host::CallerContext;
use crate::record::Decision;
use contextweaver_base::Result;
use contextweaver_model::json::Fields;

/// What decisions must be like; all that is given holds.
#[derive(Debug, Clone, Default)]
pub(super) struct DecisionSelector {
    category: Option<String>,
    stakes: Option<String>,
    project: Option<String>,
    feature: Option<String>,
    agent: Option<String>,
}

impl DecisionSelector {
    /// Takes what is given of `category`, `stakes`, `project`, `feature`, and `scope: "agent"`.
    pub(super) fn take(fields: &mut Fields, call: &CallerContext<'_>) -> Result<Self> {
        let is_own = fields.opt_string("scope")?.as_deref() == Some("agent");
        Ok(Self {
            category: fields.opt_string("category")?,
            stakes: fields.opt_string("stakes")?,
            project: fields.opt_string("project")?,
            feature: fields.opt_string("feature")?,
            agent: is_own.then(|| call.agent.to_owned()),
        })
    }

    /// Leaves the choice of the agent's own decisions.
    pub(super) fn with_agent_of(mut self, other: Self) -> Self {
        self.agent = other.agent;
        self
    }

    /// Returns the agent, if only its decisions are meant.
    pub(super) fn agent(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Tells whether a decision is one of those.
    pub(super) fn holds(&self, decision: &Decision) -> bool {
        let is = |wanted: &Option<String>, found: Option<&str>| wanted.is_none() || wanted.as_deref() == found;
        is(&self.category, Some(&decision.category))
            && is(&self.stakes, decision.stakes.as_deref())
            && is(&self.project, decision.project.as_deref())
            && is(&self.feature, decision.feature.as_deref())
            && is(&self.agent, decision.recorded_by.as_deref())
    }
}

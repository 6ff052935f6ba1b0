//! Rules of policies, and overrides, that speak of tools which are not there: most of them are typing errors, and a rule that denies nothing is
//! worse than none.

use serde::Serialize;

use super::Gateway;
use crate::front::{JOINT, ToolPlace};
use crate::policy::{PolicySubject, ToolPolicy};

/// Comparisons of a rule with a tool; rules beyond are not looked at.
const MAX_COMPARED: usize = 500_000;
/// Rules that are told.
const MAX_TOLD: usize = 100;

/// A rule whose `tool` matches none of the tools that are known, or an override of none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct UnmatchedRule {
    /// Where the rule says so, as a JSON pointer into the options.
    pub path: String,
    /// What it says.
    pub tool: String,
}

impl Gateway {
    /// Returns the rules that name tools which no server has, when each server has listed its tools or cannot be reached; nothing
    /// before that.
    pub(crate) fn unmatched_rules(&self) -> Vec<UnmatchedRule> {
        if self.servers.iter().any(|server| server.is_awaited() && !server.is_unavailable()) {
            return Vec::new();
        }
        let places = |server: usize| {
            let tools = self.servers.get(server).map_or(0, |server| server.names().len());
            (0..tools).map(move |tool| ToolPlace { server, tool })
        };
        let subjects = |server: usize| places(server).map(|place| self.subject(place, "tool_execute", None));
        let all: Vec<PolicySubject> = (0..self.servers.len()).flat_map(subjects).collect();
        let mut unmatched = unmatched(&self.options.policy, "/policy", &all);
        for (at, options) in self.options.servers.iter().enumerate() {
            let Some(policy) = &options.policy else { continue };
            let own: Vec<PolicySubject> = subjects(at).collect();
            unmatched.extend(self::unmatched(policy, &format!("/servers/{at}/policy"), &own));
        }
        unmatched.extend(self.unmatched_overrides());
        unmatched.truncate(MAX_TOLD);
        unmatched
    }

    /// Overrides of tools that no server has. Of a server that cannot be reached nobody knows.
    fn unmatched_overrides(&self) -> Vec<UnmatchedRule> {
        let rule = |tool: &str, path: &str| UnmatchedRule { path: path.to_owned(), tool: tool.to_owned() };
        let ready = self.servers.iter().filter(|server| !server.is_awaited());
        let of_servers =
            ready.flat_map(|server| server.unmatched_overrides().map(|(tool, said)| rule(tool, &said.path)));
        let of_none = self.options.tools.iter().filter(|(key, _)| {
            let is_of = |name: &str| key.strip_prefix(name).is_some_and(|rest| rest.starts_with(JOINT));
            !self.servers.iter().any(|server| is_of(&server.name))
        });
        of_servers.chain(of_none.map(|(key, said)| rule(key, &said.path))).collect()
    }
}

fn unmatched(policy: &ToolPolicy, path: &str, subjects: &[PolicySubject]) -> Vec<UnmatchedRule> {
    let most = MAX_COMPARED / subjects.len().max(1);
    let rules = policy.unmatched(subjects, most).into_iter();
    rules.map(|(at, tool)| UnmatchedRule { path: format!("{path}/rules/{at}/tool"), tool }).collect()
}

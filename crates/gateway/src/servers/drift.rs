//! Pins of tools: what each said when it was looked at, and whether it still says so.

use std::rc::Rc;

use contextweaver_base::limits;
use contextweaver_base::order::{SortedMap, WordSet, sort};
use contextweaver_model::SelectableItem;
use contextweaver_routing::catalog::{CatalogFinding, assess, worst};

use super::report::{DriftedTool, QuarantineReason};
use super::tool::ServerTool;
use crate::front::safe_line;
use crate::options::{OnFinding, ToolPins};

/// Findings that make a tool unfit to be shown: it hides something, or holds a credential, or says that it is harmless and
/// dangerous at once. The others of severity error are about form, as a missing description is, and are reported.
const HIDES: [&str; 4] = ["text-invisible", "text-control", "text-secret", "safety-contradiction"];

/// What happens when something is found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DriftRules {
    pub drift: OnFinding,
    pub lint: OnFinding,
}

/// What was pinned of the tools of one server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pinned {
    /// Digests by name.
    pub digests: ToolPins,
    /// The tools that were pinned, where they were seen and not only their digests read.
    items: SortedMap<String, Rc<SelectableItem>>,
    /// Digests that somebody accepted.
    pub accepted: WordSet,
    /// Whether pins of an earlier run are lost: a tool without one is not taken for new then.
    pub are_lost: bool,
}

/// The code of a tool whose pin is lost.
const LOST: &str = "pin-lost";

impl Pinned {
    pub fn new(digests: ToolPins, accepted: Vec<String>, are_lost: bool) -> Self {
        Self { digests, items: SortedMap::new(), accepted: WordSet::new(accepted), are_lost }
    }

    /// Takes tools without a pin for new again when those that are there have all been accepted.
    pub fn settle(&mut self, tools: &[ServerTool]) {
        let waits = |tool: &ServerTool| tool.quarantine.iter().any(|reason| reason.code == LOST);
        self.are_lost = self.are_lost && (tools.is_empty() || tools.iter().any(waits));
    }

    /// Pins a tool as it is.
    pub fn pin(&mut self, tool: &ServerTool) {
        self.digests.insert(tool.name().to_owned(), tool.digest.clone());
        self.items.insert(tool.name().to_owned(), Rc::clone(&tool.item));
    }

    /// Accepts a tool as it is, whatever was found.
    pub fn accept(&mut self, tool: &ServerTool) {
        let mut digests = self.accepted.words().to_vec();
        digests.push(tool.digest.clone());
        self.accepted = WordSet::new(digests);
        self.pin(tool);
    }

    /// Looks whether a tool is what was pinned, and pins it when it is new; returns how it changed.
    pub fn compare(&mut self, tool: &mut ServerTool, rules: DriftRules) -> Option<DriftedTool> {
        let name = tool.name();
        let Some(pinned) = self.digests.get(name).cloned() else {
            if self.are_lost && rules.drift == OnFinding::Quarantine && !self.accepted.contains(&tool.digest) {
                let message = "the pins of an earlier run cannot be read: nobody knows whether the tool has changed";
                tool.quarantine.push(QuarantineReason { code: LOST, message: message.to_owned() });
            } else {
                self.pin(tool);
            }
            return None;
        };
        if pinned == tool.digest {
            self.items.insert(name.to_owned(), Rc::clone(&tool.item));
            return None;
        }
        let known = self.items.get(name);
        let changes = known.map(|was| assess(was, &tool.item));
        let drifted = DriftedTool {
            name: safe_line(name),
            pinned,
            digest: tool.digest.clone(),
            risk: changes.as_ref().map_or("review", |changes| worst(changes)),
            changes: changes.unwrap_or_default(),
        };
        if rules.drift == OnFinding::Quarantine && !self.accepted.contains(&tool.digest) {
            let message = "the tool is not what was pinned".to_owned();
            tool.quarantine.push(QuarantineReason { code: "pin-changed", message });
        } else {
            self.pin(tool);
        }
        Some(drifted)
    }

    /// Puts a tool into quarantine for what was found in it, unless it was accepted.
    pub fn judge(&self, tool: &mut ServerTool, finding: &CatalogFinding, rules: DriftRules) {
        if !HIDES.contains(&finding.code) || rules.lint == OnFinding::Report || self.accepted.contains(&tool.digest) {
            return;
        }
        if tool.quarantine.iter().all(|reason| reason.code != finding.code) {
            tool.quarantine.push(QuarantineReason { code: finding.code, message: finding.message.clone() });
        }
    }

    /// Forgets what is kept of tools that are not listed, when that is too much.
    pub fn prune(&mut self, tools: &[ServerTool]) {
        let mut listed: Vec<&str> = tools.iter().map(ServerTool::name).collect();
        sort(&mut listed);
        let is_listed = |name: &str| listed.binary_search(&name).is_ok();
        // Items only serve to say what changed.
        for name in gone(self.items.keys(), &is_listed, 0) {
            self.items.remove(&name);
        }
        for name in gone(self.digests.keys(), &is_listed, limits::MAX_GONE_PINS) {
            self.digests.remove(&name);
        }
        let mut digests: Vec<&str> = tools.iter().map(|tool| tool.digest.as_str()).collect();
        sort(&mut digests);
        if self.accepted.len() > limits::MAX_GONE_PINS {
            let kept = self.accepted.words().iter().filter(|digest| digests.binary_search(&digest.as_str()).is_ok());
            self.accepted = WordSet::new(kept.cloned().collect());
        }
    }
}

/// Names of what is not listed, beyond so many.
fn gone<'a>(names: impl Iterator<Item = &'a String>, is_listed: &dyn Fn(&str) -> bool, most: usize) -> Vec<String> {
    names.filter(|name| !is_listed(name)).skip(most).cloned().collect()
}

//! The beam navigator: down the graph from the root, a few best branches at a time.
//!
//! It can miss what an exact search finds, because a branch is judged by its label.

use super::record::{RouteStep, ScoredChild};
use super::shortlist::RankedCandidate;
use contextweaver_base::order::{SortedMap, sort_by};
use contextweaver_model::json::numbers::round;

/// The graph and its scores, as the beam walks over them.
pub struct BeamGraph<'a> {
    /// Id of the root.
    pub root: &'a str,
    /// Returns the ids of a node's children, sorted.
    pub children: &'a dyn Fn(&str) -> Vec<&'a str>,
    /// Score of a node or a tool for the query.
    pub score: &'a dyn Fn(&str) -> f64,
    /// Whether an id is that of a tool that takes part.
    pub is_active: &'a dyn Fn(&str) -> bool,
    /// Whether a child may be followed: a tool that takes part, or a node above one.
    pub is_eligible: &'a dyn Fn(&str) -> bool,
}

/// Bounds of the walk.
#[derive(Debug, Clone, Copy)]
pub struct BeamLimits {
    /// Branches that are followed at each level.
    pub beam_width: usize,
    /// Levels below the root that are opened.
    pub max_depth: usize,
    /// Tools to find before the walk may end.
    pub top_k: usize,
    /// Distance of the best two below which one more branch is followed.
    pub confidence_gap: f64,
}

/// A branch: its score so far and its nodes from below the root.
type BeamBranch<'a> = (f64, Vec<&'a str>);

struct BeamWalk<'a> {
    terrain: &'a BeamGraph<'a>,
    reach: BeamLimits,
    found: SortedMap<&'a str, BeamBranch<'a>>,
    unexplored: Vec<BeamBranch<'a>>,
    /// Score of the worst branch that was followed.
    worst: f64,
    steps: Vec<RouteStep>,
}

/// Returns the tools found, best first, and the nodes opened on the way.
pub fn beam_search<'a>(terrain: &'a BeamGraph<'a>, reach: BeamLimits) -> (Vec<RankedCandidate>, Vec<RouteStep>) {
    let mut walk = BeamWalk {
        terrain,
        reach,
        found: SortedMap::new(),
        unexplored: Vec::new(),
        worst: f64::MAX,
        steps: Vec::new(),
    };
    walk.descend();
    walk.fill_up();
    let mut ranked: Vec<RankedCandidate> = walk
        .found
        .iter()
        .map(|(id, (score, path))| RankedCandidate {
            id: (*id).to_owned(),
            score: *score,
            path: path.iter().map(|node| (*node).to_owned()).collect(),
        })
        .collect();
    by_score(&mut ranked);
    (ranked, walk.steps)
}

/// Sorts by score, best first, and equal scores by id.
pub fn by_score(ranked: &mut [RankedCandidate]) {
    sort_by(ranked, |a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
}

fn sort_branches(branches: &mut [BeamBranch<'_>]) {
    sort_by(branches, |a, b| b.0.total_cmp(&a.0).then_with(|| a.1.last().cmp(&b.1.last())));
}

impl<'a> BeamWalk<'a> {
    fn descend(&mut self) {
        let mut beam: Vec<BeamBranch<'a>> = vec![(0.0, Vec::new())];
        for depth in 0..self.reach.max_depth {
            if beam.is_empty() {
                break;
            }
            let mut next = Vec::new();
            for branch in beam {
                self.open(depth, branch, &mut next);
            }
            sort_branches(&mut next);
            let cut = next.split_off(next.len().min(self.reach.beam_width));
            self.unexplored.extend(cut);
            self.worst = next.iter().map(|branch| branch.0).fold(self.worst, f64::min);
            beam = next;
        }
        self.unexplored.extend(beam);
    }

    /// Scores the children of the branch's end: the best go on, the others wait.
    fn open(&mut self, depth: usize, (score, path): BeamBranch<'a>, next: &mut Vec<BeamBranch<'a>>) {
        let terrain = self.terrain;
        let node = path.last().copied().unwrap_or(terrain.root);
        let children = (terrain.children)(node);
        if children.is_empty() {
            self.collect(node, score, path);
            return;
        }
        let mut scored: Vec<(&'a str, f64)> = children
            .into_iter()
            .filter(|child| (terrain.is_eligible)(child))
            .map(|child| (child, (terrain.score)(child)))
            .collect();
        sort_by(&mut scored, |a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        let is_close = scored.len() >= 2 && scored[0].1 - scored[1].1 < self.reach.confidence_gap;
        let keep = scored.len().min(self.reach.beam_width + usize::from(is_close));
        self.steps.push(RouteStep {
            depth: depth as u64,
            node: node.to_owned(),
            scored_children: scored.iter().map(scored_child).collect(),
            kept: scored[..keep].iter().map(|(child, _)| (*child).to_owned()).collect(),
        });
        for (index, (child, own)) in scored.into_iter().enumerate() {
            let branch = extended(&path, child);
            if index >= keep {
                self.unexplored.push((score + own, branch));
            } else if (terrain.is_active)(child) {
                self.collect(child, score + own, branch);
            } else {
                next.push((score + own, branch));
            }
        }
    }

    fn collect(&mut self, id: &'a str, score: f64, path: Vec<&'a str>) {
        if (self.terrain.is_active)(id) && !self.found.contains_key(&id) {
            self.found.insert(id, (score, path));
        }
    }

    /// Opens waiting branches whole, best first, until enough tools are found. A branch that is as good as one that was
    /// followed is opened in any case: it was left for its id alone.
    fn fill_up(&mut self) {
        let mut waiting = std::mem::take(&mut self.unexplored);
        sort_branches(&mut waiting);
        for (score, path) in waiting {
            if self.found.len() >= self.reach.top_k && score < self.worst {
                break;
            }
            let Some(node) = path.last().copied() else { continue };
            if (self.terrain.is_active)(node) {
                self.collect(node, score, path);
            } else {
                let levels = self.reach.max_depth.saturating_sub(path.len());
                for (id, (score, path)) in self.below((score, path), levels).into_entries() {
                    self.collect(id, score, path);
                }
            }
        }
    }

    /// Returns all tools below a branch. One that is reached twice counts as it was reached last.
    fn below(&self, branch: BeamBranch<'a>, levels: usize) -> SortedMap<&'a str, BeamBranch<'a>> {
        let mut tools = SortedMap::new();
        let mut open = vec![(branch, levels)];
        while let Some(((score, path), levels)) = open.pop() {
            let Some(node) = path.last().copied() else { continue };
            if (self.terrain.is_active)(node) {
                tools.insert(node, (score, path));
            } else if levels > 0 {
                let children = (self.terrain.children)(node);
                // The last pushed is opened first.
                for child in children.into_iter().rev().filter(|child| (self.terrain.is_eligible)(child)) {
                    open.push(((score + (self.terrain.score)(child), extended(&path, child)), levels - 1));
                }
            }
        }
        tools
    }
}

fn extended<'a>(path: &[&'a str], child: &'a str) -> Vec<&'a str> {
    path.iter().copied().chain([child]).collect()
}

fn scored_child((id, score): &(&str, f64)) -> ScoredChild {
    ScoredChild { id: (*id).to_owned(), score: round(*score, 4) }
}

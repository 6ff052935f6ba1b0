//! How a stretch of sorted tools is split into groups.

use std::ops::Range;

use super::cluster::cluster_words;
use super::keys::{slug, span};
use super::labels::LABEL_WORDS;
use super::options::{BuildOptions, GroupingStrategy};
use super::words::Vocabulary;
use contextweaver_base::order::sort_by;
use contextweaver_model::SelectableItem;
use contextweaver_text::unicode::truncate;

/// Most characters of a label.
const LABEL_CHARS: usize = 100;
/// Characters of one name within a label.
const NAME_CHARS: usize = 32;
/// Clusters of one node, so that time stays near linear.
const MAX_CLUSTERS: usize = 32;

/// A group of tools: a stretch of the sorted list.
#[derive(Debug, Clone)]
pub(super) struct ToolGroup {
    pub range: Range<usize>,
    /// Its key among its siblings; another group may have the same.
    pub key: String,
    /// What its tools have in common, for the label.
    scope: String,
    /// Segments of the namespace that all its tools share, as far as a node above says so.
    level: usize,
    is_root: bool,
}

impl ToolGroup {
    fn new(range: Range<usize>, key: String, scope: String, level: usize) -> Self {
        Self { range, key, scope, level, is_root: false }
    }
}

/// The sorted list, with what is needed to split and to name its parts.
pub(super) struct Splitter<'a> {
    items: Vec<&'a SelectableItem>,
    /// Segments of the namespaces; empty where namespaces do not count.
    segments: Vec<Vec<&'a str>>,
    /// The words of each tool, where they are needed.
    words: Vec<Vec<u32>>,
    /// The words by number.
    names: Vec<String>,
    counts: Vec<u32>,
    options: BuildOptions,
    /// Whether tools are put together by likeness.
    clusters: bool,
    bytes: usize,
}

impl<'a> Splitter<'a> {
    /// Sorts tools for a strategy; keys have at most so many bytes. Without labels words are read only where they decide.
    pub fn new(mut items: Vec<&'a SelectableItem>, options: BuildOptions, bytes: usize, has_labels: bool) -> Self {
        let with_namespace = items.iter().filter(|item| !item.namespace.is_empty()).count();
        let by_namespace = match options.strategy {
            GroupingStrategy::Auto => with_namespace * 2 >= items.len(),
            strategy => strategy == GroupingStrategy::Namespace,
        };
        let clusters = matches!(options.strategy, GroupingStrategy::Auto | GroupingStrategy::Cluster) && !by_namespace;
        let lower: Vec<String> = items.iter().map(|item| item.name.to_lowercase()).collect();
        let mut order: Vec<usize> = (0..items.len()).collect();
        let mut segments: Vec<Vec<&str>> = vec![Vec::new(); items.len()];
        if by_namespace {
            for (place, item) in items.iter().enumerate() {
                segments[place] = item.namespace.split('.').filter(|segment| !segment.is_empty()).collect();
            }
        }
        // The list is in the order of ids, so those decide between equal names.
        sort_by(&mut order, |a, b| segments[*a].cmp(&segments[*b]).then_with(|| lower[*a].cmp(&lower[*b])));
        items = order.iter().map(|place| items[*place]).collect();
        segments = order.iter().map(|place| std::mem::take(&mut segments[*place])).collect();
        let mut vocabulary = Vocabulary::default();
        let read = if has_labels || clusters { items.as_slice() } else { &[] };
        let words = read.iter().map(|item| vocabulary.as_read(item)).collect();
        let names: Vec<String> = vocabulary.names().into_iter().map(str::to_owned).collect();
        let counts = vec![0; names.len()];
        Self { items, segments, words, names, counts, options, clusters, bytes }
    }

    /// Returns the part that is everything.
    pub fn whole(&self) -> ToolGroup {
        ToolGroup { range: 0..self.items.len(), key: String::new(), scope: String::new(), level: 0, is_root: true }
    }

    /// Returns the tool of a part that has only one.
    pub fn only_item(&self, part: &ToolGroup) -> Option<&'a SelectableItem> {
        (part.range.len() == 1).then(|| self.items[part.range.start])
    }

    /// Splits a part into at most as many as a node may have children, none too large for the levels below.
    pub fn split(&mut self, part: &ToolGroup, depth: u32) -> Vec<ToolGroup> {
        let (size, most) = (part.range.len(), self.options.max_children);
        let (level, runs) = self.runs(part);
        if size <= most && !(part.is_root && self.shows_namespaces(&runs, level)) {
            return Self::singles(part.range.clone());
        }
        let room = (most as u64).saturating_pow(depth - 1);
        let fits = |parts: &[ToolGroup]| {
            (2..=most).contains(&parts.len()) && parts.iter().all(|part| part.range.len() as u64 <= room)
        };
        for attempt in [Self::by_run, Self::by_runs] {
            let parts = attempt(self, part, &runs, level);
            if fits(&parts) {
                return parts;
            }
        }
        if self.clusters {
            let parts = self.by_likeness(part);
            if fits(&parts) {
                return parts;
            }
        }
        self.evenly(part, level, room)
    }

    /// Returns the stretches of one next segment, and at which level that segment is.
    fn runs(&self, part: &ToolGroup) -> (usize, Vec<Range<usize>>) {
        let mut level = part.level;
        let segment = |place: usize, level: usize| self.segments[place].get(level).copied();
        let (first, last) = (part.range.start, part.range.end - 1);
        // What lies between two equal ones is equal to them.
        while segment(first, level).is_some() && segment(first, level) == segment(last, level) {
            level += 1;
        }
        let mut runs: Vec<Range<usize>> = Vec::new();
        for place in part.range.clone() {
            match runs.last_mut() {
                Some(run) if segment(run.start, level) == segment(place, level) => run.end = place + 1,
                _ => runs.push(place..place + 1),
            }
        }
        (level, runs)
    }

    /// Tells whether a short list is better read by namespace: some namespace has several tools, and not all of them.
    fn shows_namespaces(&self, runs: &[Range<usize>], level: usize) -> bool {
        runs.len() > 1 && runs.iter().any(|run| run.len() > 1 && self.segments[run.start].len() > level)
    }

    fn singles(range: Range<usize>) -> Vec<ToolGroup> {
        range.map(|place| ToolGroup::new(place..place + 1, String::new(), String::new(), 0)).collect()
    }

    /// Makes a part of every run; the tools of the namespace itself stand for themselves where there is room.
    fn by_run(&self, part: &ToolGroup, runs: &[Range<usize>], level: usize) -> Vec<ToolGroup> {
        let mut parts = Vec::new();
        for run in runs {
            let segments = &self.segments[run.start];
            if segments.len() > level {
                // A segment that all share has no node of its own.
                let key = slug(&segments[part.level..=level].join("-"), self.bytes);
                parts.push(ToolGroup::new(run.clone(), key, segments[..=level].join("."), level + 1));
            } else if runs.len() - 1 + run.len() <= self.options.max_children {
                parts.extend(Self::singles(run.clone()));
            } else {
                parts.push(ToolGroup::new(run.clone(), span("other", "other", self.bytes), segments.join("."), level));
            }
        }
        parts
    }

    /// Puts neighbouring runs together, about as many groups as runs in a group.
    fn by_runs(&self, _part: &ToolGroup, runs: &[Range<usize>], level: usize) -> Vec<ToolGroup> {
        let most = self.options.max_children;
        let count = runs.len().div_ceil(most).max(runs.len().isqrt()).clamp(2, most.max(2));
        if runs.len() < 2 {
            return Vec::new();
        }
        let mut parts = Vec::new();
        for group in even(0..runs.len(), count) {
            let (first, last) = (runs[group.start].start, runs[group.end - 1].start);
            let [from, to] = [first, last].map(|place| match self.segments[place].get(level) {
                Some(segment) => (*segment).to_owned(),
                None => "other".to_owned(),
            });
            let scope = format!("{} – {}", truncate(&from, NAME_CHARS), truncate(&to, NAME_CHARS));
            let range = first..runs[group.end - 1].end;
            parts.push(ToolGroup::new(range, span(&from, &to, self.bytes), scope, level));
        }
        parts
    }

    /// Puts tools together that have words in common, and rearranges the list so that each group is a stretch.
    fn by_likeness(&mut self, part: &ToolGroup) -> Vec<ToolGroup> {
        let BuildOptions { max_children, target_group_size, .. } = self.options;
        let range = part.range.clone();
        let count = range.len().div_ceil(target_group_size).clamp(2, max_children.clamp(2, MAX_CLUSTERS));
        let words: Vec<&[u32]> = self.words[range.clone()].iter().map(Vec::as_slice).collect();
        let clusters = cluster_words(&words, count);
        let (mut order, mut parts) = (Vec::with_capacity(range.len()), Vec::new());
        for cluster in clusters {
            let start = range.start + order.len();
            order.extend(cluster);
            let range = start..range.start + order.len();
            parts.push(ToolGroup::new(range, String::new(), String::new(), 0));
        }
        let items: Vec<&SelectableItem> = order.iter().map(|place| self.items[range.start + place]).collect();
        let words: Vec<Vec<u32>> =
            order.iter().map(|place| std::mem::take(&mut self.words[range.start + place])).collect();
        self.items[range.clone()].copy_from_slice(&items);
        for (place, words) in range.zip(words) {
            self.words[place] = words;
        }
        for part in &mut parts {
            let top = self.top_words(&part.range);
            let name = |at: usize| top.get(at).map_or("tools", |number| &self.names[*number as usize]);
            part.key = span(name(0), name(1), self.bytes);
        }
        parts
    }

    /// Cuts a part into even stretches.
    fn evenly(&self, part: &ToolGroup, level: usize, room: u64) -> Vec<ToolGroup> {
        let BuildOptions { max_children, target_group_size, .. } = self.options;
        let size = part.range.len();
        let least = (size as u64).div_ceil(room.max(1)) as usize;
        let count = size.div_ceil(target_group_size).max(least).max(2).min(max_children);
        let mut parts = Vec::new();
        for range in even(part.range.clone(), count) {
            let [from, to] = [range.start, range.end - 1].map(|place| self.items[place].name.as_str());
            let scope = format!("{} – {}", truncate(from, NAME_CHARS), truncate(to, NAME_CHARS));
            parts.push(ToolGroup::new(range, span(from, to, self.bytes), scope, level));
        }
        parts
    }

    /// Names a part: what its tools have in common, and their most common words. Returns the label and the hint.
    pub fn label(&mut self, part: &ToolGroup) -> (String, String) {
        let top = self.top_words(&part.range);
        let words: Vec<String> = top.iter().map(|number| truncate(&self.names[*number as usize], NAME_CHARS)).collect();
        let words = words.join(" ");
        let parts: Vec<&str> =
            [part.scope.as_str(), words.as_str()].into_iter().filter(|part| !part.is_empty()).collect();
        let label = truncate(&if parts.is_empty() { "general".to_owned() } else { parts.join(": ") }, LABEL_CHARS);
        let hint = format!("Tools related to {label}");
        (label, hint)
    }

    /// Returns the words most tools of a range have, equal ones in their order.
    fn top_words(&mut self, range: &Range<usize>) -> Vec<u32> {
        let mut seen = Vec::new();
        for words in &self.words[range.clone()] {
            for word in words {
                if self.counts[*word as usize] == 0 {
                    seen.push(*word);
                }
                self.counts[*word as usize] += 1;
            }
        }
        let mut top: Vec<u32> = Vec::new();
        let rank = |word: &u32| (std::cmp::Reverse(self.counts[*word as usize]), &self.names[*word as usize]);
        for word in &seen {
            let at = top.partition_point(|other| rank(other) < rank(word));
            if at < LABEL_WORDS {
                top.insert(at, *word);
                top.truncate(LABEL_WORDS);
            }
        }
        for word in seen {
            self.counts[word as usize] = 0;
        }
        top
    }
}

/// Cuts a range into so many parts, the longer ones first.
fn even(range: Range<usize>, count: usize) -> impl Iterator<Item = Range<usize>> {
    let (size, longer) = (range.len() / count, range.len() % count);
    (0..count).map(move |index| {
        let start = range.start + index * size + index.min(longer);
        start..start + size + usize::from(index < longer)
    })
}

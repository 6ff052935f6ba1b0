//! JSON: failing leaves, odd records of long lists, totals and cursors, ids, keys.

use serde_json::json;

use super::columns::{Columns, FAILED, Oddest, level_of};
use super::leaves::{
    MEMBER_CHARS, MIN_ROWS, cell, flatten, inner, is_id, is_leaf, is_silent, is_table, is_total, path_of, quoted,
    quoted_within,
};
use super::level::{Level, LevelMatch};
use super::{DigestFacts, Rank, around_within, count};
use crate::tree::{JsonKind, JsonNode, JsonTree};
use contextweaver_text::unicode::prefix;

/// Odd records shown of one list.
const MAX_ODD: usize = 8;
/// Scalars that say whose error it is.
const MAX_CONTEXT: usize = 6;
/// Bytes of a path, whose every child repeats it. A longer one is cut, and no selector is made of it.
const MAX_PATH: usize = 1024;

/// Names candidates of a JSON text.
pub fn value(tree: &JsonTree, facts: &mut DigestFacts) {
    part(tree, 0, SelectorReach::Json, facts);
}

/// Names candidates of a JSON value inside other text, from byte `offset`.
pub fn embedded(text: &str, offset: usize, facts: &mut DigestFacts) {
    if let Some(tree) = JsonTree::parse(text) {
        part(&tree, offset, SelectorReach::Part, facts);
    }
}

fn part(tree: &JsonTree, offset: usize, source: SelectorReach, facts: &mut DigestFacts) {
    let root = tree.root();
    let mut walk = JsonWalk { offset, facts, tables: 0, size: tree.text().len(), source };
    if !is_table(root) {
        let what = if root.kind() == JsonKind::Array { count(root.len(), "item") } else { count(root.len(), "key") };
        let keys: Vec<&str> = root.entries().filter_map(|(key, _)| key).map(inner).take(12).collect();
        let keys = keys.join(", ");
        let text = if keys.is_empty() { what } else { format!("{what}: {}", around_within(&keys, 0, 120)) };
        walk.facts.add(Rank::Head, 0, "", &text);
    }
    walk.visit(root, "", Level::None, &Surrounding::default());
}

/// Names candidates of one JSON value per line.
pub fn lines(text: &str, facts: &mut DigestFacts) {
    let each = |take: &mut dyn FnMut(TableRow)| {
        let (mut place, mut index) = (0, 0);
        for line in text.split_inclusive('\n') {
            let start = place;
            place += line.len();
            if let Some(tree) = JsonTree::parse(line) {
                take(TableRow { index, key: None, node: tree.root(), place: start });
            }
            // Rows are counted as they are read: each line that is not blank.
            index += usize::from(!line.trim().is_empty());
        }
    };
    let mut walk = JsonWalk { offset: 0, facts, tables: 0, size: 0, source: SelectorReach::Lines };
    walk.table("", "record", true, &each);
}

/// A record of a table.
struct TableRow<'a> {
    index: usize,
    key: Option<&'a str>,
    node: JsonNode<'a>,
    /// Byte offset of the text the node belongs to.
    place: usize,
}

/// Calls a function with every record of a table, in order.
type EachRow<'a> = dyn Fn(&mut dyn FnMut(TableRow)) + 'a;

struct JsonWalk<'f> {
    offset: usize,
    facts: &'f mut DigestFacts,
    tables: usize,
    size: usize,
    source: SelectorReach,
}

/// What selectors of the source can reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SelectorReach {
    Json,
    Lines,
    /// What stands inside one of these lines: the line.
    Line(usize),
    /// A value inside other text: nothing.
    Part,
}

/// The nearest object around a value that has scalars of its own: they say whose value it is.
#[derive(Default)]
struct Surrounding<'a> {
    path: &'a str,
    scalars: Vec<(Option<JsonNode<'a>>, JsonNode<'a>)>,
}

impl JsonWalk<'_> {
    /// Walks a value; `inherited` is the level of the key it stands under.
    fn visit(&mut self, node: JsonNode<'_>, path: &str, inherited: Level, around: &Surrounding<'_>) {
        if is_table(node) {
            let unit = if node.kind() == JsonKind::Object { "entry" } else { "item" };
            let each = |take: &mut dyn FnMut(TableRow)| {
                for (index, (key, value)) in node.entries().enumerate() {
                    take(TableRow { index, key: key.map(inner), node: value, place: 0 });
                }
            };
            self.table(path, unit, node.raw().len() * 4 > self.size, &each);
            return;
        }
        let worst = self.scalars(node, path, inherited);
        if worst == Level::Error {
            for (key, value) in &around.scalars {
                self.facts.add(Rank::Cause, self.place(*value), around.path, &quoted(*key, *value));
            }
        }
        if node.kind() == JsonKind::Array && node.entries().all(|(_, value)| !value.is_container()) {
            return;
        }
        let scalars = node.entries().filter(|(_, value)| is_leaf(*value)).take(MAX_CONTEXT).collect();
        let own = Surrounding { path, scalars };
        let around = if own.scalars.is_empty() { around } else { &own };
        for (index, (key, value)) in node.entries().enumerate() {
            if !is_leaf(value) {
                let below = key.map_or_else(|| format!("{path}[{index}]"), |key| path_of(path, inner(key)));
                let level = key.map_or(inherited, |key| LevelMatch::of(inner(key)).level.max(inherited));
                let level = if level < Level::Warning { Level::None } else { level };
                if below.len() > MAX_PATH {
                    let below = prefix(&below, MAX_PATH);
                    self.reaching(SelectorReach::Part, |walk| walk.visit(value, below, level, around));
                } else {
                    self.visit(value, &below, level, around);
                }
            }
        }
    }

    /// Walks with other selectors.
    fn reaching(&mut self, source: SelectorReach, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.source, source);
        walk(self);
        self.source = outer;
    }

    fn look_at(&mut self, label: &str, path: &str, index: usize) {
        let row = |index: usize| json!({ "type": "rows", "start": index, "end": index + 1 });
        let selector = match self.source {
            SelectorReach::Json if !path.is_empty() => json!({ "type": "json_path", "path": path }),
            SelectorReach::Lines => row(index),
            SelectorReach::Line(line) => row(line),
            SelectorReach::Json | SelectorReach::Part => return,
        };
        self.facts.look_at(label, selector);
    }

    fn place(&self, node: JsonNode) -> usize {
        self.offset + node.start()
    }

    /// Names candidates of the scalars of a value and returns the greatest level among them.
    fn scalars(&mut self, node: JsonNode, path: &str, inherited: Level) -> Level {
        let scalars = || node.entries().filter(|(_, value)| is_leaf(*value));
        let level = |key: Option<JsonNode>, value: JsonNode| {
            let own = level_of(key.map_or("", inner), value.raw());
            if value.kind() == JsonKind::String { own.max(inherited) } else { own }
        };
        let worst = scalars().map(|(key, value)| level(key, value)).max().unwrap_or_default();
        let deep = path.matches(['.', '[']).count();
        // `total: {value: 8}`, `next: {token: "x"}`
        let of_totals = is_total(&path.rsplit('.').next().unwrap_or("").to_ascii_lowercase());
        for (key, value) in scalars().filter(|(_, value)| worst < Level::Error || !is_silent(*value)) {
            let name = key.map_or("", inner).to_ascii_lowercase();
            let level = level(key, value);
            let rank = match level {
                Level::Error => Rank::Error,
                Level::Warning => Rank::Warning,
                _ if (is_total(&name) || of_totals) && !is_silent(value) => Rank::Total,
                _ if worst >= Level::Error => Rank::Cause,
                _ if is_id(&name) && deep < 4 => Rank::Id,
                _ if path.is_empty() => Rank::Schema,
                _ => Rank::More,
            };
            self.facts.add(rank, self.place(value), path, &quoted(key, value));
            if level == Level::Error {
                self.look_at("the failing part", path, 0);
            }
        }
        worst
    }

    /// Names candidates of many like records.
    fn table(&mut self, path: &str, unit: &str, is_main: bool, each: &EachRow) {
        let mut columns = Columns::default();
        let (mut rows, mut names, mut name) = (0, Vec::<String>::new(), String::new());
        each(&mut |row| {
            rows += 1;
            columns.row();
            name.clear();
            flatten(row.node, &mut name, 0, &mut |name, _, value| {
                columns.add(name, cell(value));
                if row.index == 0 {
                    names.push(name.to_owned());
                }
            });
        });
        columns.finish();
        self.tables += 1;
        let place = usize::from(self.tables > 1);
        let number = count(rows, unit);
        let number = if unit == "entry" { number.replace("entrys", "entries") } else { number };
        self.facts.add(if is_main { Rank::Head } else { Rank::Schema }, place, path, &number);
        // The column that tells records apart stands for a record.
        let identity = names.iter().position(|name| columns.is_free(name)).unwrap_or(0);
        let names = names.join(", ");
        let label = if self.tables == 1 { "columns".to_owned() } else { format!("columns of {path}") };
        let rank = if is_main { Rank::Schema } else { Rank::More };
        self.facts.add(rank, place + 1, &label, &around_within(&names, 0, 160));
        let usual: Vec<String> = columns.usual().into_iter().map(str::to_owned).collect();
        let mut oddest = Oddest::new(MAX_ODD);
        each(&mut |row| {
            let (mut score, mut met) = (0_u32, 0);
            name.clear();
            flatten(row.node, &mut name, 0, &mut |name, _, value| {
                score += u32::from(columns.oddness(name, cell(value)));
                met += usize::from(usual.binary_search_by(|usual| usual.as_str().cmp(name)).is_ok());
            });
            oddest.add(score + 2 * u32::from(met < usual.len()), row.index);
        });
        let odd = oddest.finish();
        each(&mut |row| {
            let score = odd.iter().find(|(_, index)| *index == row.index).map_or(0, |(score, _)| *score);
            if score > 0 || (is_main && (row.index == 0 || row.index + 1 == rows)) {
                self.row(path, &row, score, (&columns, identity), rows);
            }
        });
    }

    fn row(&mut self, path: &str, row: &TableRow, score: u32, (columns, identity): (&Columns, usize), rows: usize) {
        let label = match row.key {
            Some(key) => path_of(path, key),
            None => format!("{path}[{}]", row.index),
        };
        // The path of the list is in the head; its last part is enough for the rows.
        let full = label;
        let label = full
            .rsplit_once('.')
            .filter(|(_, last)| !last.contains('"'))
            .map_or(full.as_str(), |(_, last)| last)
            .to_owned();
        let base = self.offset + row.place;
        let mut name = String::new();
        let (mut shown, mut at) = (0, 0);
        let identity = if row.index == 0 { 0 } else { identity };
        let mut taken: Vec<(Rank, usize, String)> = Vec::new();
        flatten(row.node, &mut name, 0, &mut |name, key, value| {
            if !is_leaf(value) {
                return;
            }
            let oddness = columns.oddness(name, cell(value));
            at += 1;
            if oddness == 0 && at <= identity {
                return;
            }
            let rank = match oddness {
                FAILED => Rank::Error,
                1.. => Rank::Odd,
                _ if shown == 0 && score >= u32::from(FAILED) => Rank::Error,
                _ if shown == 0 && score > 0 => Rank::Odd,
                _ if score > 0 && shown < 4 => Rank::More,
                _ if shown == 0 || (row.index == 0 && shown < 3) => Rank::Ends,
                _ => return,
            };
            shown += 1;
            let chars = if oddness > 0 { MEMBER_CHARS } else { 60 };
            taken.push((rank, base + value.start(), quoted_within(key, value, chars)));
        });
        for (rank, place, text) in taken {
            self.facts.add(rank, place, &label, &text);
        }
        if score >= u32::from(FAILED) {
            self.look_at("the failing record", &full, row.index);
        }
        // Lists inside a record that stands out, and inside the only few records, are read as well.
        if score > 0 {
            let lists = row.node.entries().enumerate().filter(|(_, (_, value))| {
                !is_leaf(*value) && value.kind() == JsonKind::Array && value.len() < rows.max(MIN_ROWS)
            });
            for (at, (key, list)) in lists.filter(|_| row.place == 0) {
                let key = key.map(inner);
                let path = key.map_or_else(|| format!("{full}[{at}]"), |key| path_of(&full, key));
                let level = key.map_or(Level::None, |key| LevelMatch::of(key).level);
                let reach = match self.source {
                    SelectorReach::Lines => SelectorReach::Line(row.index),
                    source => source,
                };
                self.reaching(reach, |walk| walk.visit(list, &path, level, &Surrounding::default()));
            }
        }
    }
}

//! Undoes `content::reshape`, as a reader of its description would write it.

use contextweaver_content::tree::JsonTree;

/// Decodes JSON with tables, or NDJSON, into JSON without white space.
pub fn json(text: &str) -> String {
    if let Some(table) = text.strip_prefix("ndjson") {
        let mut reader = Reader { text: table, at: 0 };
        let rows = reader.table().unwrap();
        assert_eq!(reader.at, table.len());
        return rows.into_iter().map(|row| row + "\n").collect();
    }
    let mut reader = Reader { text, at: 0 };
    let mut out = String::new();
    while reader.at < text.len() {
        reader.step(&mut out);
    }
    out
}

/// Decodes folded lines.
pub fn lines(text: &str) -> String {
    let unfold = |line: &str| -> String {
        let counted = line.strip_suffix(')').and_then(|line| line.rsplit_once(" (x"));
        match counted.and_then(|(line, count)| Some((line, count.parse::<usize>().ok()?))) {
            Some((line, count)) => vec![line; count].join("\n"),
            None => line.to_owned(),
        }
    };
    text.split('\n').map(unfold).collect::<Vec<_>>().join("\n")
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn step(&mut self, out: &mut String) {
        if self.rest().starts_with('"') {
            out.push_str(self.string());
        } else if self.rest().starts_with(['[', '{'])
            && let [open, close] = if self.rest().starts_with('[') { ["[", "]"] } else { ["{", "}"] }
            && let Some(rows) = self.table()
        {
            out.push_str(&[open, &rows.join(","), close].concat());
        } else {
            let ch = self.rest().chars().next().unwrap();
            out.push(ch);
            self.at += ch.len_utf8();
        }
    }

    fn string(&mut self) -> &'a str {
        let bytes = self.rest().as_bytes();
        let mut end = 1;
        while bytes[end] != b'"' {
            end += if bytes[end] == b'\\' { 2 } else { 1 };
        }
        let found = &self.rest()[..=end];
        self.at += end + 1;
        found
    }

    /// Reads a table, if there is one: its rows, those of a map with their keys.
    fn table(&mut self) -> Option<Vec<String>> {
        let is_map = self.rest().starts_with('{');
        let (open, close) = if is_map { ('{', "}{key:") } else { ('[', "]{") };
        let (count, _) = self.rest().strip_prefix(open)?.split_once(close)?;
        let rows: usize =
            if count.bytes().all(|byte| byte.is_ascii_digit()) { count.parse().ok()? } else { return None };
        self.at += 1 + count.len() + close.len();
        let mut columns = Vec::new();
        while !self.rest().starts_with('}') {
            self.skip(',');
            let mut path = vec![self.name(&['.', ',', '}'])];
            while self.skip('.') {
                path.push(self.name(&['.', ',', '}']));
            }
            columns.push(path);
        }
        self.at += 1;
        let row = |reader: &mut Self| {
            assert!(reader.skip('\n'));
            let key = if is_map { reader.name(&[':']) } else { String::new() };
            let mut cells = Vec::new();
            for (at, path) in columns.iter().enumerate() {
                let before = if at > 0 { Some(',') } else { is_map.then_some(':') };
                assert!(before.is_none_or(|mark| reader.skip(mark)));
                cells.push((path.as_slice(), reader.cell(&[',', '\n'])));
            }
            if is_map { format!("{key}:{}", object(&cells, 0)) } else { object(&cells, 0) }
        };
        let rows = (0..rows).map(|_| row(self)).collect();
        assert!(self.skip('\n'));
        Some(rows)
    }

    fn skip(&mut self, mark: char) -> bool {
        let is_there = self.rest().starts_with(mark);
        self.at += if is_there { mark.len_utf8() } else { 0 };
        is_there
    }

    /// Reads a key, which is a string whatever it looks like.
    fn name(&mut self, ends: &[char]) -> String {
        if self.rest().starts_with('"') {
            return self.string().to_owned();
        }
        let name = &self.rest()[..self.rest().find(ends).unwrap()];
        self.at += name.len();
        format!("\"{name}\"")
    }

    /// Reads one value, or nothing.
    fn cell(&mut self, ends: &[char]) -> String {
        let rest = self.rest();
        if rest.starts_with('"') {
            return self.string().to_owned();
        }
        if rest.starts_with(['[', '{']) {
            let mut out = String::new();
            let mut depth = 0;
            loop {
                match self.rest().as_bytes()[0] {
                    b'"' => {
                        out.push_str(self.string());
                        continue;
                    }
                    b'[' | b'{' => depth += 1,
                    b']' | b'}' => depth -= 1,
                    _ => {}
                }
                let ch = self.rest().chars().next().unwrap();
                out.push(ch);
                self.at += ch.len_utf8();
                if depth == 0 {
                    return out;
                }
            }
        }
        let cell = &rest[..rest.find(ends).unwrap()];
        self.at += cell.len();
        if cell.is_empty() || JsonTree::parse(cell).is_some() { cell.to_owned() } else { format!("\"{cell}\"") }
    }
}

/// Puts an object together from its cells, whose columns are paths; those that begin with one key are one member.
fn object(cells: &[(&[String], String)], depth: usize) -> String {
    let mut members = Vec::new();
    let mut rest = cells;
    while let Some((path, value)) = rest.first() {
        let same = rest.iter().take_while(|(other, _)| other[depth] == path[depth]).count();
        let (member, after) = rest.split_at(same);
        rest = after;
        if member.iter().all(|(_, value)| value.is_empty()) {
            continue;
        }
        let value = if path.len() > depth + 1 { object(member, depth + 1) } else { value.clone() };
        members.push(format!("{}:{value}", path[depth]));
    }
    format!("{{{}}}", members.join(","))
}

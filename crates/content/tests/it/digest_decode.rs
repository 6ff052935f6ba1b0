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
        } else if let Some(rows) = self.table() {
            out.push_str(&["[", &rows.join(","), "]"].concat());
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

    fn table(&mut self) -> Option<Vec<String>> {
        let (count, _) = self.rest().strip_prefix('[')?.split_once("]{")?;
        let rows: usize =
            if count.bytes().all(|byte| byte.is_ascii_digit()) { count.parse().ok()? } else { return None };
        self.at += count.len() + 3;
        let mut keys = Vec::new();
        while !self.rest().starts_with('}') {
            if self.rest().starts_with(',') {
                self.at += 1;
            }
            keys.push(self.cell(&[',', '}']));
        }
        self.at += 1;
        let row = |reader: &mut Self| {
            let mut members = Vec::new();
            for key in &keys {
                reader.at += 1;
                let value = reader.cell(&[',', '\n']);
                if !value.is_empty() {
                    members.push(format!("{key}:{value}"));
                }
            }
            format!("{{{}}}", members.join(","))
        };
        let rows = (0..rows).map(|_| row(self)).collect();
        assert!(self.rest().starts_with('\n'));
        self.at += 1;
        Some(rows)
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

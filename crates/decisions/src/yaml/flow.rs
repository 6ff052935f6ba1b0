//! Collections in brackets.

use serde_json::{Map, Value};

use super::scalar;
use contextweaver_base::limits;

/// Returns the bytes of a collection up to its closing bracket, if it is there.
pub(super) fn end(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = 0;
    let mut before = '[';
    while let Some(ch) = text[at..].chars().next() {
        let opens = matches!(before, '[' | '{' | ',' | ':' | '\n');
        match ch {
            '"' | '\'' if opens => {
                at += scalar::quoted_end(&text[at..], ch)?;
                before = ch;
                continue;
            }
            '#' if text[..at].ends_with([' ', '\t', '\n']) => {
                at += text[at..].find('\n')?;
                continue;
            }
            '[' | '{' => depth += 1,
            ']' | '}' => depth -= 1,
            _ => {}
        }
        at += ch.len_utf8();
        if depth == 0 {
            return Some(at);
        }
        if !matches!(ch, ' ' | '\t' | '\n') {
            before = ch;
        }
    }
    None
}

/// Reads a list in brackets or an object in braces.
pub(super) fn parse(text: &str) -> Result<Value, &'static str> {
    let mut reader = FlowReader::new(text);
    let value = reader.value()?;
    if reader.rest.is_empty() { Ok(value) } else { Err("brackets do not match") }
}

struct FlowReader<'a> {
    rest: &'a str,
    depth: usize,
    /// Bytes looked at, for tests of how the work grows.
    looked: usize,
}

impl<'a> FlowReader<'a> {
    fn new(text: &'a str) -> Self {
        Self { rest: text, depth: 0, looked: 0 }
    }

    fn skip(&mut self) {
        loop {
            let rest = self.rest.trim_start_matches([' ', '\t', '\n']);
            self.looked += self.rest.len() - rest.len() + 1;
            let is_comment = rest.starts_with('#') && rest.len() < self.rest.len();
            self.rest = rest;
            // Only what is left out is looked through, not the rest of the line.
            if !is_comment {
                return;
            }
            let end = rest.find('\n');
            self.looked += end.unwrap_or(rest.len());
            match end {
                Some(end) => self.rest = &rest[end..],
                None => return,
            }
        }
    }

    /// Takes a sign if it comes next.
    fn takes(&mut self, sign: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Result<Value, &'static str> {
        if self.takes('[') {
            return self.within(Self::list);
        }
        if self.takes('{') {
            return self.within(Self::map);
        }
        let (text, is_quoted) = self.scalar()?;
        Ok(if is_quoted { Value::String(text) } else { scalar::resolved(&text) })
    }

    fn within(&mut self, read: fn(&mut Self) -> Result<Value, &'static str>) -> Result<Value, &'static str> {
        self.depth += 1;
        if self.depth > limits::MAX_DEPTH {
            return Err("the text nests too deep");
        }
        let value = read(self);
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Result<Value, &'static str> {
        let mut list = Vec::new();
        while !self.takes(']') {
            list.push(self.value()?);
            if !self.takes(',') {
                return if self.takes(']') { Ok(Value::Array(list)) } else { Err("expected , or ]") };
            }
        }
        Ok(Value::Array(list))
    }

    fn map(&mut self) -> Result<Value, &'static str> {
        let mut map = Map::new();
        while !self.takes('}') {
            let (key, _) = self.scalar()?;
            let has_value = self.takes(':');
            self.skip();
            let is_empty = !has_value || self.rest.starts_with([',', '}']);
            map.insert(key, if is_empty { Value::Null } else { self.value()? });
            if !self.takes(',') {
                return if self.takes('}') { Ok(Value::Object(map)) } else { Err("expected , or }") };
            }
        }
        Ok(Value::Object(map))
    }

    /// Reads a scalar; tells whether it is in quotes.
    fn scalar(&mut self) -> Result<(String, bool), &'static str> {
        self.skip();
        if let Some(quote @ ('"' | '\'')) = self.rest.chars().next() {
            let end = scalar::quoted_end(self.rest, quote).ok_or("a quote is not closed")?;
            self.looked += end;
            let text = scalar::quoted_text(&self.rest[..end])?;
            self.rest = &self.rest[end..];
            return Ok((text, true));
        }
        if self.rest.starts_with(['&', '*', '!', '@', '`', '%']) {
            return Err(super::UNSUPPORTED);
        }
        let text: &'a str = self.rest;
        let stops = |(at, ch): &(usize, char)| match ch {
            ',' | '[' | ']' | '{' | '}' => true,
            ':' => text[at + 1..].chars().next().is_none_or(|next| " \t\n,]}[{".contains(next)),
            '#' => text[..*at].ends_with([' ', '\n']),
            _ => false,
        };
        let end = text.char_indices().find(stops).map_or(text.len(), |(at, _)| at);
        self.looked += end;
        self.rest = &text[end..];
        let mut lines = text[..end].split('\n').map(|line| line.trim_matches([' ', '\t']));
        let mut plain = lines.next().unwrap_or_default().to_owned();
        let mut breaks = 0;
        for line in lines {
            if line.is_empty() {
                breaks += 1;
            } else {
                scalar::fold(&mut plain, breaks);
                plain.push_str(line);
                breaks = 0;
            }
        }
        if plain.is_empty() { Err("a value is missing") } else { Ok((plain, false)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(text: &str) -> usize {
        let mut reader = FlowReader::new(text);
        assert!(reader.value().is_ok() && reader.rest.is_empty());
        reader.looked
    }

    /// The rest of the line was looked through for every element.
    #[test]
    fn long_collections_take_linear_time() {
        let list = |element: &str, count: usize| format!("[{}]", vec![element; count].join(","));
        for element in ["1", "'a'", " #\n 1", "[1, 2]", "{ a: 1 }", "a b"] {
            let (less, more) = (looked(&list(element, 1000)), looked(&list(element, 2000)));
            assert!(more <= 2 * less && more <= 8 * list(element, 2000).len(), "{element:?}: {less} {more}");
        }
        let map =
            |count: usize| format!("{{{}}}", (0..count).map(|n| format!("k{n:05}: 1")).collect::<Vec<_>>().join(","));
        assert!(looked(&map(2000)) <= 2 * looked(&map(1000)));
    }
}

//! Reading YAML as people write rules and as contextweaver 0.18 writes its files: block and flow collections, every
//! kind of scalar, comments. One document; no anchors, tags or directives.

mod flow;
mod scalar;

use serde_json::{Map, Value};

use contextweaver_base::limits;
use contextweaver_base::{Error, ErrorCode, Result};

/// Reads a text. The error names the line.
pub fn parse(text: &str) -> Result<Value> {
    if text.len() > limits::MAX_INPUT_BYTES {
        let message = format!("the text has {} bytes, the limit is {}", text.len(), limits::MAX_INPUT_BYTES);
        return Err(Error::new(ErrorCode::TooLarge, message));
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned()).collect();
    let mut reader = YamlReader { lines, at: 0, depth: 0 };
    reader.skip_marker("---")?;
    let value = match reader.peek()? {
        None => Value::Null,
        Some(_) => reader.block(0)?,
    };
    reader.skip_marker("...")?;
    reader.peek()?;
    if reader.at < reader.lines.len() { Err(reader.wrong("expected the end")) } else { Ok(value) }
}

/// Lines, and how far they are read. What is read of a line is taken out of it.
struct YamlReader {
    lines: Vec<String>,
    at: usize,
    depth: usize,
}

/// Returns the spaces a line begins with.
fn indent_of(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

/// Tells whether a line holds nothing but a comment.
fn is_comment(line: &str) -> bool {
    line.trim_start_matches([' ', '\t']).starts_with('#')
}

fn is_blank(line: &str) -> bool {
    line.trim_matches([' ', '\t']).is_empty()
}

/// Tells whether a document begins or ends with a line.
fn is_marker(line: &str) -> bool {
    matches!(line.trim_end(), "..." | "---")
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

impl YamlReader {
    fn wrong(&self, message: &str) -> Error {
        let line = (self.at + 1).min(self.lines.len());
        Error::new(ErrorCode::DecodeFailed, format!("line {line}: {message}")).detail("line", line)
    }

    fn skip_marker(&mut self, marker: &str) -> Result<()> {
        self.peek()?;
        let Some(line) = self.lines.get(self.at) else { return Ok(()) };
        if line.trim_end() == marker {
            self.at += 1;
        } else if marker == "---" && line.starts_with("--- ") {
            self.blank_out(0, marker.len());
        }
        Ok(())
    }

    /// Goes on to the next line that says something; returns its indentation.
    fn peek(&mut self) -> Result<Option<usize>> {
        while self.lines.get(self.at).is_some_and(|line| is_blank(line) || is_comment(line)) {
            self.at += 1;
        }
        let Some(line) = self.lines.get(self.at).filter(|line| !is_marker(line)) else { return Ok(None) };
        let indent = indent_of(line);
        if line[indent..].starts_with('\t') {
            return Err(self.wrong("a tab is no indentation"));
        }
        Ok(Some(indent))
    }

    /// Returns what is left of the line.
    fn rest(&self) -> &str {
        self.lines.get(self.at).map_or("", |line| &line[indent_of(line)..])
    }

    /// Reads what stands at an indentation of at least `least`.
    fn block(&mut self, least: usize) -> Result<Value> {
        let indent = match self.peek()? {
            Some(indent) if indent >= least => indent,
            _ => return Ok(Value::Null),
        };
        if self.depth >= limits::MAX_DEPTH {
            let message = format!("the text nests deeper than {} levels", limits::MAX_DEPTH);
            return Err(Error::new(ErrorCode::TooDeep, message));
        }
        if self.rest() == "?" || self.rest().starts_with("? ") {
            return Err(self.wrong(UNSUPPORTED));
        }
        self.depth += 1;
        let value = if is_item(self.rest()) {
            self.sequence(indent)
        } else if self.key()?.is_some() {
            self.mapping(indent)
        } else {
            self.value(indent, least)
        };
        self.depth -= 1;
        value
    }

    fn sequence(&mut self, indent: usize) -> Result<Value> {
        let mut list = Vec::new();
        while self.peek()? == Some(indent) && is_item(self.rest()) {
            self.blank_out(indent, 1);
            // What is left of the line stands where it stands, deeper than the hyphen.
            list.push(self.block(indent + 1)?);
        }
        self.check_dedent(indent)?;
        Ok(Value::Array(list))
    }

    fn mapping(&mut self, indent: usize) -> Result<Value> {
        let mut map = Map::new();
        while self.peek()? == Some(indent) && !is_item(self.rest()) {
            let Some((key, bytes)) = self.key()? else { return Err(self.wrong("expected a key and a colon")) };
            self.blank_out(indent, bytes);
            let value = if is_blank(&self.lines[self.at]) || is_comment(&self.lines[self.at]) {
                self.at += 1;
                let is_list = self.peek()? == Some(indent) && is_item(self.rest());
                if is_list { self.block(indent)? } else { self.block(indent + 1)? }
            } else {
                let start = indent_of(&self.lines[self.at]);
                self.value(start, indent + 1)?
            };
            map.insert(key, value);
        }
        self.check_dedent(indent)?;
        Ok(Value::Object(map))
    }

    fn check_dedent(&mut self, indent: usize) -> Result<()> {
        match self.peek()? {
            Some(next) if next > indent => Err(self.wrong("the indentation does not fit")),
            _ => Ok(()),
        }
    }

    /// Takes bytes out of the line, after its indentation; spaces stand in for them.
    fn blank_out(&mut self, indent: usize, bytes: usize) {
        if let Some(line) = self.lines.get_mut(self.at) {
            line.replace_range(indent..indent + bytes, &" ".repeat(bytes));
        }
    }

    /// Returns the key the line begins with, and its bytes with the colon.
    fn key(&self) -> Result<Option<(String, usize)>> {
        let text = self.rest();
        if let Some(quote @ ('"' | '\'')) = text.chars().next() {
            let Some(end) = scalar::quoted_end(text, quote) else { return Ok(None) };
            let after = &text[end..];
            let colon = after.trim_start_matches(' ');
            if colon != ":" && !colon.starts_with(": ") {
                return Ok(None);
            }
            let key = scalar::quoted_text(&text[..end]).map_err(|message| self.wrong(message))?;
            return Ok(Some((key, text.len() - colon.len() + 1)));
        }
        if text.starts_with(['[', '{', '|', '>']) {
            return Ok(None);
        }
        let plain = scalar::without_comment(text);
        let end = plain.find(": ").or_else(|| plain.ends_with(':').then(|| plain.len() - 1));
        match end {
            None => Ok(None),
            Some(0) => Err(self.wrong("a key is missing")),
            Some(_) if text.starts_with(['&', '*', '!', '?', '@', '`', '%']) => Err(self.wrong(UNSUPPORTED)),
            Some(end) => Ok(Some((text[..end].trim_end().to_owned(), end + 1))),
        }
    }

    /// Reads a scalar or a flow collection that begins on this line and goes on in lines indented by `least`.
    fn value(&mut self, start: usize, least: usize) -> Result<Value> {
        let first = self.lines[self.at][start..].chars().next().unwrap_or_default();
        match first {
            '|' | '>' => self.block_scalar(start, least),
            '"' | '\'' => {
                let text = self.gather(start, least, &|text| scalar::quoted_end(text, first))?;
                scalar::quoted_text(&text).map(Value::String).map_err(|message| self.wrong(message))
            }
            '[' | '{' => {
                let text = self.gather(start, least, &flow::end)?;
                flow::parse(&text).map_err(|message| self.wrong(message))
            }
            '&' | '*' | '!' | '@' | '`' | '%' => Err(self.wrong(UNSUPPORTED)),
            _ => self.plain(start, least),
        }
    }

    /// Returns the text up to its end, which may be lines away; nothing but a comment may follow.
    fn gather(&mut self, start: usize, least: usize, end: &dyn Fn(&str) -> Option<usize>) -> Result<String> {
        let mut text = self.lines[self.at][start..].to_owned();
        let begun = self.at;
        // Lines are looked through in growing numbers, so that a long text is not looked through once for each of them.
        let mut wanted = 1;
        loop {
            if let Some(end) = end(&text) {
                let tail = text.split_off(end);
                // The end may be in an earlier line than the last one gathered.
                self.at = begun + text.matches('\n').count();
                let line = tail.split('\n').next().unwrap_or_default();
                if !(is_blank(line) || line.starts_with([' ', '\t']) && is_comment(line)) {
                    return Err(self.wrong("expected the end of the line"));
                }
                self.at += 1;
                return Ok(text);
            }
            let before = text.len();
            for line in self.lines.iter().skip(begun + 1 + text.matches('\n').count()).take(wanted) {
                if !is_blank(line) && indent_of(line) < least {
                    break;
                }
                text.push('\n');
                text.push_str(line);
            }
            if text.len() == before {
                return Err(self.wrong("a quote or a bracket is not closed"));
            }
            wanted *= 2;
        }
    }

    /// Reads a plain scalar; lines that are indented more go on with it.
    fn plain(&mut self, start: usize, least: usize) -> Result<Value> {
        let line = &self.lines[self.at][start..];
        let first = scalar::without_comment(line).trim_end();
        let has_comment = first.len() < line.trim_end().len();
        let mut text = first.to_owned();
        self.at += 1;
        let mut breaks = 0;
        while let Some(line) = self.lines.get(self.at).filter(|_| !has_comment) {
            if is_blank(line) {
                (breaks, self.at) = (breaks + 1, self.at + 1);
                continue;
            }
            let rest = line.trim_matches([' ', '\t']);
            if indent_of(line) < least || is_comment(line) || is_marker(line) {
                break;
            }
            if rest.ends_with(':') || rest.contains(": ") {
                return Err(self.wrong("a key is not expected here"));
            }
            scalar::fold(&mut text, breaks);
            text.push_str(scalar::without_comment(rest).trim_end());
            (breaks, self.at) = (0, self.at + 1);
        }
        Ok(scalar::resolved(&text))
    }

    /// Reads a literal or folded scalar.
    fn block_scalar(&mut self, start: usize, least: usize) -> Result<Value> {
        let header = scalar::without_comment(&self.lines[self.at][start..]).trim_end();
        let is_folded = header.starts_with('>');
        let least = least.max(1);
        let (mut chomp, mut indent) = (None, None);
        for sign in header.chars().skip(1) {
            match sign {
                '-' | '+' => chomp = Some(sign),
                '1'..='9' => indent = Some(least - 1 + sign as usize - '0' as usize),
                _ => return Err(self.wrong("expected nothing but - or + and a digit behind | or >")),
            }
        }
        self.at += 1;
        let from = self.at;
        let content = self.lines.iter().skip(from).find(|line| !is_blank(line));
        let indent = indent.unwrap_or_else(|| content.map_or(least, |line| indent_of(line)).max(least));
        let inside = |line: &&String| indent_of(line) >= indent || is_blank(line);
        let lines: Vec<&str> =
            self.lines.iter().skip(from).take_while(inside).map(|line| line.get(indent..).unwrap_or("")).collect();
        let text = scalar::block(&lines, is_folded, chomp);
        self.at = from + lines.len();
        Ok(Value::String(text))
    }
}

const UNSUPPORTED: &str = "anchors, tags, directives and keys behind a question mark are not supported";

#[cfg(test)]
mod tests;
